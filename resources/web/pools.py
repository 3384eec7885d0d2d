"""Pools: the list and one pool. Those a pool is granted to see its amounts, not its nodes."""

from datetime import datetime

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from jobs.selectors.held import held_by_node
from portal.lib.clock import utc_now
from portal.lib.errors import NotFound
from portal.lib.localised import localised
from portal.lib.pages import page_of
from portal.lib.signin import signed_in
from resources.models import Node, Pool
from resources.selectors.capacity import capacity_of
from resources.selectors.catalogue import class_looks
from resources.selectors.fleet import grants_of_pool, nodes_of_pools, nodes_visible_to, pools_visible_to
from resources.services.record_capacity import STALE_AFTER, is_stale
from resources.web.shapes import ClassRow, class_rows, node_row


@require_GET
@signed_in
def pool_list(request: HttpRequest) -> HttpResponse:
    """Pools the reader looks after or may use, with capacity and free amounts by class."""
    now = utc_now()
    page = page_of(request, pools_visible_to(request.user, now))
    pools = Pool.objects.filter(pk__in=[pool.pk for pool in page])
    nodes = list(nodes_of_pools(pools))
    rows = _rows_by_pool(nodes, now)
    context = {
        "page": page,
        "rows": [(pool, localised(pool.name, pool.key), *_of(pool, nodes, rows, now)) for pool in page],
        "simulated": sorted({node.cluster.name for node in nodes if node.cluster.simulated}),
        "now": now,
    }
    return render(request, "resources/pool_list.html", context)


@require_GET
@signed_in
def pool_detail(request: HttpRequest, key: str) -> HttpResponse:
    """Amounts by class, who may use it, its rules; its nodes for those who may see nodes."""
    now = utc_now()
    pool = pools_visible_to(request.user, now).filter(key=key).first()
    if pool is None:
        raise NotFound(f"Pool {key}")
    nodes = list(nodes_of_pools(Pool.objects.filter(pk=pool.pk)))
    shown = _node_page(request, nodes_visible_to(request.user).filter(pool=pool), now)
    context = {
        "pool": pool,
        "name": localised(pool.name, pool.key),
        "nodes": len(nodes),
        "classes": _rows_by_pool(nodes, now).get(pool.pk, []),
        "seen": max((node.last_seen_at for node in nodes), default=None),
        "stale": sum(is_stale(node.last_seen_at, now) for node in nodes),
        "grants": page_of(request, grants_of_pool(pool, request.user, now), name="grants"),
        "selector": sorted(pool.selector.items()),
        "simulated": sorted({node.cluster.name for node in nodes if node.cluster.simulated}),
        "now": now,
    }
    return render(request, "resources/pool_detail.html", context | shown)


def _rows_by_pool(nodes: list[Node], now: datetime) -> dict[object, list[ClassRow]]:
    held, looks = held_by_node(nodes), class_looks()
    by_pool: dict[object, list[Node]] = {}
    for node in nodes:
        by_pool.setdefault(node.pool_id, []).append(node)
    return {
        pool: class_rows(capacity_of(members, held, now - STALE_AFTER), looks) for pool, members in by_pool.items()
    }


def _of(
    pool: Pool, nodes: list[Node], rows: dict[object, list[ClassRow]], now: datetime
) -> tuple[int, int, list[ClassRow]]:
    """How many nodes, how many of them stale, and the amounts by class."""
    members = [node for node in nodes if node.pool_id == pool.pk]
    return len(members), sum(is_stale(n.last_seen_at, now) for n in members), rows.get(pool.pk, [])


def _node_page(request: HttpRequest, visible: QuerySet[Node], now: datetime) -> dict[str, object]:
    page = page_of(request, visible.prefetch_related("groups__resource_class"), name="nodes")
    held, looks = held_by_node(page), class_looks()
    return {
        "node_page": page,
        "node_rows": [node_row(node, held.get(node.pk, {}), looks, now) for node in page],
    }
