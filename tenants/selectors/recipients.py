"""The people a rule of recipients means now."""

from uuid import UUID

from django.db.models import Q, QuerySet

from tenants.models import Membership, Project, Team, User
from tenants.notify.recipients import Recipients


def people_meant(rule: Recipients) -> QuerySet[User]:
    """Active users, each once. A scope that is gone reaches nobody."""
    keys = [UUID(key) for key in rule.people]
    meant = Q(pk__in=keys)
    if rule.roles:
        held = Membership.objects.filter(_in_reach(rule), role__in=rule.roles)
        meant |= Q(pk__in=held.filter(user__isnull=False).values("user_id"))
        meant |= Q(groups__in=held.filter(group__isnull=False).values("group_id"))
    people = User.objects.filter(meant, is_active=True).distinct().order_by("pk")
    return people.exclude(pk=UUID(rule.but)) if rule.but else people


def _in_reach(rule: Recipients) -> Q:
    if rule.reach == "anywhere":
        return Q()
    if rule.pool:
        return Q(pool_key=rule.pool) | Q(team__parent__isnull=True, team__isnull=False)
    if rule.project:
        project = Project.objects.select_related("team").filter(pk=UUID(rule.project)).first()
        return Q(project=project) | _teams_above(project.team.path) if project else Q(pk__in=[])
    path = Team.objects.filter(pk=UUID(rule.team)).values_list("path", flat=True).first() if rule.team else None
    if path is None:
        return Q(pk__in=[])
    below = Q(team__path__startswith=path) | Q(project__team__path__startswith=path)
    return _teams_above(path) | below if rule.reach == "around" else _teams_above(path)


def _teams_above(path: str) -> Q:
    """The team of this path and every one above it; their keys stand in the path."""
    return Q(team__in=[UUID(key) for key in path.rstrip(".").split(".")])
