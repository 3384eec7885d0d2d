"""The tree of teams with its projects, as its readers may see it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from uuid import UUID

from django.db.models import Count, Q, QuerySet

from portal.lib.errors import NotFound
from tenants import access
from tenants.access import Actor
from tenants.models import Grant, Membership, Project, QuotaCell, Team

Scope = Team | Project


@dataclass(frozen=True, slots=True)
class TeamRow:
    """A team in the tree: how deep it stands below the topmost team seen, its people and its projects."""

    team: Team
    depth: int
    members: int
    projects: list[Project] = field(default_factory=list)

    @property
    def steps(self) -> range:
        """One for each team above it, to draw."""
        return range(self.depth)


def team_by_slug(user: Actor, slug: str, permission: str = "team.see") -> Team:
    """The team if the user may do this with it. Raises NotFound or Denied, see `access.fetch`."""
    key = Team.objects.filter(slug=slug).values_list("pk", flat=True).first()
    if key is None:
        raise NotFound(f"team {slug}")
    return access.fetch(user, Team, key, permission, related=("parent",))


def project_by_slug(user: Actor, slug: str, permission: str = "project.see") -> Project:
    """The project if the user may do this with it. Raises NotFound or Denied, see `access.fetch`."""
    key = Project.objects.filter(slug=slug).values_list("pk", flat=True).first()
    if key is None:
        raise NotFound(f"project {slug}")
    return access.fetch(user, Project, key, permission, related=("team",))


def team_tree(user: Actor, teams: Sequence[Team]) -> list[TeamRow]:
    """These teams, parents before children, with how many people hold a role in each and the projects seen."""
    ordered = sorted(teams, key=lambda team: team.path)
    people = member_counts_of_teams(teams)
    projects: dict[UUID, list[Project]] = {}
    for project in access.visible_projects(user).filter(team__in=[team.pk for team in teams]).order_by("slug"):
        projects.setdefault(project.team_id, []).append(project)
    top = {team.path for team in ordered}
    return [
        TeamRow(team, _depth(team.path, top), people.get(team.pk, 0), projects.get(team.pk, [])) for team in ordered
    ]


def _depth(path: str, seen: set[str]) -> int:
    """How many of the seen teams stand above it."""
    keys = path.rstrip(".").split(".")
    return sum(".".join(keys[:length]) + "." in seen for length in range(1, len(keys)))


def member_counts_of_teams(teams: Sequence[Team]) -> dict[UUID, int]:
    """How many people hold a role in each team itself."""
    rows = Membership.objects.filter(team__in=[team.pk for team in teams], user__isnull=False).order_by()
    return dict(rows.values_list("team_id").annotate(people=Count("user", distinct=True)))


def projects_outside(user: Actor, teams: QuerySet[Team]) -> QuerySet[Project]:
    """Projects the user sees whose team is not among these."""
    return access.visible_projects(user).exclude(team__in=teams.order_by().values("pk")).select_related("team")


def teams_led_by(user: Actor) -> QuerySet[Team]:
    """Teams the user leads directly, the highest first."""
    led = Membership.objects.filter(user=user.pk, role="lead", team__isnull=False).values("team_id")
    return access.visible_teams(user).filter(pk__in=led).order_by("path")


def path_teams(scope: Scope) -> list[Team]:
    """The teams from the organisation down to the team itself, or to the project's."""
    team = scope if isinstance(scope, Team) else scope.team
    return list(Team.objects.filter(pk__in=_keys(team)).order_by("path"))


def _keys(team: Team) -> list[str]:
    return team.path.rstrip(".").split(".")


def on_path(scope: Scope) -> Q:
    """What belongs to the scope itself or to a team above it, for models with `team` and `project`."""
    if isinstance(scope, Project):
        return Q(project=scope) | Q(team__in=_keys(scope.team))
    return Q(team__in=_keys(scope))


def members_on(scope: Scope) -> QuerySet[Membership]:
    """Roles held here: in the scope itself, then inherited from the teams above it."""
    rows = Membership.objects.filter(on_path(scope), user__isnull=False).select_related("user", "team", "project")
    return rows.order_by("-project", "-team__path", "user__username", "role")


def grants_on(scope: Scope, now: datetime, *, ended: bool = False) -> QuerySet[Grant]:
    """Grants of the scope and of the teams above it that are or will be in force; `ended` adds the past ones."""
    rows = Grant.objects.filter(on_path(scope)).select_related("team", "project")
    if not ended:
        rows = rows.filter(Q(valid_to__isnull=True) | Q(valid_to__gt=now))
    return rows.order_by("pool_key", "-valid_from")


def cells_on(scope: Scope) -> QuerySet[QuotaCell]:
    """Quota cells that bind the scope: its own and those of the teams above it."""
    rows = QuotaCell.objects.filter(on_path(scope)).select_related("team", "project")
    return rows.order_by("pool_key", "class_key", "resource", "team__path")


def contents_of(team: Team) -> dict[str, int]:
    """What a team itself holds, by kind; all 0 when it may be deleted."""
    return {
        "teams": team.children.count(),
        "projects": team.projects.count(),
        "members": team.memberships.count(),
        "grants": team.grants.count(),
        "cells": team.quota_cells.count(),
    }


def projects_matching(user: Actor, *, text: str = "", archived: bool = False, led: bool = False) -> QuerySet[Project]:
    """Projects the user sees by part of their name or slug; archived ones alone, or none of them; `led`: only of
    teams the user leads."""
    rows = (
        access.visible_projects(user, "team.change" if led else "project.see")
        .filter(archived_at__isnull=not archived)
        .select_related("team")
    )
    if text:
        rows = rows.filter(Q(name__icontains=text) | Q(slug__icontains=text))
    return rows.order_by("slug")
