"""Nodes: the list and one node."""

import uuid
from dataclasses import dataclass
from datetime import datetime
from typing import Any
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
    NodeFilter,
    clusters_of_nodes,
    devices_of,
    nodes_matching,
    nodes_visible_to,
    require_nodes,
    stage_counts,
)
from resources.selectors.freshness import STALE_AFTER, is_stale
from resources.shapes import class_name, node_row

JOBS_SHOWN = 50


@dataclass(frozen=True, slots=True)
class Asked:
    """The filters of the address."""

    stage: str
    cluster: str
    pool: str
    q: str
    stale: str

    @classmethod
    def of(cls, request: HttpRequest) -> "Asked":
        """As the address has them; only "1" asks for stale ones."""
        stale = "1" if request.GET.get("stale") == "1" else ""
        return cls(**{name: word(request, name) for name in ("stage", "cluster", "pool", "q")}, stale=stale)

    def filter(self, now: datetime) -> NodeFilter:
        """For the selector."""
        return NodeFilter(self.cluster, self.pool, self.stage, self.q, now - STALE_AFTER if self.stale else None)

    def url(self, **changed: str) -> str:
        """The same address with some filters changed."""
        names = ("stage", "cluster", "pool", "q", "stale")
        query = {name: getattr(self, name) for name in names} | changed
        return "?" + urlencode({name: value for name, value in query.items() if value})


@require_GET
@signed_in
def node_list(request: HttpRequest) -> HttpResponse:
    """Visible nodes, filtered by stage, cluster, pool, name, or by being stale."""
    require_nodes(request.user)
    now, asked = utc_now(), Asked.of(request)
    rows = nodes_matching(request.user, asked.filter(now)).prefetch_related("groups__resource_class")
    page = page_of(request, rows)
    held, looks = held_by_node(page), class_looks()
    clusters = list(clusters_of_nodes(request.user))
    context = {
        "page": page,
        "rows": [node_row(node, held.get(node.pk, {}), looks, now) for node in page],
        "links": _links(stage_counts(request.user), asked),
        "filtered": asked.url() != "?",
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
    jobs, hidden = jobs_on(node, request.user, JOBS_SHOWN)
    context = _facts(node, now) | {"jobs": jobs, "hidden": hidden}
    return render(request, "resources/node_detail.html", context)


def _facts(node: Node, now: datetime) -> dict[str, Any]:
    held, looks = held_by_node([node]).get(node.pk, {}), class_looks()
    parts = parts_by_device(node)
    return {
        "node": node,
        "row": node_row(node, held, looks, now),
        "stale": is_stale(node.last_seen_at, now),
        "devices": [(d, parts.get(d.pk, 0), class_name(d.group, looks)) for d in devices_of(node)],
        "labels": sorted(node.labels.items()),
        "numa": node.numa,
        "simulated": [node.cluster.name] if node.cluster.simulated else [],
        "now": now,
    }


def _links(counts: dict[str, int], asked: Asked) -> list[Link]:
    links = [
        Link(str(label), asked.url(stage="" if on else stage), counts.get(stage, 0), current=on, state=stage)
        for stage, label in Node.Stage.choices
        if (on := stage == asked.stage) or stage in counts
    ]
    links.append(
        Link(_("Stale"), asked.url(stale="" if asked.stale else "1"), current=bool(asked.stale), state="stale")
    )
    chosen = {name: getattr(asked, name) for name in ("cluster", "pool", "q")}
    return links + [Link(value, asked.url(**{name: ""}), current=True) for name, value in chosen.items() if value]
