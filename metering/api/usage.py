"""Usage: the reader's own, and by project for those who may see it."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from django.utils import timezone
from rest_framework.request import Request
from rest_framework.response import Response

from metering.api.shapes import PeriodQuery, ProjectsQuery, ProjectUsagePage, Usage
from metering.selectors.open_use import OpenPiece, open_pieces, sum_of
from metering.selectors.usage import Scope, use_by_class, use_by_project
from metering.selectors.windows import Window, window_of
from portal.lib.clock import utc_now
from portal.lib.rest.paging import page
from portal.lib.rest.view import ApiView, answer, endpoint
from tenants import access


class MyUsage(ApiView):
    """What the reader's own jobs used."""

    @endpoint("read_my_usage", "What your jobs used", query=PeriodQuery, gives={200: Usage})
    def get(self, request: Request, given: dict[str, Any]) -> Response:
        """By class."""
        now = utc_now()
        window, scope = _window(given, now), Scope(user=self.actor.pk)
        shown = {
            "start": window.start,
            "end": window.end,
            "entered": use_by_class(scope, window),
            "open": sum_of(open_pieces(scope, window, now)),
        }
        return answer(Usage, shown)


class UsageByProject(ApiView):
    """What projects used whose usage the reader may see."""

    @endpoint("list_project_usage", "What projects used", query=ProjectsQuery, gives={200: ProjectUsagePage})
    def get(self, request: Request, given: dict[str, Any]) -> Response:
        """Oldest project first, each by class."""
        now = utc_now()
        window = _window(given, now)
        projects, following = page(access.visible_projects(self.actor, "usage.see"), ("created_at", "id"), given)
        scope = Scope(projects=[project.pk for project in projects])
        entered, pieces = use_by_project(scope, window), open_pieces(scope, window, now)
        rows = [
            {"id": p.pk, "slug": p.slug, "name": p.name, "entered": entered.get(p.pk, []), "open": _of(pieces, p.pk)}
            for p in projects
        ]
        return answer(ProjectUsagePage, {"results": rows, "next": following})


def _of(pieces: Sequence[OpenPiece], project: UUID) -> list[Any]:
    return list(sum_of(piece for piece in pieces if piece.project_id == project))


def _window(given: dict[str, Any], now: datetime) -> Window:
    return window_of(given.get("period", "month"), now, timezone.get_current_timezone())
