"""Who belongs where, and whom to ask."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from tenants import access
from tenants.access import Actor
from tenants.models import Membership, Project, Team


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
