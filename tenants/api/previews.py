"""Previews of changes of teams, projects, roles and accounts: the change's own route with /preview behind it."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from portal.lib.change_form import Effect
from tenants import effects
from tenants.api import bodies, members, scopes
from tenants.models import Membership, Project, Team, User
from tenants.rehearsal import preview_of
from tenants.roles import Role
from tenants.selectors.people import person_named


def _given_in(model: type[Team] | type[Project]) -> Any:
    def found(_actor: Any, given: dict[str, Any], key: UUID) -> Sequence[Effect]:
        return effects.of_given_role(person_named(given["username"]), Role(given["role"]), model.objects.get(pk=key))

    return found


def _changed_role(_actor: Any, given: dict[str, Any], key: UUID) -> Sequence[Effect]:
    return effects.of_changed_role(Role(given["role"]), _scope(_membership(key)))


def _taken_role(_actor: Any, _given: dict[str, Any], key: UUID) -> Sequence[Effect]:
    row = _membership(key)
    return effects.of_taken_role(row, _scope(row))


def _membership(key: UUID) -> Membership:
    return Membership.objects.select_related("user", "team", "project__team").get(pk=key)


def _scope(row: Membership) -> Team | Project:
    assert row.scope is not None  # the change itself was rehearsed on it
    return row.scope


def _new_project(_actor: Any, given: dict[str, Any]) -> Sequence[Effect]:
    return effects.of_new_project(Team.objects.get(pk=given["team"]))


def _active(_actor: Any, given: dict[str, Any], key: UUID) -> Sequence[Effect]:
    return effects.of_person_active(User.objects.get(pk=key), active=given["active"])


def _always(found: Any) -> Any:
    return lambda _actor, _given, **_path: found()


_BECAUSE = bodies.Because
NewTeam = preview_of(scopes.Teams.post, "preview_new_team", "What a new team would be", body=bodies.NewTeam)
TeamChange = preview_of(scopes.OneTeam.patch, "preview_team", "What would change of a team", body=bodies.TeamChange)
TeamDeleted = preview_of(
    scopes.TeamDeleted.post, "preview_team_deletion", "Whether a team can be deleted", body=_BECAUSE,
    refuses=(404, 409), effects=_always(effects.of_deleted_team),
)  # fmt: skip
NewProject = preview_of(
    scopes.Projects.post, "preview_new_project", "What a new project would be", body=bodies.NewProject,
    effects=_new_project,
)  # fmt: skip
ProjectChange = preview_of(
    scopes.OneProject.patch, "preview_project", "What would change of a project", body=bodies.ProjectChange
)
ProjectArchived = preview_of(
    scopes.ProjectArchived.post, "preview_project_archive", "What the archive would mean for a project", body=_BECAUSE,
    effects=_always(effects.of_archived_project),
)  # fmt: skip
ProjectRestored = preview_of(
    scopes.ProjectRestored.post, "preview_project_restore", "What a project's return would mean", body=_BECAUSE,
    effects=_always(effects.of_restored_project),
)  # fmt: skip
TeamMember = preview_of(
    members.TeamMembers.post, "preview_team_role", "How far a role would reach", body=bodies.NewMember,
    effects=_given_in(Team),
)  # fmt: skip
ProjectMember = preview_of(
    members.ProjectMembers.post, "preview_project_role", "How far a role would reach", body=bodies.NewMember,
    effects=_given_in(Project),
)  # fmt: skip
RoleChange = preview_of(
    members.OneMember.patch, "preview_role_change", "How far another role would reach", body=bodies.RoleChange,
    refuses=(404, 409), effects=_changed_role,
)  # fmt: skip
RoleTaken = preview_of(
    members.MemberRemoved.post, "preview_role_removal", "What a person would still hold", body=_BECAUSE,
    refuses=(404, 409), effects=_taken_role,
)  # fmt: skip
NewPerson = preview_of(
    members.People.post, "preview_new_person", "What a new account would be", body=bodies.NewPerson,
    effects=_always(effects.of_new_person),
)  # fmt: skip
PersonActive = preview_of(
    members.PersonActive.post, "preview_person_active", "What a block, or its end, would mean", body=bodies.PersonState,
    refuses=(404, 409), effects=_active,
)  # fmt: skip
PersonPassword = preview_of(
    members.PersonPassword.post, "preview_new_password", "What would end with a new password", body=_BECAUSE,
    effects=_always(effects.of_new_password),
)  # fmt: skip
