"""Clusters: the list and one cluster."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET

from jobs.selectors.held import held_by_node, jobs_holding
from portal.lib.clock import utc_now
from portal.lib.csv_file import csv_response
from portal.lib.errors import NotFound
from portal.lib.pages import page_of
from portal.lib.signin import signed_in
from portal.lib.sorting import Sorting
from resources.clocks import clock_words
from resources.driver_words import driver_word
from resources.models import Cluster
from resources.observed import sheet_of
from resources.selectors.catalogue import class_looks
from resources.selectors.connections import access_card
from resources.selectors.fleet import clusters_answering, clusters_of_nodes, nodes_of_clusters, require_nodes
from resources.selectors.freshness import STALE_AFTER
from resources.selectors.history import history_of
from resources.shapes import ClusterRow, cluster_rows
from resources.web.access_words import shown_rights
from resources.web.parts import Asked, csv_url, simulated_names, wants_csv
from tenants import access

ANSWER_WORDS = {"yes": _("Answers"), "no": _("Does not answer")}
SORTS = {"name": ("name",), "driver": ("driver", "name"), "state": ("state", "name"), "seen": ("last_seen_at",)}
CSV_HEAD = (
    "cluster", "name", "driver", "simulated", "state", "isolation", "nodes", "class", "resource",
    "installed_base_units", "usable_base_units", "held_base_units", "maintainer", "last_seen_at",
)  # fmt: skip


@require_GET
@signed_in
def cluster_list(request: HttpRequest) -> HttpResponseBase:
    """Clusters of which the reader may see a node, with nodes by stage and devices by class."""
    require_nodes(request.user)
    now = utc_now()
    asked = Asked.of(request, "state", "driver", "answers")
    sorting = Sorting.of(request, SORTS, "name")
    everything = clusters_of_nodes(request.user)
    kept = {name: asked[name] for name in ("state", "driver") if asked[name]}
    found = everything.filter(**kept)
    if asked["answers"]:
        found = clusters_answering(found, now - STALE_AFTER, answers=asked["answers"] == "yes")
    clusters = sorting.apply(found)
    if wants_csv(request):
        return csv_response("clusters", CSV_HEAD, _csv_rows(_rows(request, list(clusters))))
    page = page_of(request, clusters)
    kinds = everything.order_by("driver").values_list("driver", flat=True).distinct()
    context = {
        "page": page,
        "rows": _rows(request, list(page)),
        "links": [
            *(asked.toggle("state", value, label) for value, label in Cluster.State.choices),
            *(asked.toggle("driver", kind, driver_word(kind)) for kind in kinds),
            *asked.chosen("answers", words=ANSWER_WORDS),
        ],
        "filtered": bool(asked),
        "heads": sorting.heads,
        "csv": csv_url(asked),
        "simulated": simulated_names(page),
        "may_manage": access.at_platform(request.user, "cluster.manage"),
        "now": now,
    }
    return render(request, "resources/cluster_list.html", context)


@require_GET
@signed_in
def cluster_detail(request: HttpRequest, key: str) -> HttpResponse:
    """How it is reached, what it has by class and stage, which pools it feeds, what its driver can do."""
    cluster = clusters_of_nodes(request.user).filter(key=key).first()
    if cluster is None:
        raise NotFound(f"Cluster {key}")
    row, now = _rows(request, [cluster])[0], utc_now()
    card = access_card(cluster, now) if access.at_platform(request.user, "cluster.see") else None
    context = {
        "cluster": cluster,
        "rights": shown_rights(card) if card else [],
        "sheet": sheet_of(cluster),
        "clock": clock_words(cluster.clock_ahead_ms),
        "row": row,
        "jobs": jobs_holding(cluster),
        "history": history_of(request.user, cluster),
        "may_manage": access.at_platform(request.user, "cluster.manage"),
        "simulated": simulated_names([cluster]),
        "now": now,
    }
    return render(request, "resources/cluster_detail.html", context)


def _rows(request: HttpRequest, clusters: list[Cluster]) -> list[ClusterRow]:
    nodes = list(nodes_of_clusters(request.user, clusters))
    return cluster_rows(clusters, nodes, held_by_node(nodes), class_looks(), utc_now())


def _csv_rows(rows: Iterable[ClusterRow]) -> Iterator[list[Any]]:
    for row in rows:
        c = row.cluster
        front = [c.key, c.name, c.driver, c.simulated, row.state, c.isolation if c.last_seen_at else None, row.nodes]
        for item in row.classes:
            a = item.amounts
            amounts = [a.class_key, a.resource, a.installed, a.usable, a.held]
            yield [*front, *amounts, c.maintainer, c.last_seen_at]
        if not row.classes:
            yield [*front, *[None] * 5, c.maintainer, c.last_seen_at]
