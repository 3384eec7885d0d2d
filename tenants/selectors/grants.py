"""Which pools a project may use now."""

from datetime import datetime

from django.db.models import Q, QuerySet

from tenants import access
from tenants.access import Actor
from tenants.models import Grant, Project, QuotaCell


def grants_for(project: Project, now: datetime) -> QuerySet[Grant]:
    """Grants valid now of the project itself or of a team above it, ordered by pool."""
    teams = [key for key in project.team.path.rstrip(".").split(".") if key]
    return Grant.objects.filter(
        Q(project=project) | Q(team__in=teams),
        Q(valid_to__isnull=True) | Q(valid_to__gt=now),
        valid_from__lte=now,
    ).order_by("pool_key")


def granted_pool_keys(project: Project, now: datetime) -> list[str]:
    """Keys of the pools the project may use now, each once."""
    return list(dict.fromkeys(grants_for(project, now).values_list("pool_key", flat=True)))


def grants_visible_to(user: Actor, now: datetime) -> QuerySet[Grant]:
    """Grants valid now of the projects the user sees, their own or of a team above them."""
    projects = access.visible_projects(user, "project.see")
    paths = projects.order_by().values_list("team__path", flat=True).distinct()
    teams = {key for path in paths for key in path.rstrip(".").split(".") if key}
    return Grant.objects.filter(
        Q(project__in=projects.order_by().values("pk")) | Q(team__in=teams),
        Q(valid_to__isnull=True) | Q(valid_to__gt=now),
        valid_from__lte=now,
    )


def grants_binding(user: Actor) -> QuerySet[Grant]:
    """Grants, past ones too, of the projects and teams whose rules the user sees, and of the teams above those."""
    return Grant.objects.filter(_binding(user))


def cells_binding(user: Actor) -> QuerySet[QuotaCell]:
    """Quota cells of the projects and teams whose rules the user sees, and of the teams above those."""
    return QuotaCell.objects.filter(_binding(user))


def _binding(user: Actor) -> Q:
    projects = access.visible_projects(user, "quota.see").order_by()
    teams = access.visible_teams(user, "quota.see").order_by()
    paths = {*projects.values_list("team__path", flat=True), *teams.values_list("path", flat=True)}
    above = {key for path in paths for key in path.rstrip(".").split(".") if key}
    return Q(project__in=projects.values("pk")) | Q(team__in=above)
