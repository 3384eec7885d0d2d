"""Nodes: the list and one node."""

import uuid
from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import Any

from django.core.paginator import Page
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET

from jobs.selectors.held import held_by_node, holders_of, jobs_on, parts_by_device
from jobs.selectors.startable import startable_by_pool
from portal.lib.clock import utc_now
from portal.lib.csv_file import csv_response
from portal.lib.display import Link
from portal.lib.errors import NotFound
from portal.lib.pages import page_of
from portal.lib.signin import signed_in
from portal.lib.sorting import Sorting
from resources.cards import families
from resources.cordon_words import OFF_WORDS, cordon_shown
from resources.heat import racks_of
from resources.models import Node
from resources.observed import NETWORK_WORDS, causes, group_facts, software_of, whose
from resources.selectors.catalogue import ClassLooks, class_looks
from resources.selectors.cordons import cordon_off, open_cordon
from resources.selectors.devices import device_facets
from resources.selectors.drivers import KUBERNETES
from resources.selectors.fleet import (
    NodeFilter,
    clusters_of_nodes,
    devices_of,
    may_hold,
    nodes_matching,
    nodes_of_pools,
    nodes_visible_to,
    pools_looked_after,
    require_nodes,
    stage_counts,
)
from resources.selectors.freshness import STALE_AFTER, is_stale
from resources.shapes import NodeRow, device_row, node_row
from resources.web.node_admission import admission_facts
from resources.web.parts import Asked, FacetForm, csv_url, wants_csv

JOBS_SHOWN = 50
MOST_TILES = 1_000
SERVICE_WORDS = {
    "in": gettext_lazy("In service"),
    "out": gettext_lazy("Out of service"),
    "silent": gettext_lazy("Without fresh data"),
}
SORTS = {
    "name": ("name",),
    "cluster": ("cluster__key", "name"),
    "pool": ("pool__key", "name"),
    "stage": ("stage", "name"),
    "cpu": ("cpu_allocatable_milli",),
    "memory": ("memory_allocatable_bytes",),
    "seen": ("last_seen_at",),
}
CSV_HEAD = (
    "cluster", "node", "pool", "stage", "ready", "reason", "class", "resource", "installed_base_units",
    "allocatable_base_units", "held_base_units", "last_seen_at",
)  # fmt: skip


@require_GET
@signed_in
def node_list(request: HttpRequest) -> HttpResponseBase:
    """Nodes the reader may see; stage, cluster, pool, class, problems, name and staleness narrow them down."""
    require_nodes(request.user)
    now = utc_now()
    asked = Asked.of(request, "stage", "service", "cluster", "pool", "class", "q", "stale", "problems", "view")
    sorting = Sorting.of(request, SORTS, "cluster")
    nodes = sorting.apply(nodes_matching(request.user, _filter(asked, now)))
    nodes = nodes.prefetch_related("groups__resource_class")
    if wants_csv(request):
        return csv_response("nodes", CSV_HEAD, _csv_rows(nodes))
    as_map = asked["view"] == "map"
    page = page_of(request, nodes, size=MOST_TILES) if as_map else page_of(request, nodes)
    held, looks, clusters = held_by_node(page), class_looks(), list(clusters_of_nodes(request.user))
    rows = [node_row(node, held.get(node.pk, {}), looks, now) for node in page]
    context = {
        "page": page,
        "rows": rows,
        "clusters": [(cluster, is_stale(cluster.last_seen_at, now)) for cluster in clusters],
        "simulated": [cluster.name for cluster in clusters if cluster.simulated],
        "links": _links(stage_counts(request.user, _filter(asked, now)), asked),
        "filtered": any(value for name, value in asked.values.items() if name != "view"),
        "heads": sorting.heads,
        "csv": csv_url(asked),
        "form": _form(request, asked, [(cluster.key, cluster.name) for cluster in clusters]),
        "now": now,
    }
    return render(request, "resources/node_list.html", context | (_map(page, rows, looks, now) if as_map else {}))


def _map(page: Page[Node], rows: Sequence[NodeRow], looks: ClassLooks, now: datetime) -> dict[str, Any]:
    """The same nodes as tiles, and by pool the largest job that would start now on all of its nodes; what the list has
    beyond the most is a number."""
    pools = list({node.pool.pk: node.pool for node in page if node.pool}.values())
    found = startable_by_pool(pools, list(nodes_of_pools(pools)), now)
    able = {key: [(looks[one.class_key], one) for one in ones] for key, ones in found.items()}
    words = [
        _("nothing held"),
        _("up to a quarter"),
        _("up to half"),
        _("up to three quarters"),
        _("nearly all or all"),
    ]
    more = page.paginator.count - len(rows)
    return {"as_map": True, "racks": racks_of(rows, able), "more": more, "legend": list(enumerate(words))}


@require_GET
@signed_in
def node_detail(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """What the node has, what is held on it, its devices and labels; jobs those the reader may see, the rest as a
    number."""
    now = utc_now()
    node = nodes_visible_to(request.user).prefetch_related("groups__resource_class").filter(pk=key).first()
    if node is None:
        raise NotFound(f"Node {key}")
    jobs, hidden = jobs_on(node, request.user, JOBS_SHOWN)
    context = _facts(request, node, now) | {"jobs": jobs, "hidden": hidden, "may_hold": may_hold(request.user, node)}
    context |= admission_facts(request.user, node, now)
    return render(request, "resources/node_detail.html", context)


def _facts(request: HttpRequest, node: Node, now: datetime) -> dict[str, Any]:
    held, looks = held_by_node([node]).get(node.pk, {}), class_looks()
    parts, devices = parts_by_device(node), list(devices_of(node))
    holders = holders_of(devices, request.user)
    rows = [device_row(device, node, parts.get(device.pk, 0), looks, now) for device in devices]
    return {
        "node": node,
        "row": node_row(node, held, looks, now),
        "stale": is_stale(node.last_seen_at, now),
        "devices": families(rows, holders),
        "labels": sorted(node.labels.items()),
        "numa": node.numa,
        "causes": causes(node.reasons),
        "cordon": _cordon(node),
        "group_facts": group_facts(node, looks),
        "software": software_of(node),
        "whose": whose(node),
        "network": [(NETWORK_WORDS.get(fact["name"], fact["name"]), fact) for fact in node.network],
        "simulated": [node.cluster.name] if node.cluster.simulated else [],
        "now": now,
    }


def _cordon(node: Node) -> dict[str, Any] | None:
    """How it stands on its own cluster; None where there are no cordons."""
    if node.cluster.driver != KUBERNETES:
        return None
    return {"shown": cordon_shown(node, open_cordon(node)), "off": OFF_WORDS.get(cordon_off(node.cluster), "")}


def _filter(asked: Asked, now: datetime) -> NodeFilter:
    late = now - STALE_AFTER
    return NodeFilter(
        cluster=asked["cluster"],
        pool=asked["pool"],
        stage=asked["stage"],
        text=asked["q"],
        class_key=asked["class"],
        stale_before=late if asked["stale"] == "1" else None,
        troubled_before=late if asked["problems"] == "1" else None,
        service=asked["service"],
        heard_before=late,
    )


def _form(request: HttpRequest, asked: Asked, clusters: list[tuple[str, str]]) -> FacetForm:
    looks = class_looks()
    classes = [(key, looks[key].name) for key in device_facets(request.user).classes]
    pools = [(pool.key, pool.key) for pool in pools_looked_after(request.user)]
    return FacetForm(
        asked,
        {
            "cluster": (_("Cluster"), clusters),
            "pool": (_("Pool"), pools),
            "class": (_("Resource class"), classes),
            "q": (_("Part of the name"), None),
        },
    )


def _links(counts: dict[str, int], asked: Asked) -> list[Link]:
    stages = [
        asked.toggle("stage", stage, label, counts.get(stage, 0), stage)
        for stage, label in Node.Stage.choices
        if stage == asked["stage"] or stage in counts
    ]
    return [
        *stages,
        asked.toggle("view", "map", _("As a map")),
        asked.toggle("stale", "1", _("Stale"), state="stale"),
        asked.toggle("problems", "1", _("With problems")),
        *asked.chosen("service", words=SERVICE_WORDS),
        *asked.chosen("cluster", "pool", "class", "q"),
    ]


def _csv_rows(nodes: QuerySet[Node]) -> Iterator[list[Any]]:
    """A row for each class a node has; amounts in base units."""
    looks, now = class_looks(), utc_now()
    rows = list(nodes)
    held = held_by_node(rows)
    for node in rows:
        front = [node.cluster.key, node.name, node.pool.key if node.pool else "", node.stage, node.ready, node.why]
        for item in node_row(node, held.get(node.pk, {}), looks, now).parts:
            part = item.part
            amounts = [part.class_key, part.resource, part.installed, part.allocatable, item.held]
            yield [*front, *amounts, node.last_seen_at]
