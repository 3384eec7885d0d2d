"""Delete a pool that nothing refers to any more."""

from collections.abc import Callable
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from portal.lib.errors import Conflict
from resources.inputs import checked
from resources.models import Pool
from resources.selectors.membership import uses_of
from tenants import access
from tenants.models import User
from tenants.services.record_audit import record_audit


@transaction.atomic
def delete_pool(*, actor: User | None, pool: Pool, now: datetime, note: str, jobs_in: Callable[[Pool], int]) -> None:
    """Raises Conflict (`PoolInUse`) with the numbers of what still refers to it.

    `jobs_in` counts the jobs that hold something there; the app that knows them is above this one.
    """
    if actor is not None:
        access.require_platform(actor, "pool.manage")
    said = checked(note=note)
    row = Pool.objects.select_for_update().get(pk=pool.pk)
    used = uses_of(row, jobs_in(row), now)
    if any(used.values()):
        raise Conflict(
            "PoolInUse",
            _(
                "{pool} is still in use: {nodes} nodes, {grants} grants, {cells} quota cells, {members} roles, "
                "{jobs} jobs. End or move them first."
            ),
            facts={"pool": row.key, **used},
        )
    before = {"key": row.key, "name": row.name, "selector": row.selector, "maintainer": row.maintainer}
    record_audit(actor=actor, verb="pool.deleted", target=row, before=before, note=said["note"], now=now)
    row.delete()
