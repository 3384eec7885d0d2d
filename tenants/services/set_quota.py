"""Set one cell of the quota tree."""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from portal.lib.errors import Invalid
from tenants import access
from tenants.models import Project, QuotaCell, Team, User
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
) -> QuotaCell:
    """The cell, made or changed. Raises Invalid when guarantee ≤ nominal ≤ ceiling does not hold."""
    if actor is not None:
        access.require(actor, "quota.change", tenant)
    known = [value for value in (guarantee, nominal, ceiling) if value is not None]
    if known != sorted(known) or any(value < 0 for value in known):
        raise Invalid(
            "QuotaOutOfOrder",
            _("Guarantee {guarantee}, nominal {nominal} and ceiling {ceiling} must rise in this order, from 0."),
            facts={"guarantee": guarantee, "nominal": nominal, "ceiling": ceiling},
        )
    values = {"guarantee": guarantee, "nominal": nominal, "ceiling": ceiling}
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
    record_audit(
        actor=actor,
        verb="quota.set",
        target=tenant,
        before=before,
        after={"pool": pool_key, "class": class_key, "resource": resource, **values},
        now=now,
    )
    return cell
