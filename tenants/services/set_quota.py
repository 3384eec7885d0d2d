"""Set one cell of the quota tree."""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from portal.lib.errors import FieldError, Invalid
from portal.lib.locks import hold_until_commit
from tenants import access
from tenants.models import Project, QuotaCell, Team, User
from tenants.naming import checked
from tenants.selectors.quotas import guarantees_with
from tenants.services.announce_quota import announce_quota
from tenants.services.record_audit import record_audit


@transaction.atomic
def set_quota(
    *,
    actor: User | None,
    tenant: Team | Project,
    pool_key: str,
    class_key: str,
    resource: str,
    guarantee: int | None,
    nominal: int | None,
    ceiling: int | None,
    now: datetime,
    capacity: int | None = None,
    overcommit: bool = False,
    note: str = "",
) -> QuotaCell:
    """The cell, made or changed. Raises Invalid when guarantee ≤ nominal ≤ ceiling does not hold.

    With the pool's `capacity` (base units) guarantees may not sum up to more, unless `overcommit` says that this
    is meant (R-27).
    """
    if actor is not None:
        access.require(actor, "quota.change", tenant)
    said = checked(note=note)
    hold_until_commit(f"tenants.quota:{pool_key}:{class_key}:{resource}")  # the sum is of many rows
    values = {"guarantee": guarantee, "nominal": nominal, "ceiling": ceiling}
    _refuse_disorder(values)
    if capacity is not None and guarantee and not overcommit:
        _refuse_overcommit(guarantees_with(tenant, pool_key, class_key, resource, guarantee), capacity)
    columns = {
        "team": tenant if isinstance(tenant, Team) else None,
        "project": tenant if isinstance(tenant, Project) else None,
    }
    cell = (
        QuotaCell.objects.select_for_update(of=("self",))
        .filter(**columns, pool_key=pool_key, class_key=class_key, resource=resource)
        .first()
    )
    before = {name: getattr(cell, name) for name in values} if cell else None
    if cell is None:
        cell = QuotaCell(**columns, pool_key=pool_key, class_key=class_key, resource=resource)
    for name, value in values.items():
        setattr(cell, name, value)
    cell.updated_at = now
    cell.save()
    if values != before:
        announce_quota(cell=cell, actor=actor, now=now)
    record_audit(
        actor=actor,
        verb="quota.set",
        target=tenant,
        before=before,
        after={"pool": pool_key, "class": class_key, "resource": resource, **values},
        note=said["note"],
        now=now,
    )
    return cell


def _refuse_overcommit(promised: int, capacity: int) -> None:
    if promised > capacity:
        message = _("Guarantees would sum up to more than the pool has. Say that this is meant, or guarantee less.")
        facts = {"promised": promised, "capacity": capacity}
        raise Invalid.of(FieldError("overcommit", "OverCommitted", message, facts))


def _refuse_disorder(values: dict[str, int | None]) -> None:
    known = [value for value in values.values() if value is not None]
    if known != sorted(known) or any(value < 0 for value in known):
        message = _("Guarantee {guarantee}, nominal {nominal} and ceiling {ceiling} must rise in this order, from 0.")
        raise Invalid("QuotaOutOfOrder", message, facts=values)
