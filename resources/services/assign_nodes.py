"""Give a pool the nodes its selector picks now."""

from collections import defaultdict
from datetime import datetime
from uuid import UUID

from django.db import transaction

from resources.models import Node, Pool
from resources.selectors.membership import NodeMoves, moves_of_selector
from resources.services.restage_nodes import restage_nodes


@transaction.atomic
def assign_nodes(*, pool: Pool, now: datetime) -> NodeMoves:
    """What moved. The inventory pass does the same, whatever changes later. Part of the services that change pools."""
    moves = moves_of_selector(pool.key, pool.selector)
    keys = dict(Pool.objects.values_list("key", "pk"))
    by_pool: dict[UUID | None, list[UUID]] = defaultdict(list)
    for move in (*moves.joins, *moves.leaves):
        by_pool[keys[move.to] if move.to else None].append(move.node.pk)
    for pool_id, nodes in by_pool.items():
        Node.objects.filter(pk__in=nodes).update(pool=pool_id)
    restage_nodes(nodes=[key for keys in by_pool.values() for key in keys], now=now)
    return moves
