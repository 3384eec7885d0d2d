"""What belongs to one job: its events, logs and files."""

import uuid
from typing import Any

from django.http import FileResponse, HttpResponse, StreamingHttpResponse
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.api.shapes import ArtifactPage, EventPage, FileList, LogQuery
from jobs.downloads import download_of
from jobs.models import Job
from jobs.selectors.files import files_of
from jobs.selectors.jobs import artifacts_of, events_of, last_attempt
from jobs.selectors.logs import CHUNK, read_log
from portal.lib.clock import utc_now
from portal.lib.errors import NotFound, Unavailable
from portal.lib.rest.paging import PageQuery
from portal.lib.rest.view import ApiView, Bytes, answer, answer_page, endpoint
from resources.drivers.base import DriverUnavailable
from tenants import access


class JobEvents(ApiView):
    """What happened to a job."""

    @endpoint("list_job_events", "A job's history", query=PageQuery, gives={200: EventPage}, refuses=(404,))
    def get(self, request: Request, given: dict[str, Any], key: uuid.UUID) -> Response:
        """Oldest first."""
        job = access.fetch(self.actor, Job, key, "job.see")
        return answer_page(EventPage, events_of(job), ("at", "recorded_at", "id"), given, now=utc_now())


class JobArtifacts(ApiView):
    """What a job left."""

    @endpoint("list_job_artifacts", "A job's files", query=PageQuery, gives={200: ArtifactPage}, refuses=(404,))
    def get(self, request: Request, given: dict[str, Any], key: uuid.UUID) -> Response:
        """Oldest first, without those that are deleted."""
        job = access.fetch(self.actor, Job, key, "job.see")
        return answer_page(ArtifactPage, artifacts_of(job).select_related("attempt"), ("created_at", "id"), given)


class JobFiles(ApiView):
    """The single files of a job, those inside folders too."""

    @endpoint("list_job_files", "A job's single files", gives={200: FileList}, refuses=(404, 409))
    def get(self, request: Request, given: dict[str, Any], key: uuid.UUID) -> Response:
        """In the order of artifacts and paths. 409 for folders with more files than are listed at once."""
        job = access.fetch(self.actor, Job, key, "job.see")
        found = [
            {"artifact": artifact.pk, "name": artifact.name, "path": printable(entry.path), "bytes": entry.bytes}
            for artifact, entries in files_of(job)
            for entry in entries
        ]
        return answer(FileList, {"results": found})


class JobFile(ApiView):
    """The bytes of an artifact."""

    @endpoint(
        "download_job_file",
        "Download an artifact",
        gives={200: Bytes("The file byte for byte, or the folder as a tar file.")},
        refuses=(404, 409),
    )
    def get(
        self, request: Request, given: dict[str, Any], key: uuid.UUID, artifact: uuid.UUID
    ) -> FileResponse | StreamingHttpResponse:
        """404 for what is no longer kept, 409 for a folder that is too large to be sent as one."""
        return download_of(access.fetch(self.actor, Job, key, "job.see"), artifact)


class JobLog(ApiView):
    """What a member wrote."""

    @endpoint(
        "read_job_log",
        "A member's log",
        query=LogQuery,
        headers=[
            OpenApiParameter("X-Log-Offset", int, OpenApiParameter.HEADER, response=[200], description="Read on here."),
            OpenApiParameter(
                "X-Log-Ended", int, OpenApiParameter.HEADER, response=[200], description="1: all is read."
            ),
        ],
        gives={200: "Text from `offset` on, control characters shown as symbols."},
        refuses=(404, 503),
    )
    def get(self, request: Request, given: dict[str, Any], key: uuid.UUID) -> HttpResponse:
        """Of the newest attempt; kept after the job has left its cluster."""
        attempt = last_attempt(access.fetch(self.actor, Job, key, "job.see"))
        member = given.get("member", 0)
        if attempt is None or member >= len(attempt.placement):
            raise NotFound(f"no log of member {member}")
        try:
            part = read_log(attempt, member, given.get("offset", 0), given.get("limit", CHUNK))
        except DriverUnavailable as error:
            message = _("Cluster {cluster} does not answer; the log is not reachable now.")
            facts = {"cluster": attempt.cluster.name}
            raise Unavailable("ClusterUnavailable", message, facts=facts, detail=error.detail) from error
        headers = {"X-Log-Offset": str(part.offset)} | ({"X-Log-Ended": "1"} if part.ended else {})
        return HttpResponse(part.text, content_type="text/plain; charset=utf-8", headers=headers)


def printable(path: str) -> str:
    """A path as text: bytes of a name that are no UTF-8 are shown as escapes."""
    return path.encode("utf-8", "backslashreplace").decode("utf-8")
