"""Teams and projects the reader sees, and the token of a project's services."""

import uuid
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from portal.lib.clock import utc_now
from portal.lib.rest.paging import PageQuery
from portal.lib.rest.view import ApiView, answer, answer_page, endpoint
from tenants import access
from tenants.api.bodies import Because, NewProject, NewTeam, ProjectChange, TeamChange
from tenants.api.shapes import ProjectPage, ProjectRow, ServiceToken, TeamPage, TeamRow
from tenants.models import Project, Team
from tenants.services.archive_project import archive_project
from tenants.services.change_project import change_project
from tenants.services.change_team import change_team
from tenants.services.create_project import create_project
from tenants.services.create_team import create_team
from tenants.services.delete_team import delete_team
from tenants.services.renew_service_token import renew_service_token
from tenants.services.restore_project import restore_project


class Teams(ApiView):
    """Teams."""

    @endpoint("list_teams", "Teams you see", query=PageQuery, gives={200: TeamPage})
    def get(self, request: Request, given: dict[str, Any]) -> Response:
        """Oldest first."""
        return answer_page(TeamPage, access.visible_teams(self.actor), ("created_at", "id"), given)

    @endpoint("create_team", "Make a team", body=NewTeam, gives={201: TeamRow}, refuses=(404,))
    def post(self, request: Request, given: dict[str, Any]) -> Response:
        """Below another."""
        parent, note = access.fetch(self.actor, Team, given.pop("parent"), "team.change"), given.pop("reason")
        return answer(
            TeamRow, create_team(actor=self.actor, parent=parent, now=utc_now(), note=note, **given), status=201
        )


class OneTeam(ApiView):
    """One team."""

    @endpoint("read_team", "A team", gives={200: TeamRow}, refuses=(404,))
    def get(self, request: Request, given: dict[str, Any], key: uuid.UUID) -> Response:
        """What it is and where it belongs."""
        return answer(TeamRow, access.fetch(self.actor, Team, key, "team.see"))

    @endpoint("change_team", "Change a team", body=TeamChange, gives={200: TeamRow}, refuses=(404,))
    def patch(self, request: Request, given: dict[str, Any], key: uuid.UUID) -> Response:
        """Name, contact."""
        team, note = access.fetch(self.actor, Team, key, "team.change"), given.pop("reason")
        values = {"name": team.name, "contact": team.contact} | given
        return answer(TeamRow, change_team(actor=self.actor, team=team, now=utc_now(), note=note, **values))


class TeamDeleted(ApiView):
    """The end of a team."""

    @endpoint("delete_team", "Delete an empty team", body=Because, gives={204: ""}, refuses=(404, 409))
    def post(self, request: Request, given: dict[str, Any], key: uuid.UUID) -> Response:
        """Refused while it holds anything, with how many of what."""
        team = access.fetch(self.actor, Team, key, "team.see", related=("parent",))
        delete_team(actor=self.actor, team=team, now=utc_now(), note=given["reason"])
        return Response(status=204)


class Projects(ApiView):
    """Projects."""

    @endpoint("list_projects", "Projects you see", query=PageQuery, gives={200: ProjectPage})
    def get(self, request: Request, given: dict[str, Any]) -> Response:
        """Oldest first."""
        rows = access.visible_projects(self.actor).select_related("team")
        return answer_page(ProjectPage, rows, ("created_at", "id"), given)

    @endpoint("create_project", "Make a project", body=NewProject, gives={201: ProjectRow}, refuses=(404,))
    def post(self, request: Request, given: dict[str, Any]) -> Response:
        """Of a team."""
        team, note = access.fetch(self.actor, Team, given.pop("team"), "team.change"), given.pop("reason")
        project = create_project(actor=self.actor, team=team, now=utc_now(), note=note, **given)
        return answer(ProjectRow, project, status=201)


class OneProject(ApiView):
    """One project."""

    @endpoint("read_project", "A project", gives={200: ProjectRow}, refuses=(404,))
    def get(self, request: Request, given: dict[str, Any], key: uuid.UUID) -> Response:
        """What it is and where it belongs."""
        return answer(ProjectRow, access.fetch(self.actor, Project, key, "project.see", related=("team",)))

    @endpoint("change_project", "Change a project", body=ProjectChange, gives={200: ProjectRow}, refuses=(404,))
    def patch(self, request: Request, given: dict[str, Any], key: uuid.UUID) -> Response:
        """Name, environment, contact."""
        project = access.fetch(self.actor, Project, key, "project.change", related=("team",))
        note = given.pop("reason")
        values = {name: getattr(project, name) for name in ("name", "environment", "contact")} | given
        return answer(ProjectRow, change_project(actor=self.actor, project=project, now=utc_now(), note=note, **values))


class ProjectArchived(ApiView):
    """A project's end."""

    @endpoint("archive_project", "Archive a project", body=Because, gives={200: ProjectRow}, refuses=(404,))
    def post(self, request: Request, given: dict[str, Any], key: uuid.UUID) -> Response:
        """It takes no new jobs; what runs goes on."""
        project = access.fetch(self.actor, Project, key, "team.change", related=("team",))
        found = archive_project(actor=self.actor, project=project, now=utc_now(), note=given["reason"])
        return answer(ProjectRow, found)


class ProjectRestored(ApiView):
    """A project's return."""

    @endpoint(
        "restore_project", "Take a project out of the archive", body=Because, gives={200: ProjectRow}, refuses=(404,)
    )
    def post(self, request: Request, given: dict[str, Any], key: uuid.UUID) -> Response:
        """It takes jobs again."""
        project = access.fetch(self.actor, Project, key, "team.change", related=("team",))
        found = restore_project(actor=self.actor, project=project, now=utc_now(), note=given["reason"])
        return answer(ProjectRow, found)


class ProjectServiceToken(ApiView):
    """The token callers of a project's services must send."""

    @endpoint("renew_service_token", "Make a new service token", gives={201: ServiceToken}, refuses=(404,))
    def post(self, request: Request, given: dict[str, Any], key: uuid.UUID) -> Response:
        """The old one ends with the services' next start. It is shown this once."""
        project = access.fetch(self.actor, Project, key, "project.see")
        token = renew_service_token(actor=self.actor, project=project, now=utc_now())
        return answer(ServiceToken, {"token": token}, status=201)
