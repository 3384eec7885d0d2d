"""Which rate is in force when, and per how much."""

from datetime import datetime

from django.db.models import Q, QuerySet

from resources.models import RateVersion

UNIT_OF: dict[str, int] = {"device": 42_000, "cpu": 1_000, "memory": 1 << 30, "storage": 1 << 30}
"""Base units in the unit a rate is per: one device, one core, one GiB."""


def rates_in_force(now: datetime) -> QuerySet[RateVersion]:
    """Published versions valid at `now`; the database allows one per class and resource."""
    return RateVersion.objects.filter(Q(valid_to__isnull=True) | Q(valid_to__gt=now), valid_from__lte=now)


def rates_between(start: datetime, end: datetime) -> QuerySet[RateVersion]:
    """Versions valid at any moment of [start, end)."""
    return RateVersion.objects.filter(Q(valid_to__isnull=True) | Q(valid_to__gt=start), valid_from__lt=end)
