"""Which rate is in force when, and per how much."""

from datetime import datetime

from django.db.models import Q, QuerySet
from django.utils.translation import gettext_lazy as _

from portal.lib.errors import FieldError, Invalid
from resources.models import RateVersion, ResourceClass

UNIT_OF: dict[str, int] = {"device": 42_000, "cpu": 1_000, "memory": 1 << 30, "storage": 1 << 30}
"""Base units in the unit a rate is per: one device, one core, one GiB."""
IN_THE_PAST = _("A rate begins now or later. To correct the past, say that this is a correction, and why.")
OVERLAPS = _("A version of this class already begins on {from}. Choose a later moment.")


def rates_in_force(now: datetime) -> QuerySet[RateVersion]:
    """Published versions valid at `now`; the database allows one per class and resource."""
    return RateVersion.objects.filter(Q(valid_to__isnull=True) | Q(valid_to__gt=now), valid_from__lte=now)


def rates_between(start: datetime, end: datetime) -> QuerySet[RateVersion]:
    """Versions valid at any moment of [start, end)."""
    return RateVersion.objects.filter(Q(valid_to__isnull=True) | Q(valid_to__gt=start), valid_from__lt=end)


def rates_of(resource_class: ResourceClass) -> QuerySet[RateVersion]:
    """Every version of a class, the newest first."""
    rows = RateVersion.objects.filter(class_key=resource_class.key, resource=resource_class.resource)
    return rows.order_by("-valid_from")


def rate_of(resource_class: ResourceClass, moment: datetime) -> RateVersion | None:
    """The version in force at that moment; None is unrated."""
    lasting = Q(valid_to__isnull=True) | Q(valid_to__gt=moment)
    return rates_of(resource_class).filter(lasting, valid_from__lte=moment).first()


def require_start(resource_class: ResourceClass, valid_from: datetime, *, correction: bool, now: datetime) -> None:
    """Raise Invalid where a version without end cannot begin at that moment.

    The past is for corrections that say so; a version that begins then or later would overlap.
    """
    if valid_from < now and not correction:
        raise Invalid.of(FieldError("valid_from", "InThePast", IN_THE_PAST, {}))
    later = rates_of(resource_class).filter(valid_from__gte=valid_from).order_by("valid_from").first()
    if later is not None:
        facts = {"from": later.valid_from.isoformat(timespec="minutes")}
        raise Invalid.of(FieldError("valid_from", "RateOverlaps", OVERLAPS, facts))
