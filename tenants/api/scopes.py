"""Teams and projects the reader sees, and the token of a project's services."""

import uuid
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from portal.lib.clock import utc_now
from portal.lib.rest.paging import PageQuery
from portal.lib.rest.view import ApiView, answer, answer_page, endpoint
from tenants import access
from tenants.api.shapes import ProjectPage, ProjectRow, ServiceToken, TeamPage
from tenants.models import Project
from tenants.services.renew_service_token import renew_service_token


class Teams(ApiView):
    """Teams."""

    @endpoint("list_teams", "Teams you see", query=PageQuery, gives={200: TeamPage})
    def get(self, request: Request, given: dict[str, Any]) -> Response:
        """Oldest first."""
        return answer_page(TeamPage, access.visible_teams(self.actor), ("created_at", "id"), given)


class Projects(ApiView):
    """Projects."""

    @endpoint("list_projects", "Projects you see", query=PageQuery, gives={200: ProjectPage})
    def get(self, request: Request, given: dict[str, Any]) -> Response:
        """Oldest first."""
        rows = access.visible_projects(self.actor).select_related("team")
        return answer_page(ProjectPage, rows, ("created_at", "id"), given)


class OneProject(ApiView):
    """One project."""

    @endpoint("read_project", "A project", gives={200: ProjectRow}, refuses=(404,))
    def get(self, request: Request, given: dict[str, Any], key: uuid.UUID) -> Response:
        """What it is and where it belongs."""
        return answer(ProjectRow, access.fetch(self.actor, Project, key, "project.see", related=("team",)))


class ProjectServiceToken(ApiView):
    """The token callers of a project's services must send."""

    @endpoint("renew_service_token", "Make a new service token", gives={201: ServiceToken}, refuses=(404,))
    def post(self, request: Request, given: dict[str, Any], key: uuid.UUID) -> Response:
        """The old one ends with the services' next start. It is shown this once."""
        project = access.fetch(self.actor, Project, key, "project.see")
        token = renew_service_token(actor=self.actor, project=project, now=utc_now())
        return answer(ServiceToken, {"token": token}, status=201)
