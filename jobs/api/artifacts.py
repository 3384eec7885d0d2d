"""Artifacts over all projects, and the queue."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from jobs.api.shapes import ArtifactPage, ArtifactsQuery, QueuePage, QueueQuery
from jobs.selectors.artifacts import ArtifactFilter, artifacts_matching
from jobs.selectors.queue import QueueFilter, holders_of, waiting_jobs
from portal.lib.clock import utc_now
from portal.lib.rest.paging import page
from portal.lib.rest.view import ApiView, answer, answer_page, endpoint


class Artifacts(ApiView):
    """What jobs left."""

    @endpoint("list_artifacts", "Artifacts you see", query=ArtifactsQuery, gives={200: ArtifactPage})
    def get(self, request: Request, given: dict[str, Any]) -> Response:
        """Newest first, without those that are deleted."""
        rows = artifacts_matching(self.actor, ArtifactFilter(kind=given.get("kind", ""), text=given.get("q", "")))
        if "project" in given:
            rows = rows.filter(project=given["project"])
        return answer_page(ArtifactPage, rows.select_related("attempt"), ("-created_at", "-id"), given)


class Queue(ApiView):
    """Jobs that wait."""

    @endpoint("list_queue", "The queue as you see it", query=QueueQuery, gives={200: QueuePage})
    def get(self, request: Request, given: dict[str, Any]) -> Response:
        """Oldest first; `position` is the place the cycle gave. Jobs of others are counted, never named."""
        wanted = QueueFilter(given.get("pool", ""), given.get("project", ""), given.get("reason", ""))
        found, following = page(waiting_jobs(self.actor, wanted), ("submitted_at", "id"), given)
        holders = holders_of(self.actor, found)
        return answer(QueuePage, {"results": found, "next": following}, now=utc_now(), holders=holders)
