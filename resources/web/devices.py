"""Devices: one row each, whoever's class they are of or of none."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from jobs.selectors.held import holders_of, parts_of_devices
from portal.lib.clock import utc_now
from portal.lib.csv_file import csv_response
from portal.lib.display import Link
from portal.lib.pages import page_of
from portal.lib.signin import signed_in
from portal.lib.sorting import Sorting
from resources.cards import families
from resources.models import Device
from resources.selectors.catalogue import ClassLooks, class_looks
from resources.selectors.devices import (
    HEALTH,
    UNRECOGNISED,
    DeviceFilter,
    device_facets,
    devices_matching,
    groups_without_devices,
)
from resources.selectors.fleet import pools_looked_after, require_nodes
from resources.selectors.freshness import STALE_AFTER
from resources.shapes import DeviceRow, class_name, device_row
from resources.web.parts import Asked, FacetForm, csv_url, same, simulated_names, wants_csv

FILTERS = ("class", "vendor", "model", "health", "cluster", "pool", "node")
_PLACE = ("group__node__name", "group__resource_name", "index")
SORTS = {
    "node": ("group__node__cluster__key", *_PLACE),
    "class": ("group__resource_class__key", *_PLACE),
    "model": ("group__model", *_PLACE),
    "memory": ("memory_bytes", *_PLACE),
    "health": ("healthy", *_PLACE),
    "uuid": ("uuid",),
}
CSV_HEAD = (
    "cluster", "node", "pool", "index", "uuid", "class", "resource_name", "kind", "vendor", "model", "state", "detail",
    "memory_bytes", "numa_node", "held_parts", "whole_parts", "use", "driver_version", "sharing", "verified",
    "last_seen_at", "card",
)  # fmt: skip


@require_GET
@signed_in
def device_list(request: HttpRequest) -> HttpResponseBase:
    """Devices of the nodes the reader may see, and groups that report only how many they are."""
    require_nodes(request.user)
    now, looks = utc_now(), class_looks()
    asked = Asked.of(request, *FILTERS)
    wanted = _filter(asked, now)
    sorting = Sorting.of(request, SORTS, "node")
    devices = sorting.apply(devices_matching(request.user, wanted))
    if wants_csv(request):
        return csv_response("devices", CSV_HEAD, _csv_rows(_rows(list(devices), looks, now)))
    page = page_of(request, devices)
    groups = page_of(request, groups_without_devices(request.user, wanted), name="groups")
    nodes = [device.group.node for device in page] + [group.node for group in groups]
    rows, holders = _rows(list(page), looks, now), holders_of(page, request.user)
    context = {
        "page": page,
        "rows": families(rows, holders, under_cards=asked.sort in ("", "node", "-node")),
        "groups": groups,
        "group_rows": [(group, class_name(group, looks)) for group in groups],
        "heads": sorting.heads,
        "csv": csv_url(asked),
        "filtered": bool(asked),
        "simulated": simulated_names(nodes),
        "now": now,
        **_filters(request, asked, looks),
    }
    return render(request, "resources/device_list.html", context)


def _filter(asked: Asked, now: datetime) -> DeviceFilter:
    return DeviceFilter(now - STALE_AFTER, *(asked[name] for name in FILTERS))


def _rows(devices: list[Device], looks: ClassLooks, now: datetime) -> list[DeviceRow]:
    held = parts_of_devices(devices)
    return [device_row(device, device.group.node, held.get(device.pk, 0), looks, now) for device in devices]


def _filters(request: HttpRequest, asked: Asked, looks: ClassLooks) -> dict[str, Any]:
    """The form with the values there are, and the chips."""
    facets = device_facets(request.user)
    classes = [(key, looks[key].name) for key in facets.classes]
    if facets.unrecognised:
        classes += [(UNRECOGNISED, _("unrecognised"))]
        classes += [(name, _("{name} (unrecognised)").format(name=name)) for name in facets.unrecognised]
    form = FacetForm(
        asked,
        {
            "class": (_("Resource class"), classes),
            "vendor": (_("Vendor"), same(facets.vendors)),
            "model": (_("Model"), same(facets.models)),
            "cluster": (_("Cluster"), facets.clusters),
            "pool": (_("Pool"), same(pool.key for pool in pools_looked_after(request.user))),
            "node": (_("Node"), None),
        },
    )
    words = {
        "healthy": _("Healthy"),
        "unhealthy": _("Unhealthy"),
        "stale": _("Stale"),
        "not_observed": _("Not observed"),
    }
    links: list[Link] = [asked.toggle("health", value, words[value], state=value) for value in HEALTH]
    links += asked.chosen("class", "vendor", "model", "cluster", "pool", "node", words=dict(classes))
    return {"form": form, "links": links}


def _csv_rows(rows: Iterable[DeviceRow]) -> Iterator[list[Any]]:
    for row in rows:
        d, group, node = row.device, row.device.group, row.node
        of_class = group.resource_class.key if group.resource_class else None
        yield [
            node.cluster.key, node.name, node.pool.key if node.pool else "", d.index, d.uuid, of_class,
            group.resource_name, group.kind, group.vendor, group.model, row.state, d.detail, d.memory_bytes,
            d.numa_node, row.held, group.whole, row.use, group.driver_version,
            group.sharing, group.verified, node.last_seen_at, d.card,
        ]  # fmt: skip
