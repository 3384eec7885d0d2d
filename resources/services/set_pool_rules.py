"""Set who may use a pool by what they run, and how pods are written for it."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from portal.lib.errors import FieldError, Invalid
from resources.inputs import changed, checked
from resources.models import Pool, Runtime
from tenants import access
from tenants.models import User
from tenants.services.record_audit import record_audit

_FIELDS = (
    "task_types", "runtimes", "scheduler_name", "tolerations", "relaxation", "borrowing", "known_driver_only",
)  # fmt: skip
NO_RUNTIME = _("No such runtime in use: {names}.")


@transaction.atomic
def set_pool_rules(
    *,
    actor: User | None,
    pool: Pool,
    now: datetime,
    note: str,
    task_types: Sequence[str] | None = None,
    runtimes: Sequence[str] | None = None,
    scheduler_name: str | None = None,
    tolerations: Sequence[Mapping[str, str]] | None = None,
    relaxation: str | None = None,
    borrowing: bool | None = None,
    known_driver_only: bool | None = None,
) -> None:
    """None leaves a rule as it is; an empty list of task types or runtimes admits every one.

    Attempts that were admitted keep the rules they were admitted with; jobs that wait are judged by the new ones. To
    relax a control of the pods is for those who set policy of the whole organisation: Denied for others.

    With `borrowing` projects may hold here what others are entitled to and do not use, up to their ceilings.
    `known_driver_only` refuses nodes whose driver nobody knows to runtimes that state a range of it.
    """
    if actor is not None:
        access.require(actor, "pool.change", pool)
    said = checked(
        task_types=task_types, runtimes=runtimes, scheduler_name=scheduler_name, tolerations=tolerations,
        relaxation=relaxation, borrowing=borrowing, known_driver_only=known_driver_only, note=note,
    )  # fmt: skip
    because = said.pop("note")
    row = Pool.objects.select_for_update().get(pk=pool.pk)
    before, after = changed({field: getattr(row, field) for field in _FIELDS}, said)
    if not after:
        return
    if actor is not None and "relaxation" in after:
        access.require_platform(actor, "policy.manage")
    _require_runtimes(after.get("runtimes", []), row.runtimes)
    for field, value in after.items():
        setattr(row, field, value)
    row.save(update_fields=list(after))
    record_audit(actor=actor, verb="pool.rules_set", target=row, before=before, after=after, note=because, now=now)


def _require_runtimes(keys: Sequence[str], stored: Sequence[str]) -> None:
    """One that was admitted before it was retired may stay."""
    known = set(Runtime.objects.filter(key__in=keys, retired_at__isnull=True).values_list("key", flat=True))
    missing = sorted(set(keys) - known - set(stored))
    if missing:
        raise Invalid.of(FieldError("runtimes", "RuntimeNotFound", NO_RUNTIME, {"names": ", ".join(missing)}))
