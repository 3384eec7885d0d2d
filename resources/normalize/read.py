"""The readers: a Node with what belongs to it, a ResourceSlice, or a document that is either."""

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from resources.normalize.amounts import BadAmount, devices
from resources.normalize.cards import complete
from resources.normalize.catalogue import Catalogue, load_catalogue
from resources.normalize.documents import MAX_ANNOTATION, Problems, RefusedDocument, mapping, plain, resources, texts
from resources.normalize.dra import Slices, node_of, read_slices
from resources.normalize.drafts import Draft, advertised, sort_resources
from resources.normalize.facts import DeviceGroup, Health, NodeReading, Ready, Reason, Software
from resources.normalize.health import judge, note_states
from resources.normalize.labels import VendorLabels, read_labels
from resources.normalize.registers import read_registers
from resources.normalize.slots import note_cards
from resources.normalize.state import read_host, read_state


def read_document(document: Mapping[str, Any], *, catalogue: Catalogue | None = None) -> NodeReading:
    """A Node with its `x-` companions, or a ResourceSlice. Raises RefusedDocument for anything else."""
    kind = document.get("kind")
    if kind == "ResourceSlice":
        return read_slice(document, catalogue=catalogue)
    if kind != "Node" and not (kind is None and isinstance(document.get("status"), Mapping)):
        raise RefusedDocument("UnsupportedKind", kind=plain(kind) or "?")
    slices = document.get("x-resource-slices")
    return read_node(
        document,
        config_maps=document.get("x-companion-configmap"),
        slices=[one for one in slices if isinstance(one, Mapping)] if isinstance(slices, list) else [],
        requested=document.get("x-requested-by-pods"),
        catalogue=catalogue,
    )


def read_node(
    node: Mapping[str, Any],
    *,
    config_maps: Any = None,
    slices: Iterable[Mapping[str, Any]] = (),
    requested: Any = None,
    catalogue: Catalogue | None = None,
) -> NodeReading:
    """Everything a node says about its devices. Never raises for what is in the node.

    `config_maps`: companions such as Ascend's device-info, whole or only their data, one or a list. `slices`: the
    node's ResourceSlices. `requested`: requests of its live pods, summed by resource name. The same input always
    gives the same reading, whatever the order of its keys.
    """
    book, problems = catalogue or load_catalogue(), Problems()
    metadata = mapping(node.get("metadata"), "metadata", problems)
    status = mapping(node.get("status"), "status", problems)
    labels = texts(metadata.get("labels"), "metadata.labels", problems)
    annotations = texts(metadata.get("annotations"), "metadata.annotations", problems, longest=MAX_ANNOTATION)
    capacity = resources(status.get("capacity"), "status.capacity", problems)
    allocatable = resources(status.get("allocatable"), "status.allocatable", problems)
    host = read_host(capacity, allocatable, problems)
    told = read_labels(labels, book)
    sorted_ = sort_resources(
        advertised(_block(status, "capacity", capacity), _block(status, "allocatable", allocatable)),
        {**allocatable, **capacity},
        told,
        read_registers(annotations, book),
        book,
    )
    drafts = complete(sorted_, book)
    note_states(drafts, config_maps, book)
    note_cards(drafts, config_maps, book)
    _note_requests(drafts, requested, problems)
    from_slices = read_slices(slices, book, problems)
    state = read_state(node, labels, problems)
    by_driver = {group.vendor for group in from_slices.devices}
    groups = [
        draft.group(judge(draft, reachable=state.ready is not Ready.UNKNOWN))
        for draft in drafts
        if draft.total != 0 or draft.vendor.key not in by_driver  # a DRA driver gives out what no plugin advertises
    ]
    return NodeReading(
        name=plain(metadata.get("name")),
        host=host,
        node=state,
        devices=_ordered([*groups, *_beside(from_slices, groups)]),
        companions=tuple(sorted_.companions),
        ignored=(*sorted_.ignored, *from_slices.ignored),
        unrecognised=(*sorted_.unrecognised, *from_slices.unrecognised),
        software=(*_software(told), *from_slices.software),
    )


def read_slice(document: Mapping[str, Any], *, catalogue: Catalogue | None = None) -> NodeReading:
    """The devices of one ResourceSlice; it says nothing of host or node. Raises RefusedDocument without a driver."""
    problems = Problems()
    found = read_slices([document], catalogue or load_catalogue(), problems)
    if "spec.driver" in problems.fields:
        raise RefusedDocument("FieldUnreadable", field="spec.driver")
    devices_ = tuple(replace(group, reasons=(*group.reasons, *problems.reasons())) for group in found.devices)
    return NodeReading(
        name=node_of(document),
        host=None,
        node=None,
        devices=_ordered(devices_),
        ignored=found.ignored,
        unrecognised=found.unrecognised,
        software=found.software,
    )


def _block(status: Mapping[str, Any], key: str, read: dict[str, Any]) -> dict[str, Any] | None:
    """None for a block that is absent or no mapping: nothing can be concluded from its silence."""
    return read if isinstance(status.get(key), Mapping) else None


def _note_requests(drafts: list[Draft], requested: Any, problems: Problems) -> None:
    amounts = resources(requested, "requested", problems)
    for draft in drafts:
        if draft.resource not in amounts:
            continue
        try:
            draft.requested = devices(amounts[draft.resource])
        except BadAmount as bad:
            draft.reasons.append(Reason(bad.reason, {"field": f"requested.{draft.resource}"}))
            continue
        if draft.schedulable is not None and draft.requested > draft.schedulable:
            draft.say("OverAllocated", requested=draft.requested, schedulable=draft.schedulable)


def _beside(found: Slices, groups: list[DeviceGroup]) -> list[DeviceGroup]:
    """Groups of slices; cards that a device plugin gives out as well are in conflict."""
    plugins = {group.vendor: group.resource for group in groups if group.slots_total}
    return [
        replace(
            group,
            health=Health.UNKNOWN,
            reasons=(*group.reasons, Reason("OverlapsWith", {"resource": plugins[group.vendor]})),
        )
        if group.vendor in plugins
        else group
        for group in found.devices
    ]


def _ordered(groups: Iterable[DeviceGroup]) -> tuple[DeviceGroup, ...]:
    return tuple(sorted(groups, key=lambda group: (group.resource, group.model or "", group.profile or "")))


def _software(told: Mapping[str, VendorLabels]) -> tuple[Software, ...]:
    return tuple(entry for vendor in sorted(told) for entry in told[vendor].software)
