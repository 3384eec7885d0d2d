"""What holds for every grant, new or changed."""

from typing import Any, Final

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from portal.lib.errors import FieldError, Invalid
from tenants.models import Grant

BOUNDS: Final = ("valid_from", "valid_to", "class_ceiling", "largest_job_parts", "longest_limit_ms", "most_at_once")
_NOT_NEGATIVE: Final = ("largest_job_parts", "longest_limit_ms", "most_at_once")
BACKWARD = _("The end must come after the beginning.")
NEGATIVE = _("Leave it empty for no rule, or write 0 or more.")
OVERLAP = _("Another grant of pool {pool} holds for {tenant} in this period. Change or end that one.")


def bounds_of(grant: Grant) -> dict[str, Any]:
    """The period and bounds by name, as the audit keeps them."""
    return {name: getattr(grant, name) for name in BOUNDS}


def save_grant(grant: Grant) -> None:
    """Store it. Raises Invalid when its period or a bound breaks a rule, or another grant holds meanwhile."""
    errors = [FieldError(name, "Negative", NEGATIVE, {}) for name in _NOT_NEGATIVE if (getattr(grant, name) or 0) < 0]
    if grant.valid_to is not None and grant.valid_to <= grant.valid_from:
        errors.append(FieldError("valid_to", "PeriodBackward", BACKWARD, {}))
    elif _overlaps(grant):
        errors.append(_overlap(grant))
    if errors:
        raise Invalid.of(*errors)
    try:
        with transaction.atomic():
            grant.save()
    except IntegrityError as error:  # somebody else granted it in this moment
        raise Invalid.of(_overlap(grant)) from error


def _overlaps(grant: Grant) -> bool:
    rows = Grant.objects.filter(team=grant.team, project=grant.project, pool_key=grant.pool_key).exclude(pk=grant.pk)
    rows = rows.filter(Q(valid_to__isnull=True) | Q(valid_to__gt=grant.valid_from))
    return (rows if grant.valid_to is None else rows.filter(valid_from__lt=grant.valid_to)).exists()


def _overlap(grant: Grant) -> FieldError:
    facts = {"pool": grant.pool_key, "tenant": str(grant.tenant)}
    return FieldError("valid_from", "GrantOverlap", OVERLAP, facts)
