"""From a node's resource lists to drafts of device groups: what is a device, what its companion, what neither.

A draft is the only thing here that changes; `cards` and `health` complete it, `DeviceGroup` is made of it once.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from resources.normalize.amounts import BadAmount, devices, whole
from resources.normalize.catalogue import Catalogue, ResourceRule, Vendor
from resources.normalize.facts import CardFacts, Companion, DeviceGroup, Health, Reason, Unrecognised
from resources.normalize.labels import VendorLabels
from resources.normalize.registers import Register

_HOST = ("cpu", "memory", "ephemeral-storage", "storage", "pods")


@dataclass(slots=True)
class Advertised:
    """One resource name with its amounts; None where an amount is unknown, with a reason."""

    resource: str
    total: int | None
    schedulable: int | None
    reasons: list[Reason]

    @property
    def zero(self) -> bool:
        return self.total == 0 and not self.schedulable and not self.reasons


@dataclass(slots=True)
class Draft:
    """A device group in the making."""

    vendor: Vendor
    rule: ResourceRule
    resource: str
    total: int | None
    schedulable: int | None
    reasons: list[Reason]
    kind: str
    sharing: str
    unit: str
    parts: Mapping[str, str]
    labels: VendorLabels
    register: Register | None = None
    model: str | None = None
    memory: int | None = None
    physical: int | None = None
    profile: str | None = None
    cores: int | None = None
    device_id: str | None = None
    requested: int | None = None
    conflict: bool = False
    hinted: bool = False  # only the PCI bus speaks of it
    bad: set[str] = field(default_factory=set)
    cards: tuple[CardFacts, ...] = ()
    sources: dict[str, str] = field(default_factory=dict)

    def say(self, name: str, **facts: str | int) -> None:
        """Adds a reason, once."""
        reason = Reason(name, facts)
        if reason not in self.reasons:
            self.reasons.append(reason)

    def set_physical(self, count: int | None, source: str) -> None:
        self.physical = count
        if count is None:
            self.sources.pop("physical_total", None)
        else:
            self.sources["physical_total"] = source

    def group(self, health: Health) -> DeviceGroup:
        return DeviceGroup(
            vendor=self.vendor.key,
            kind=self.kind,
            resource=self.resource,
            model=self.model,
            memory_bytes=self.memory,
            physical_total=self.physical,
            slots_total=self.total,
            slots_schedulable=self.schedulable,
            sharing=self.sharing,
            health=health,
            verified=self.vendor.verified,
            unit=self.unit,
            profile=self.profile,
            cores=self.cores,
            device_id=self.device_id,
            slots_requested=self.requested,
            reasons=tuple(self.reasons),
            sources=dict(sorted(self.sources.items())),
            cards=self.cards,
        )


@dataclass(slots=True)
class Sorted:
    """A node's resources, each in exactly one place."""

    drafts: list[Draft] = field(default_factory=list)
    companions: list[Companion] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)
    unrecognised: list[Unrecognised] = field(default_factory=list)
    counted: dict[str, list[tuple[ResourceRule, str, int]]] = field(default_factory=dict)  # companions by vendor


def advertised(capacity: Mapping[str, Any] | None, allocatable: Mapping[str, Any] | None) -> list[Advertised]:
    """Every resource beyond the host's own, in the order of names. A block that is None was absent."""
    names = sorted({*(capacity or {}), *(allocatable or {})})
    return [
        _advertised(name, capacity, allocatable)
        for name in names
        if name not in _HOST and not name.startswith("hugepages-")
    ]


def _advertised(name: str, capacity: Mapping[str, Any] | None, allocatable: Mapping[str, Any] | None) -> Advertised:
    reasons: list[Reason] = []
    total = _amount(capacity, name, "capacity", reasons)
    schedulable = _amount(allocatable, name, "allocatable", reasons)
    if capacity is None or name not in capacity:
        total = schedulable
        reasons.append(Reason("CapacityMissing"))
    elif allocatable is not None and name not in allocatable:
        schedulable = 0  # the scheduler grants nothing of what is not listed
    elif allocatable is None:
        reasons.append(Reason("AllocatableMissing"))
    if total is not None and schedulable is not None and schedulable > total:
        reasons.append(Reason("AllocatableAboveCapacity", {"allocatable": schedulable, "capacity": total}))
    return Advertised(name, total, schedulable, [] if total == 0 and not schedulable else reasons)


def _amount(amounts: Mapping[str, Any] | None, name: str, block: str, reasons: list[Reason]) -> int | None:
    if amounts is None or name not in amounts:
        return None
    try:
        return devices(amounts[name])
    except BadAmount as bad:
        reasons.append(Reason(bad.reason, {"field": f"status.{block}.{name}"}))
        return None


def sort_resources(
    found: Iterable[Advertised],
    capacity: Mapping[str, Any],
    labels: Mapping[str, VendorLabels],
    registers: tuple[Register, ...],
    catalogue: Catalogue,
) -> Sorted:
    """Each resource as a draft, a companion, unrecognised or ignored; cards that nothing advertises as drafts too."""
    result = Sorted()
    beside: list[tuple[str, ResourceRule, Advertised]] = []
    for entry in found:
        known = catalogue.rule_of(entry.resource)
        if known is None:
            _unknown(entry, catalogue, result)
        elif known[0].role == "device":
            result.drafts.append(_draft(entry, *known, labels, registers, catalogue))
        elif known[0].role == "companion" and not entry.zero:
            beside.append((entry.resource, known[0], entry))
        else:
            result.ignored.append(entry.resource)
    _drop_left_overs(result)
    _add_unadvertised(result, labels, registers, catalogue)
    _yield(result)
    for name, rule, entry in beside:
        _companion(name, rule, entry, capacity, result)
    result.ignored.sort()
    result.companions.sort(key=lambda companion: companion.resource)
    return result


def _unknown(entry: Advertised, catalogue: Catalogue, result: Sorted) -> None:
    if entry.zero or not catalogue.unrecognised.fullmatch(entry.resource):
        result.ignored.append(entry.resource)
    else:
        result.unrecognised.append(
            Unrecognised(entry.resource, entry.total, entry.schedulable, (*entry.reasons, Reason("NotInCatalogue")))
        )


def _draft(
    entry: Advertised,
    rule: ResourceRule,
    parts: Mapping[str, str],
    labels: Mapping[str, VendorLabels],
    registers: tuple[Register, ...],
    catalogue: Catalogue,
) -> Draft:
    vendor = catalogue.vendors[rule.vendor or ""]
    register = next((one for one in registers if one.resource.fullmatch(entry.resource)), None)
    draft = Draft(
        vendor=vendor,
        rule=rule,
        resource=entry.resource,
        total=entry.total,
        schedulable=entry.schedulable,
        reasons=list(entry.reasons),
        kind=rule.kind or vendor.kind,
        sharing=rule.sharing,
        unit=rule.unit,
        parts=parts,
        labels=labels.get(vendor.key) or VendorLabels(),
        register=register,
        profile=parts.get("profile"),
    )
    if entry.total is not None:
        missing = any(reason.name == "CapacityMissing" for reason in entry.reasons)
        draft.sources["slots_total"] = f"status.{'allocatable' if missing else 'capacity'}.{entry.resource}"
    if entry.schedulable is not None:
        draft.sources["slots_schedulable"] = f"status.allocatable.{entry.resource}"
    return draft


def _drop_left_overs(result: Sorted) -> None:
    """A resource at 0 is a left-over, unless something says that its cards are there and no other name has them."""
    kept: list[Draft] = []
    zeros = [draft for draft in result.drafts if draft.total == 0 and not draft.schedulable]
    kept = [draft for draft in result.drafts if draft not in zeros]
    for draft in sorted(zeros, key=_standing):
        evidence = draft.register or draft.labels.evidence or "present" in draft.labels.told
        if evidence and all(other.vendor.key != draft.vendor.key for other in kept):
            draft.hinted = not (draft.register or draft.labels.evidence)
            kept.append(draft)
        else:
            result.ignored.append(draft.resource)
    result.drafts = sorted(kept, key=lambda draft: draft.resource)


def _standing(draft: Draft) -> tuple[bool, bool, str]:
    """Which of several resources at 0 stands for the vendor's cards."""
    return draft.register is None, draft.resource != draft.vendor.main, draft.resource


def _add_unadvertised(
    result: Sorted, labels: Mapping[str, VendorLabels], registers: tuple[Register, ...], catalogue: Catalogue
) -> None:
    have = {draft.vendor.key for draft in result.drafts}
    names = {one.vendor: one.main or catalogue.vendors[one.vendor].main for one in reversed(registers)}
    for key, told in labels.items():
        if told.evidence or "present" in told.told:
            names.setdefault(key, catalogue.vendors[key].main)
    for key in sorted(names.keys() - have):
        known = catalogue.rule_of(names[key])
        if known is None or known[0].role != "device":
            continue
        draft = _draft(Advertised(names[key], 0, 0, []), *known, labels, registers, catalogue)
        draft.sources.clear()
        draft.register = draft.register or next((one for one in registers if one.vendor == key), None)
        draft.hinted = not (draft.register or draft.labels.evidence)
        result.drafts.append(draft)
        if draft.resource in result.ignored:  # advertised at 0, and now it stands for the cards
            result.ignored.remove(draft.resource)


def _yield(result: Sorted) -> None:
    """Resources that count the same silicon as another one become its companions."""
    for draft in list(result.drafts):
        owner = next((one for one in result.drafts if one is not draft and _stands_for(one, draft)), None)
        if owner is None:
            continue
        result.drafts.remove(draft)
        unit = draft.rule.companion_unit or draft.rule.unit
        if isinstance(draft.rule.cards, int) and draft.total:  # its units make whole cards, so it counts them
            counting = replace(draft.rule, counts=draft.rule.cards)
            result.counted.setdefault(draft.vendor.key, []).append((counting, draft.resource, draft.total))
        if owner.sharing == "shared-unknown":
            owner.sharing = draft.sharing
        result.companions.append(Companion(draft.resource, owner.resource, unit, draft.total))
        if draft.rule.cores and draft.total is not None:
            owner.cores = draft.total
            owner.sources["cores"] = f"status.capacity.{draft.resource}"


def _stands_for(owner: Draft, draft: Draft) -> bool:
    return bool(draft.rule.yields and draft.rule.yields.fullmatch(owner.resource) and owner.total)


def _companion(name: str, rule: ResourceRule, entry: Advertised, capacity: Mapping[str, Any], result: Sorted) -> None:
    owners = [one for one in result.drafts if rule.vendor in (None, one.vendor.key)]
    shared = [one for one in owners if not one.rule.exclusive] or owners
    total = entry.total
    if total is None:
        try:  # memory may be written in bytes, beyond any count of devices
            total = whole(capacity.get(name))
        except BadAmount:
            total = None
    result.companions.append(Companion(name, _closest(name, shared), rule.unit, total))
    if rule.vendor and total and (rule.counts or rule.memory_unit_bytes):
        result.counted.setdefault(rule.vendor, []).append((rule, name, total))


def _closest(name: str, owners: list[Draft]) -> str | None:
    """The owner whose name shares the longest beginning with the companion's."""
    if not owners:
        return None

    def shared_length(draft: Draft) -> int:
        pairs = zip(name, draft.resource, strict=False)
        return next((at for at, (left, right) in enumerate(pairs) if left != right), len(draft.resource))

    return max(owners, key=lambda draft: (shared_length(draft), draft.resource)).resource
