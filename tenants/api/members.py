"""Roles held in teams and projects, accounts, and the permission table."""

import uuid
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from portal.lib.clock import utc_now
from portal.lib.errors import NotFound
from portal.lib.rest.paging import PageQuery
from portal.lib.rest.view import ApiView, answer, answer_page, endpoint
from tenants import access
from tenants.api.bodies import Because, NewMember, NewPerson, PeopleQuery, PersonState, RoleChange
from tenants.api.shapes import MemberPage, MemberShown, PasswordShown, PersonPage, PersonShown, RoleTable
from tenants.models import Membership, Project, Team, User
from tenants.roles import GRANTS, SCOPES, Role
from tenants.selectors.people import people_matching, person_named
from tenants.selectors.teams import Scope, members_on
from tenants.services.change_role import change_role
from tenants.services.create_user import create_user
from tenants.services.grant_role import grant_role
from tenants.services.renew_password import renew_password
from tenants.services.revoke_role import revoke_role
from tenants.services.set_user_active import set_user_active

_ORDER = ("created_at", "id")


class TeamMembers(ApiView):
    """Roles that count in a team."""

    @endpoint("list_team_members", "Roles in a team", query=PageQuery, gives={200: MemberPage}, refuses=(403, 404))
    def get(self, request: Request, given: dict[str, Any], key: uuid.UUID) -> Response:
        """Held in it or in a team above, oldest first."""
        team = access.fetch(self.actor, Team, key, "member.see")
        return answer_page(MemberPage, members_on(team), _ORDER, given)

    @endpoint("give_team_role", "Give a role", body=NewMember, gives={201: MemberShown}, refuses=(404,))
    def post(self, request: Request, given: dict[str, Any], key: uuid.UUID) -> Response:
        """In the team and all below it."""
        return _give(self.actor, access.fetch(self.actor, Team, key, "member.change"), given)


class ProjectMembers(ApiView):
    """Roles that count in a project."""

    @endpoint(
        "list_project_members", "Roles in a project", query=PageQuery, gives={200: MemberPage}, refuses=(403, 404)
    )
    def get(self, request: Request, given: dict[str, Any], key: uuid.UUID) -> Response:
        """Held in it or in a team above, oldest first."""
        project = access.fetch(self.actor, Project, key, "member.see", related=("team",))
        return answer_page(MemberPage, members_on(project), _ORDER, given)

    @endpoint("give_project_role", "Give a role", body=NewMember, gives={201: MemberShown}, refuses=(404,))
    def post(self, request: Request, given: dict[str, Any], key: uuid.UUID) -> Response:
        """In the project."""
        return _give(self.actor, access.fetch(self.actor, Project, key, "member.change", related=("team",)), given)


class OneMember(ApiView):
    """A role that somebody holds."""

    @endpoint("change_role", "Change a role", body=RoleChange, gives={200: MemberShown}, refuses=(404, 409))
    def patch(self, request: Request, given: dict[str, Any], key: uuid.UUID) -> Response:
        """In the same scope, in one step."""
        row = _membership(self.actor, key)
        found = change_role(
            actor=self.actor, membership=row, role=Role(given["role"]), now=utc_now(), note=given["reason"]
        )
        return answer(MemberShown, found)


class MemberRemoved(ApiView):
    """The end of a role."""

    @endpoint("take_role", "Take a role", body=Because, gives={204: ""}, refuses=(404, 409))
    def post(self, request: Request, given: dict[str, Any], key: uuid.UUID) -> Response:
        """It counts no more from the person's next request on."""
        row = _membership(self.actor, key)
        revoke_role(actor=self.actor, membership=row, now=utc_now(), note=given["reason"])
        return Response(status=204)


class People(ApiView):
    """Accounts."""

    @endpoint("list_people", "Accounts", query=PeopleQuery, gives={200: PersonPage}, refuses=(403, 404))
    def get(self, request: Request, given: dict[str, Any]) -> Response:
        """By user name."""
        access.require_platform(self.actor, "member.see")
        rows = people_matching(text=given.get("q", ""), active=given.get("active"))
        return answer_page(PersonPage, rows, ("username", "id"), given)

    @endpoint("create_person", "Make an account", body=NewPerson, gives={201: PasswordShown}, refuses=(404,))
    def post(self, request: Request, given: dict[str, Any]) -> Response:
        """Without any role; its password is shown this once."""
        note = given.pop("reason")
        person, password = create_user(actor=self.actor, now=utc_now(), note=note, **given)
        return answer(PasswordShown, {"id": person.pk, "username": person.username, "password": password}, status=201)


class PersonActive(ApiView):
    """Whether somebody may sign in."""

    @endpoint("set_person_active", "Block, or let in", body=PersonState, gives={200: PersonShown}, refuses=(404, 409))
    def post(self, request: Request, given: dict[str, Any], key: uuid.UUID) -> Response:
        """Roles and tokens stay, and count for nothing while it is off."""
        person = _person(self.actor, key)
        found = set_user_active(
            actor=self.actor, user=person, active=given["active"], now=utc_now(), note=given["reason"]
        )
        return answer(PersonShown, found)


class PersonPassword(ApiView):
    """A new password."""

    @endpoint("renew_password", "Make a new password", body=Because, gives={201: PasswordShown}, refuses=(404,))
    def post(self, request: Request, given: dict[str, Any], key: uuid.UUID) -> Response:
        """Shown this once; the one before ends."""
        person = _person(self.actor, key)
        password = renew_password(actor=self.actor, user=person, now=utc_now(), note=given["reason"])
        return answer(PasswordShown, {"id": person.pk, "username": person.username, "password": password}, status=201)


class Roles(ApiView):
    """The permission table."""

    @endpoint("list_roles", "Who may do what", gives={200: RoleTable})
    def get(self, request: Request, given: dict[str, Any]) -> Response:
        """Every role with where it may be held and all it permits there and below."""
        rows = [{"role": r.value, "held_in": list(SCOPES[r]), "permissions": sorted(GRANTS[r])} for r in Role]
        return answer(RoleTable, {"results": rows})


def _give(actor: Any, scope: Scope, given: dict[str, Any]) -> Response:
    person = person_named(given["username"])
    found = grant_role(
        actor=actor, user=person, role=Role(given["role"]), scope=scope, now=utc_now(), note=given["reason"]
    )
    return answer(MemberShown, found, status=201)


def _membership(actor: Any, key: uuid.UUID) -> Membership:
    row = Membership.objects.select_related("user", "team", "project__team").filter(pk=key).first()
    if row is None or row.scope is None or row.user is None:
        raise NotFound(f"membership {key}")
    access.fetch(actor, type(row.scope), row.scope.pk, "member.change")
    return row


def _person(actor: Any, key: uuid.UUID) -> User:
    access.require_platform(actor, "member.change")
    person = User.objects.filter(pk=key).first()
    if person is None:
        raise NotFound(f"user {key}")
    return person
