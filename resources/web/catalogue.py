"""The catalogue: resource classes with their rates, runtimes, data sources."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from jobs.selectors.held import held_by_node
from portal.lib.clock import utc_now
from portal.lib.csv_file import csv_response
from portal.lib.errors import NotFound
from portal.lib.localised import localised
from portal.lib.pages import page_of
from portal.lib.signin import signed_in
from portal.lib.sorting import Sorting
from resources.catalogue_shapes import ClassEntry, class_entries, data_rows, rate_rows
from resources.models import ResourceClass
from resources.models.catalogue import Kind
from resources.selectors.catalogue import class_looks, classes_matching, data_visible_to, runtimes
from resources.selectors.fleet import nodes_of_pools, pools_visible_to
from resources.selectors.history import history_of
from resources.selectors.rates import rates_in_force, rates_of
from resources.shapes import pool_rows
from resources.web.parts import Asked, FacetForm, csv_url, simulated_names, wants_csv
from tenants import access

SORTS = {"key": ("key",), "kind": ("kind", "key"), "memory": ("memory_bytes", "key")}
RUNTIME_SORTS = {"key": ("key",), "driver": ("driver_kind", "key"), "framework": ("framework", "version", "key")}
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
    of_pools = pool_rows(pools, nodes, held_by_node(nodes), class_looks(), now)
    by_pool = [(item, c) for item in of_pools for c in item.classes if c.amounts.class_key == key]
    rates = page_of(request, rates_of(row), name="rates")
    entry = _entries(request, [row], now)[0]
    context = {
        "row": entry,
        "names": _names(entry),
        "by_pool": by_pool,
        "rates": rates,
        "rate_rows": rate_rows(list(rates), now),
        "runtimes": list(row.runtimes.all()),
        "history": history_of(request.user, row),
        "may_manage": access.at_platform(request.user, "policy.manage"),
        "simulated": simulated_names(node for node in nodes if node.pool_id in {item.pool.pk for item, _c in by_pool}),
        "now": now,
    }
    return render(request, "resources/class_detail.html", context)


@require_GET
@signed_in
def runtime_list(request: HttpRequest) -> HttpResponse:
    """Declared runtimes and what they run on."""
    sorting = Sorting.of(request, RUNTIME_SORTS, "key")
    asked = Asked.of(request, "driver")
    every = runtimes()
    rows = sorting.apply(every.filter(driver_kind=asked["driver"]) if asked["driver"] else every)
    kinds = every.order_by("driver_kind").values_list("driver_kind", flat=True).distinct()
    page = page_of(request, rows)
    context = {
        "page": page,
        "rows": [(runtime, localised(runtime.name, runtime.key)) for runtime in page],
        "links": [asked.toggle("driver", kind, kind) for kind in kinds],
        "filtered": bool(asked),
        "heads": sorting.heads,
        "now": utc_now(),
    }
    return render(request, "resources/runtime_list.html", context)


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
