"""Pools: the list and one pool. Those a pool is granted to see its amounts, not its nodes."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from django.db.models import Q
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from jobs.selectors.held import held_by_node
from jobs.selectors.startable import startable_by_pool, startable_in
from portal.lib.clock import utc_now
from portal.lib.csv_file import csv_response
from portal.lib.errors import NotFound
from portal.lib.localised import localised
from portal.lib.pages import page_of
from portal.lib.signin import signed_in
from portal.lib.sorting import Sorting
from resources.declared_inputs import write_tolerations
from resources.drift import drift_of
from resources.models import Node, Pool, Runtime
from resources.observed import DRIFT_WORDS
from resources.profile import profile_of
from resources.selectors.capacity import Held
from resources.selectors.catalogue import ClassLooks, class_looks
from resources.selectors.fleet import grants_of_pool, nodes_of_pools, nodes_visible_to, pools_visible_to
from resources.selectors.history import history_of
from resources.shapes import clusters_of, node_row, pool_rows, stages_of
from resources.task_types import TASK_WORDS
from resources.web.parts import Asked, FacetForm, csv_url, simulated_names, wants_csv
from tenants import access

SORTS = {"key": ("key",), "maintainer": ("maintainer", "key"), "age": ("created_at",)}
CSV_HEAD = (
    "pool", "name", "maintainer", "borrowing", "nodes", "stale_nodes", "class", "resource", "installed_base_units",
    "usable_base_units", "held_base_units", "free_base_units", "out_base_units", "no_data_base_units",
)  # fmt: skip


@require_GET
@signed_in
def pool_list(request: HttpRequest) -> HttpResponseBase:
    """Pools the reader looks after or may use, with capacity and free amounts by class."""
    now = utc_now()
    sorting = Sorting.of(request, SORTS, "key")
    asked = Asked.of(request, "q")
    found = pools_visible_to(request.user, now)
    pools = sorting.apply(
        found.filter(Q(key__icontains=asked["q"]) | Q(name__icontains=asked["q"])) if asked else found
    )
    if wants_csv(request):
        return csv_response("pools", CSV_HEAD, _csv_rows(list(pools), now))
    page = page_of(request, pools)
    nodes = list(nodes_of_pools(list(page)))
    able = startable_by_pool(list(page), nodes, now)
    looks = class_looks()
    context = {
        "page": page,
        "rows": [
            (row, [(looks[one.class_key], one) for one in able[row.pool.key]])
            for row in pool_rows(list(page), nodes, held_by_node(nodes), looks, now)
        ],
        "simulated": simulated_names(nodes),
        "links": asked.chosen("q"),
        "filtered": bool(asked),
        "form": FacetForm(asked, {"q": (_("Part of the name"), None)}),
        "heads": sorting.heads,
        "csv": csv_url(asked),
        "may_manage": access.at_platform(request.user, "pool.manage"),
        "now": now,
    }
    return render(request, "resources/pool_list.html", context)


@require_GET
@signed_in
def pool_detail(request: HttpRequest, key: str) -> HttpResponse:
    """Amounts by class, who may use it, its rules; its nodes for those who may see nodes."""
    now = utc_now()
    pool = pools_visible_to(request.user, now).filter(key=key).select_related("owner", "validation_project").first()
    if pool is None:
        raise NotFound(f"Pool {key}")
    nodes = list(nodes_of_pools([pool]))
    held, looks = held_by_node(nodes), class_looks()
    context = {
        "pool": pool,
        "row": pool_rows([pool], nodes, held, looks, now)[0],
        "seen": max((node.last_seen_at for node in nodes), default=None),
        "grants": page_of(request, grants_of_pool(pool, request.user, now), name="grants"),
        "selector": sorted(pool.selector.items()),
        **_about(pool, nodes, looks, now),
        "simulated": simulated_names(nodes),
        "stages": stages_of(nodes, now),
        "clusters": clusters_of(nodes),
        "may_change": access.can(request.user, "pool.change", pool),
        "may_manage": access.at_platform(request.user, "pool.manage"),
        "history": history_of(request.user, pool),
        "now": now,
    }
    return render(request, "resources/pool_detail.html", context | _nodes(request, pool, nodes, held, looks, now))


def _about(pool: Pool, nodes: Sequence[Node], looks: ClassLooks, now: datetime) -> dict[str, Any]:
    """What it can do, told by what is in it; what would start now; and which jobs it takes."""
    profile = profile_of(nodes)
    startable = {one.class_key: one for one in startable_in(pool, nodes, now)}
    named = Runtime.objects.filter(key__in=pool.runtimes).values_list("key", "name") if pool.runtimes else ()
    runtimes = dict(named)
    return {
        "profile": profile,
        "able": [(looks[one.key], one, startable.get(one.key)) for one in profile.classes],
        "labels": sorted(pool.labels.items()),
        "tasks": [TASK_WORDS.get(task, task) for task in pool.task_types],
        "takes_runtimes": [(key, localised(runtimes.get(key, {}), key)) for key in pool.runtimes],
        "tolerations": write_tolerations(pool.tolerations).splitlines(),
    }


def _nodes(
    request: HttpRequest, pool: Pool, nodes: Sequence[Node], held: Held, looks: ClassLooks, now: datetime
) -> dict[str, Any]:
    """The page of nodes, and what differs between all of them: both empty for those a pool is only granted to.

    Who sees one node of a pool sees all of it.
    """
    seen = nodes_visible_to(request.user).filter(pool=pool).exists()
    page = page_of(request, nodes if seen else [], name="nodes")
    return {
        "node_page": page,
        "node_rows": [node_row(n, held.get(n.pk, {}), looks, now) for n in page],
        "drift": [(DRIFT_WORDS[one.subject], one) for one in drift_of(nodes if page else [])],
    }


def _csv_rows(pools: list[Pool], now: datetime) -> Iterator[list[Any]]:
    nodes = list(nodes_of_pools(pools))
    for row in pool_rows(pools, nodes, held_by_node(nodes), class_looks(), now):
        front = [row.pool.key, row.name, row.pool.maintainer, row.pool.borrowing, row.nodes, row.stale]
        for item in row.classes:
            a = item.amounts
            sums = [a.installed, a.usable, a.held, a.free, a.out, a.no_data]
            yield [*front, a.class_key, a.resource, *sums]
        if not row.classes:
            yield [*front, *[None] * 8]
