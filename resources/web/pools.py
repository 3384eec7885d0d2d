"""Pools: the list and one pool. Those a pool is granted to see its amounts, not its nodes."""

from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from jobs.selectors.held import held_by_node
from portal.lib.clock import utc_now
from portal.lib.errors import NotFound
from portal.lib.pages import page_of
from portal.lib.signin import signed_in
from resources.models import Pool
from resources.selectors.catalogue import class_looks
from resources.selectors.fleet import grants_of_pool, nodes_of_pools, nodes_visible_to, pools_visible_to
from resources.shapes import node_row, pool_rows


@require_GET
@signed_in
def pool_list(request: HttpRequest) -> HttpResponse:
    """Pools the reader looks after or may use, with capacity and free amounts by class."""
    now = utc_now()
    page = page_of(request, pools_visible_to(request.user, now))
    nodes = list(nodes_of_pools(list(page)))
    context = {
        "page": page,
        "rows": pool_rows(list(page), nodes, held_by_node(nodes), class_looks(), now),
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
    nodes = list(nodes_of_pools([pool]))
    context = {
        "pool": pool,
        "row": pool_rows([pool], nodes, held_by_node(nodes), class_looks(), now)[0],
        "seen": max((node.last_seen_at for node in nodes), default=None),
        "grants": page_of(request, grants_of_pool(pool, request.user, now), name="grants"),
        "selector": sorted(pool.selector.items()),
        "simulated": sorted({node.cluster.name for node in nodes if node.cluster.simulated}),
        "now": now,
    }
    return render(request, "resources/pool_detail.html", context | _nodes(request, pool, now))


def _nodes(request: HttpRequest, pool: Pool, now: datetime) -> dict[str, Any]:
    """The page of nodes the reader may see, empty for those a pool is only granted to."""
    rows = nodes_visible_to(request.user).filter(pool=pool).prefetch_related("groups__resource_class")
    page = page_of(request, rows, name="nodes")
    held, looks = held_by_node(page), class_looks()
    return {"node_page": page, "node_rows": [node_row(n, held.get(n.pk, {}), looks, now) for n in page]}
