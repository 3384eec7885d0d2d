"""Nodes: the list and one node."""

import uuid
from datetime import datetime
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from jobs.selectors.held import held_by_node, jobs_on, parts_by_device
from portal.lib.clock import utc_now
from portal.lib.display import Link
from portal.lib.errors import NotFound
from portal.lib.pages import page_of, word
from portal.lib.signin import signed_in
from resources.models import Node
from resources.selectors.catalogue import class_looks
from resources.selectors.fleet import (
    clusters_of_nodes,
    devices_of,
    nodes_matching,
    nodes_visible_to,
    require_nodes,
    stage_counts,
)
from resources.services.record_capacity import STALE_AFTER, is_stale
from resources.web.shapes import node_row

JOBS_SHOWN = 50


@require_GET
@signed_in
def node_list(request: HttpRequest) -> HttpResponse:
    """Visible nodes, filtered by stage, cluster, pool, name, or by being stale."""
    require_nodes(request.user)
    now = utc_now()
    wanted = {name: word(request, name) for name in ("stage", "cluster", "pool", "q")}
    stale = request.GET.get("stale") == "1"
    rows = nodes_matching(
        request.user,
        cluster=wanted["cluster"],
        pool=wanted["pool"],
        stage=wanted["stage"],
        text=wanted["q"],
        stale_before=now - STALE_AFTER if stale else None,
    )
    page = page_of(request, rows.prefetch_related("groups__resource_class"))
    held, looks = held_by_node(page), class_looks()
    clusters = list(clusters_of_nodes(request.user))
    context = {
        "page": page,
        "rows": [node_row(node, held.get(node.pk, {}), looks, now) for node in page],
        "links": _links(stage_counts(request.user), wanted, stale),
        "filtered": stale or any(wanted.values()),
        "clusters": [(cluster, is_stale(cluster.last_seen_at, now)) for cluster in clusters],
        "simulated": [cluster.name for cluster in clusters if cluster.simulated],
        "now": now,
    }
    return render(request, "resources/node_list.html", context)


@require_GET
@signed_in
def node_detail(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """What the node is, has and holds; of its jobs only those the reader may see, the rest as a number."""
    now = utc_now()
    node = nodes_visible_to(request.user).prefetch_related("groups__resource_class").filter(pk=key).first()
    if node is None:
        raise NotFound(f"Node {key}")
    context = _facts(node, now)
    context["jobs"], context["hidden"] = jobs_on(node, request.user, JOBS_SHOWN)
    return render(request, "resources/node_detail.html", context)


def _facts(node: Node, now: datetime) -> dict[str, object]:
    held = held_by_node([node]).get(node.pk, {})
    parts = parts_by_device(node)
    return {
        "node": node,
        "row": node_row(node, held, class_looks(), now),
        "stale": is_stale(node.last_seen_at, now),
        "devices": [(device, parts.get(device.pk, 0)) for device in devices_of(node)],
        "labels": sorted(node.labels.items()),
        "numa": node.numa,
        "simulated": [node.cluster.name] if node.cluster.simulated else [],
        "now": now,
    }


def _links(counts: dict[str, int], wanted: dict[str, str], stale: bool) -> list[Link]:
    def url(**changed: str) -> str:
        query = wanted | {"stale": "1" if stale else ""} | changed
        return "?" + urlencode({name: value for name, value in query.items() if value})

    links = [
        Link(str(Node.Stage(stage).label), url(stage="" if on else stage), counts[stage], current=on, state=stage)
        for stage in Node.Stage.values
        if (on := stage == wanted["stage"]) or stage in counts
    ]
    links.append(Link(_("Stale"), url(stale="" if stale else "1"), current=stale, state="stale"))
    return links + [
        Link(wanted[name], url(**{name: ""}), current=True) for name in ("cluster", "pool", "q") if wanted[name]
    ]
