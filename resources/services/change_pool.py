"""Change what a pool is called and for, which nodes it takes, whose it is and who looks after it."""

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction

from resources.inputs import changed, checked
from resources.models import Pool
from resources.pool_owner import team_of
from resources.selectors.fleet import nodes_changeable_by
from resources.selectors.membership import NodeMoves
from resources.services.assign_nodes import assign_nodes
from tenants import access
from tenants.models import User
from tenants.services.record_audit import record_audit

_FIELDS = ("name", "selector", "maintainer", "purpose", "labels")


@transaction.atomic
def change_pool(
    *,
    actor: User | None,
    pool: Pool,
    now: datetime,
    note: str,
    name: Mapping[str, str] | None = None,
    selector: Mapping[str, str] | None = None,
    maintainer: str | None = None,
    purpose: str | None = None,
    labels: Mapping[str, str] | None = None,
    owner: str | None = None,
) -> NodeMoves:
    """Nodes that joined or left at once; jobs that run stay where they are. None leaves a field as it is; `owner` is
    the short name of a team, "" of none.

    Whose it is, a platform administrator says. Who looks after this pool only may not take nodes that belong to nobody
    or to others: Denied.
    """
    if actor is not None:
        access.require(actor, "pool.change", pool)
    said = checked(name=name, selector=selector, maintainer=maintainer, purpose=purpose, labels=labels, note=note)
    because = said.pop("note")
    row = Pool.objects.select_for_update().get(pk=pool.pk)
    team = None if owner is None else team_of(owner)
    if owner is not None:
        said["owner"] = owner
    stored = {field: getattr(row, field) for field in _FIELDS} | {"owner": row.owner.slug if row.owner else ""}
    before, after = changed(stored, said)
    if actor is not None and "owner" in after:
        access.require_platform(actor, "pool.manage")
    if not after:
        return NodeMoves()
    for field, value in after.items():
        setattr(row, field, team if field == "owner" else value)
    row.save(update_fields=list(after))
    moves = _move(actor, row, now) if "selector" in after else NodeMoves()
    record_audit(actor=actor, verb="pool.changed", target=row, before=before, after=after, note=because, now=now)
    return moves


def _move(actor: User | None, pool: Pool, now: datetime) -> NodeMoves:
    allowed = None if actor is None else set(nodes_changeable_by(actor).order_by().values_list("pk", flat=True))
    moves = assign_nodes(pool=pool, now=now)
    if actor is not None and allowed is not None and any(move.node.pk not in allowed for move in moves.joins):
        access.require_platform(actor, "pool.manage")
    return moves
