"""The catalogue: resource classes with their rates and what is declared of them, data sources."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from jobs.selectors.held import held_by_node
from jobs.selectors.runtime_use import jobs_seen_by
from portal.lib.clock import utc_now
from portal.lib.csv_file import csv_response
from portal.lib.errors import NotFound
from portal.lib.pages import page_of
from portal.lib.signin import signed_in
from portal.lib.sorting import Sorting
from resources.catalogue_shapes import ClassEntry, class_entries, data_rows, rate_rows
from resources.declared_shapes import COST_WORDS, amount_text, equivalence_rows
from resources.models import ResourceClass
from resources.models.catalogue import Kind
from resources.selectors.catalogue import class_looks, classes_matching, data_visible_to
from resources.selectors.declared import cost_bases_of, equivalences_of, facts_of
from resources.selectors.fleet import nodes_of_pools, pools_visible_to
from resources.selectors.history import history_of
from resources.selectors.rates import rates_in_force, rates_of
from resources.shapes import pool_rows
from resources.web.parts import Asked, FacetForm, csv_url, simulated_names, wants_csv
from tenants import access

SORTS = {"key": ("key",), "kind": ("kind", "key"), "memory": ("memory_bytes", "key")}
DATA_SORTS = {"name": ("name",), "kind": ("kind", "name"), "size": ("bytes", "name"), "age": ("created_at",)}
CSV_HEAD = (
    "class", "name", "kind", "resource", "installed_base_units", "usable_base_units", "held_base_units",
    "free_base_units", "price_micro_per_unit_hour", "currency", "weight_micro_per_unit_hour", "valid_from",
)  # fmt: skip


@require_GET
@signed_in
def class_list(request: HttpRequest) -> HttpResponseBase:
    """Classes with the rate in force and the amounts in the pools the reader sees."""
    now = utc_now()
    asked = Asked.of(request, "kind", "q", "retired")
    sorting = Sorting.of(request, SORTS, "kind")
    found = classes_matching(kind=asked["kind"], text=asked["q"], retired=asked["retired"] == "1")
    rows = sorting.apply(found)
    if wants_csv(request):
        return csv_response("classes", CSV_HEAD, _csv_rows(_entries(request, rows, now)))
    page = page_of(request, rows)
    used = set(ResourceClass.objects.order_by("kind").values_list("kind", flat=True).distinct())
    context = {
        "page": page,
        "rows": _entries(request, page, now),
        "links": [
            *(asked.toggle("kind", kind, label) for kind, label in Kind.choices if kind in used),
            asked.toggle("retired", "1", _("Retired"), state="retired"),
            *asked.chosen("q"),
        ],
        "filtered": bool(asked),
        "form": FacetForm(asked, {"q": (_("Part of the name"), None)}),
        "heads": sorting.heads,
        "csv": csv_url(asked),
        "may_manage": access.at_platform(request.user, "policy.manage"),
        "now": now,
    }
    return render(request, "resources/class_list.html", context)


def _names(entry: ClassEntry) -> list[tuple[str, str]]:
    """The names by language, each once: a model's name is often the same in all."""
    first: dict[str, str] = {}
    for code, name in entry.names:
        first.setdefault(name, code)
    return [(code, name) for name, code in first.items()]


@require_GET
@signed_in
def class_detail(request: HttpRequest, key: str) -> HttpResponse:
    """What it takes, what there is of it by pool, every version of its rate."""
    now = utc_now()
    row = ResourceClass.objects.filter(key=key).first()
    if row is None:
        raise NotFound(f"ResourceClass {key}")
    pools = list(pools_visible_to(request.user, now))
    nodes = list(nodes_of_pools(pools))
    held = held_by_node(nodes)
    of_pools = pool_rows(pools, nodes, held, class_looks(), now)
    by_pool = [(item, c) for item in of_pools for c in item.classes if c.amounts.class_key == key]
    rates = page_of(request, rates_of(row), name="rates")
    entry = class_entries([row], nodes, held, list(rates_in_force(now)), now)[0]
    context = {
        "row": entry,
        "names": _names(entry),
        "by_pool": by_pool,
        "rates": rates,
        "rate_rows": rate_rows(list(rates), now),
        "runtimes": list(row.runtimes.filter(retired_at__isnull=True)),
        **_declared(request, row, now),
        "history": history_of(request.user, row),
        "may_manage": access.at_platform(request.user, "policy.manage"),
        "simulated": simulated_names(node for node in nodes if node.pool_id in {item.pool.pk for item, _c in by_pool}),
        "now": now,
    }
    return render(request, "resources/class_detail.html", context)


def _declared(request: HttpRequest, row: ResourceClass, now: datetime) -> dict[str, Any]:
    """Facts with their sources, equivalences in both directions, and on what terms its clusters are had."""
    found = list(equivalences_of(row))
    seen = jobs_seen_by(request.user, {item.evidence_job for item in found if item.evidence_job})
    rows = equivalence_rows(found, seen, now)
    return {
        "facts": [(fact, amount_text(fact)) for fact in facts_of(row)],
        "replaced_by": [item for item in rows if item.row.of_id == row.pk],
        "replaces": [item for item in rows if item.row.by_id == row.pk],
        "costs": [(COST_WORDS.get(basis, basis), name) for basis, name in cost_bases_of(row)],
    }


@require_GET
@signed_in
def data_list(request: HttpRequest) -> HttpResponse:
    """Data sources the reader's projects may use."""
    asked = Asked.of(request, "kind", "q")
    sorting = Sorting.of(request, DATA_SORTS, "name")
    every = data_visible_to(request.user)
    rows = every.filter(kind=asked["kind"]) if asked["kind"] else every
    rows = rows.filter(name__icontains=asked["q"]) if asked["q"] else rows
    page = page_of(request, sorting.apply(rows))
    kinds = every.order_by("kind").values_list("kind", flat=True).distinct()
    context = {
        "page": page,
        "rows": data_rows(list(page)),
        "links": [*(asked.toggle("kind", kind, kind) for kind in kinds), *asked.chosen("q")],
        "filtered": bool(asked),
        "form": FacetForm(asked, {"q": (_("Part of the name"), None)}),
        "heads": sorting.heads,
        "now": utc_now(),
    }
    return render(request, "resources/data_list.html", context)


def _entries(request: HttpRequest, classes: Iterable[ResourceClass], now: datetime) -> list[ClassEntry]:
    nodes = list(nodes_of_pools(list(pools_visible_to(request.user, now))))
    return class_entries(classes, nodes, held_by_node(nodes), list(rates_in_force(now)), now)


def _csv_rows(rows: Iterable[ClassEntry]) -> Iterator[list[Any]]:
    for row in rows:
        c, a, rate = row.resource_class, row.amounts, row.rate
        amounts = [a.installed, a.usable, a.held, a.free] if a else [None] * 4
        terms = [rate.price_micro, rate.currency, rate.weight_micro, rate.valid_from] if rate else [None] * 4
        yield [c.key, row.name, c.kind, c.resource, *amounts, *terms]
