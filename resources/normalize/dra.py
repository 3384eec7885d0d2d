"""ResourceSlices of dynamic resource allocation, in the shapes of v1, v1beta1/2, v1alpha3 and v1alpha2."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from resources.normalize.amounts import BadAmount, whole
from resources.normalize.catalogue import Catalogue, DraRule, ResourceRule
from resources.normalize.documents import Problems, items, mapping, plain
from resources.normalize.drafts import Draft
from resources.normalize.facts import CardFacts, DeviceGroup, Reason, Software, Unrecognised
from resources.normalize.health import judge
from resources.normalize.labels import VendorLabels

_BLOCKING = ("NoSchedule", "NoExecute")
_VALUES = ("string", "version", "int", "bool", "quantity", "value")


@dataclass(frozen=True, slots=True)
class _Device:
    name: str
    facts: Mapping[str, Any]
    usable: bool
    counters: frozenset[str]


@dataclass(frozen=True, slots=True)
class Slices:
    """What the slices of one node say."""

    devices: tuple[DeviceGroup, ...] = ()
    ignored: tuple[str, ...] = ()
    unrecognised: tuple[Unrecognised, ...] = ()
    software: tuple[Software, ...] = ()


def node_of(document: Mapping[str, Any]) -> str | None:
    """The node a slice is of, where it is of one."""
    spec = document.get("spec")
    inside = spec.get("nodeName") if isinstance(spec, Mapping) else None
    return plain(inside) or plain(document.get("nodeName"))


def read_slices(documents: Iterable[Mapping[str, Any]], catalogue: Catalogue, problems: Problems) -> Slices:
    """Groups of like devices by driver; only the newest generation of each pool counts."""
    by_driver: dict[str, list[_Device]] = {}
    short: dict[str, Reason] = {}
    for driver, pool in _newest(documents, problems).items():
        for document in pool.documents:
            by_driver.setdefault(driver[0], []).extend(_devices(document, problems))
        if pool.expected > len(pool.documents):
            facts: dict[str, str | int] = {"seen": len(pool.documents), "expected": pool.expected}
            short[driver[0]] = Reason("PoolIncomplete", facts)
    found = Slices()
    for name, devices in sorted(by_driver.items()):
        found = _add(found, name, devices, short.get(name), catalogue)
    return found


@dataclass(slots=True)
class _Pool:
    generation: int
    expected: int
    documents: list[Mapping[str, Any]]


def _newest(documents: Iterable[Mapping[str, Any]], problems: Problems) -> dict[tuple[str, str], _Pool]:
    pools: dict[tuple[str, str], _Pool] = {}
    for document in documents:
        spec = mapping(document.get("spec"), "spec", problems)
        driver = plain(spec.get("driver")) or plain(document.get("driverName"))
        if driver is None:
            problems.add("spec.driver")
            continue
        said = mapping(spec.get("pool"), "spec.pool", problems)
        key, generation = (driver, plain(said.get("name")) or ""), _natural(said.get("generation"))
        known = pools.get(key)
        if known is None or generation > known.generation:
            known = pools[key] = _Pool(generation, _natural(said.get("resourceSliceCount")), [])
        if generation == known.generation:
            known.documents.append(document)
    return dict(sorted(pools.items()))


def _natural(value: object) -> int:
    return value if type(value) is int and 0 <= value < 2**63 else 0


def _devices(document: Mapping[str, Any], problems: Problems) -> list[_Device]:
    spec = mapping(document.get("spec"), "spec", problems)
    old = mapping(document.get("namedResources"), "namedResources", problems)
    entries = items(spec.get("devices"), "spec.devices", problems)
    entries += items(old.get("instances"), "namedResources.instances", problems)
    found: dict[str, _Device] = {}
    for entry in entries:
        name = plain(entry.get("name"))
        if name is None or name in found:
            problems.add("spec.devices")
        else:
            found[name] = _device(name, entry, problems)
    return [found[name] for name in sorted(found)]


def _device(name: str, entry: Mapping[str, Any], problems: Problems) -> _Device:
    body = mapping(entry.get("basic"), "spec.devices.basic", problems) or entry
    taints = items(body.get("taints"), "spec.devices.taints", problems)
    consumed = items(body.get("consumesCounters"), "spec.devices.consumesCounters", problems)
    return _Device(
        name=name,
        facts=_facts(body.get("attributes")) | _facts(body.get("capacity")),
        usable=all(taint.get("effect") not in _BLOCKING for taint in taints),
        counters=frozenset(text for one in consumed if (text := plain(one.get("counterSet")))),
    )


def _facts(raw: Any) -> dict[str, Any]:
    """Attributes or capacities by name without domain; a list of named ones in the oldest shape."""
    if isinstance(raw, list | tuple):
        pairs = [(entry.get("name"), entry) for entry in raw if isinstance(entry, Mapping)]
    else:
        pairs = list(raw.items()) if isinstance(raw, Mapping) else []
    found = {}
    for name, value in pairs:
        if isinstance(name, str) and plain(name):
            content = (
                next((value[key] for key in _VALUES if key in value), None) if isinstance(value, Mapping) else value
            )
            if isinstance(content, str | int | bool):
                found[name.rpartition("/")[2]] = content
    return found


def _add(found: Slices, name: str, devices: list[_Device], short: Reason | None, catalogue: Catalogue) -> Slices:
    rule = next((rule for rule in catalogue.dra if rule.driver.fullmatch(name)), None)
    if rule is not None:
        groups = _groups(rule, name, devices, short, catalogue)
        software = _software(rule, name, devices, catalogue)
        return replace(found, devices=(*found.devices, *groups), software=(*found.software, *software))
    if any(pattern.fullmatch(name) for pattern in catalogue.dra_attributes.ignored):
        return replace(found, ignored=(*found.ignored, name))
    usable = sum(device.usable for device in devices)
    unknown = Unrecognised(name, len(devices), usable, (Reason("NotInCatalogue"),))
    return replace(found, unrecognised=(*found.unrecognised, unknown))


def _groups(
    rule: DraRule, driver: str, devices: list[_Device], short: Reason | None, catalogue: Catalogue
) -> list[DeviceGroup]:
    alike: dict[tuple[str, ...], list[_Device]] = {}
    for device in devices:
        facts = [_first(device, getattr(catalogue.dra_attributes, name)) for name in ("profile", "model", "memory")]
        key = (_sharing(rule, device), *(str(fact or "") for fact in facts))
        alike.setdefault(key, []).append(device)
    return [_group(rule, driver, members, short, catalogue) for _, members in sorted(alike.items())]


def _sharing(rule: DraRule, device: _Device) -> str:
    return rule.sharing.get(str(device.facts.get("type")), "exclusive")


def _first(device: _Device, names: Sequence[str]) -> Any:
    return next((device.facts[name] for name in names if name in device.facts), None)


def _group(
    rule: DraRule, driver: str, members: list[_Device], short: Reason | None, catalogue: Catalogue
) -> DeviceGroup:
    vendor, first, names = catalogue.vendors[rule.vendor], members[0], catalogue.dra_attributes
    sharing = _sharing(rule, first)
    draft = Draft(
        vendor=vendor,
        rule=ResourceRule(match=rule.driver, vendor=rule.vendor, sharing=sharing),
        resource=driver,
        total=len(members),
        schedulable=sum(_works(device, names.health) for device in members),
        reasons=[short] if short else [],
        kind=rule.kind or vendor.kind,
        sharing=sharing,
        unit="card" if sharing == "exclusive" else "slice",
        parts={},
        labels=VendorLabels(),
        profile=plain(_first(first, names.profile)),
        model=_model(_first(first, names.model), rule, catalogue),
        memory=_memory(_first(first, names.memory)),
        sources={"slots_total": "spec.devices"},
    )
    draft.set_physical(_physical(rule, sharing, members), "spec.devices")
    if sharing != "exclusive":
        draft.cards = _cards(rule, members)
    if any(device.counters for device in members):
        draft.say("PartitionsOverlap")
        draft.conflict = True
    return replace(draft.group(judge(draft, reachable=True)), reasons=tuple(draft.reasons), verified=False)


def _works(device: _Device, names: Sequence[str]) -> bool:
    return device.usable and _first(device, names) not in (False, "false")


def _physical(rule: DraRule, sharing: str, members: list[_Device]) -> int | None:
    sets = {name for device in members for name in device.counters}
    if sets:
        return len(sets)
    if sharing == "exclusive":
        return len(members)
    parents = [_first(device, rule.parent) for device in members]
    return len(set(parents)) if all(parent is not None for parent in parents) else None


def _cards(rule: DraRule, members: list[_Device]) -> tuple[CardFacts, ...]:
    """The cards that the members name as theirs; a member that names none is of no card anybody knows."""
    parts: dict[str, list[int]] = {}
    for index, member in enumerate(members):
        card = plain(_first(member, rule.parent))
        if card is not None:
            parts.setdefault(card, []).append(index)
    return tuple(
        CardFacts(card, len(indices), None, "spec.devices", indices=tuple(indices))
        for card, indices in sorted(parts.items())
    )


def _model(raw: object, rule: DraRule, catalogue: Catalogue) -> str | None:
    model = plain(raw)
    if model is None:
        return None
    vendor = catalogue.vendors[rule.vendor]
    for prefix in catalogue.dra_attributes.strip:
        model = model.removeprefix(prefix)
    model = model.replace("_", " ")
    match = vendor.model.fullmatch(model) if vendor.model else None
    return vendor.model_as.format(m=match["m"]) if match else model


def _memory(raw: object) -> int | None:
    try:
        return whole(raw) or None
    except BadAmount:
        return None


def _software(rule: DraRule, driver: str, devices: list[_Device], catalogue: Catalogue) -> list[Software]:
    versions = {plain(_first(device, catalogue.dra_attributes.driver)) for device in devices} - {None}
    return [Software(rule.vendor, "driver", str(version), driver) for version in sorted(map(str, versions))[:1]]
