"""Make a pool of the nodes a selector picks."""

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction

from resources.inputs import checked, taken
from resources.models import Pool
from resources.pool_owner import team_of
from resources.services.assign_nodes import assign_nodes
from tenants import access
from tenants.models import User
from tenants.services.record_audit import record_audit


@transaction.atomic
def create_pool(
    *,
    actor: User | None,
    key: str,
    name: Mapping[str, str],
    selector: Mapping[str, str],
    now: datetime,
    maintainer: str = "",
    purpose: str = "",
    labels: Mapping[str, str] | None = None,
    owner: str = "",
    note: str = "",
) -> Pool:
    """The pool with the nodes its selector picks now; later ones join with the inventory.

    `owner` is the short name of a team. The installation itself (no actor) gets the pool that is there; a person is
    told that the key is taken.
    """
    if actor is not None:
        access.require_platform(actor, "pool.manage")
    said = checked(
        key=key, name=name, selector=selector, maintainer=maintainer, purpose=purpose, labels=labels or {}, note=note
    )
    because, team = said.pop("note"), team_of(owner)
    given = {**said, "owner": team, "created_at": now}
    pool, created = Pool.objects.get_or_create(key=given.pop("key"), defaults=given)
    if created:
        assign_nodes(pool=pool, now=now)
        after = {**said, **({"owner": owner} if team else {})}
        record_audit(actor=actor, verb="pool.created", target=pool, after=after, note=because, now=now)
    elif actor is not None:
        raise taken("key", key)
    return pool
