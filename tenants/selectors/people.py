"""Who belongs where, and whom to ask."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext_lazy as _

from portal.lib.errors import FieldError, Invalid
from tenants import access
from tenants.access import Actor
from tenants.models import Membership, Project, Team, User


@dataclass(frozen=True, slots=True)
class WhomToAsk:
    """The organisation and the people in it who can give a role; "" where none is known."""

    organisation: str
    contact: str


def whom_to_ask() -> WhomToAsk:
    """For a person without any role."""
    root = Team.objects.filter(parent__isnull=True).first()
    return WhomToAsk(str(root), access.contact_for(root)) if root else WhomToAsk("", "")


def projects_led_by(user: Actor) -> QuerySet[Project]:
    """Projects below the teams the user leads, that are not archived."""
    rows = access.visible_projects(user, "team.change").filter(archived_at__isnull=True)
    return rows.select_related("team")


def member_counts(projects: Sequence[Project]) -> dict[UUID, int]:
    """How many people hold a role in each project itself."""
    rows = Membership.objects.filter(project__in=projects, user__isnull=False).order_by()
    return dict(rows.values_list("project_id").annotate(people=Count("user", distinct=True)))


def members_below(user: Actor) -> QuerySet[Membership]:
    """Roles held in the teams the user leads and in their projects."""
    teams = access.visible_teams(user, "team.change").order_by().values("pk")
    projects = access.visible_projects(user, "team.change").order_by().values("pk")
    rows = Membership.objects.filter(Q(team__in=teams) | Q(project__in=projects), user__isnull=False)
    return rows.select_related("user", "team", "project").order_by("user__username", "role")


def person_named(username: str) -> User:
    """Who signs in by exactly this name and is not blocked. Raises Invalid on the field `username`."""
    person = User.objects.filter(username=username, is_active=True).first()
    if person is None:
        message = _("Nobody who can sign in is called {username}. Write the user name exactly.")
        raise Invalid.of(FieldError("username", "UnknownUser", message, {"username": username}))
    return person


def people_matching(*, text: str = "", active: bool | None = None, without_role: bool = False) -> QuerySet[User]:
    """Everybody with an account, by part of their names; `active` None takes both."""
    rows = User.objects.order_by("username")
    if text:
        rows = rows.filter(Q(username__icontains=text) | Q(display_name__icontains=text))
    if active is not None:
        rows = rows.filter(is_active=active)
    if without_role:
        rows = rows.filter(memberships__isnull=True)
    return rows


def roles_of(people: Iterable[User]) -> dict[UUID, list[Membership]]:
    """The roles each of these people holds, the widest scope first. One query."""
    found: dict[UUID, list[Membership]] = {}
    rows = Membership.objects.filter(user__in=[person.pk for person in people]).select_related("team", "project")
    for row in rows.order_by("team__path", "project__slug", "pool_key", "role"):
        if row.user_id is not None:
            found.setdefault(row.user_id, []).append(row)
    return found
