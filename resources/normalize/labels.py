"""Facts that labels tell about a vendor's cards, by the rows of the catalogue. Empty labels were dropped before."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from resources.normalize.amounts import BadAmount, whole
from resources.normalize.catalogue import Catalogue, LabelRule
from resources.normalize.documents import plain
from resources.normalize.facts import Software

MAX_CARDS = 4096
_PROVING = ("model", "memory", "count", "device_id")  # facts that nothing says where there is no card


@dataclass(frozen=True, slots=True)
class Told:
    """A value and the label it came from."""

    value: str
    source: str

    @property
    def number(self) -> int | None:
        """The value as a whole number; None when it is none, or 0: a label's 0 is no measurement."""
        try:
            return whole(self.value) or None
        except BadAmount:
            return None


@dataclass(slots=True)
class VendorLabels:
    """What labels say about one vendor's cards; memory in bytes."""

    told: dict[str, Told] = field(default_factory=dict)
    below_name: bool = False
    memory_of: dict[str, Told] = field(default_factory=dict)  # by profile
    memory_per_node: bool = False
    profile_sharing: str | None = None
    shared_name: bool = False
    unhealthy: list[Told] = field(default_factory=list)
    mixed: set[str] = field(default_factory=set)
    software: list[Software] = field(default_factory=list)
    evidence: str | None = None

    def number(self, fact: str) -> int | None:
        """A fact as a whole number above 0."""
        return self.told[fact].number if fact in self.told else None

    def text(self, fact: str) -> str | None:
        return self.told[fact].value if fact in self.told else None

    def source(self, fact: str) -> str:
        return self.told[fact].source


def read_labels(labels: Mapping[str, str], catalogue: Catalogue) -> dict[str, VendorLabels]:
    """By vendor; vendors of which no label speaks are absent."""
    found: dict[str, VendorLabels] = {}
    for rule in catalogue.labels:
        hits = list(_hits(rule, labels))
        if hits:
            _take(rule, hits, found.setdefault(rule.vendor, VendorLabels()))
    return found


@dataclass(frozen=True, slots=True)
class _Hit:
    key: str
    value: str  # the fact
    cards: int | None  # that have it, where the label counts them
    groups: Mapping[str, str]


def _hits(rule: LabelRule, labels: Mapping[str, str]) -> Iterator[_Hit]:
    if rule.match is None:
        yield from _hits_of_keys(rule, labels)
        return
    prefix = _literal(rule.match.pattern)
    for key, text in labels.items():
        if key.startswith(prefix) and (match := rule.match.fullmatch(key)):
            groups = {name: part for name, part in match.groupdict().items() if part}
            if rule.read == "key":
                yield _Hit(key, groups.get("m", ""), Told(text, key).number, groups)
            elif rule.value is None or rule.value.fullmatch(text):
                yield _Hit(key, groups.get("m", text), None, groups)


def _hits_of_keys(rule: LabelRule, labels: Mapping[str, str]) -> Iterator[_Hit]:
    present = [key for key in rule.keys if key in labels]
    if not present or (len(present) < len(rule.keys) and not rule.either):
        return
    text = labels[present[0]] if rule.either else ".".join(labels[key] for key in present)
    if rule.value is None:
        yield _Hit(present[0], text, None, {})
    elif match := rule.value.fullmatch(text):
        groups = {name: part for name, part in match.groupdict().items() if part}
        yield _Hit(present[0], groups.get("m", text), None, groups)


def _literal(pattern: str) -> str:
    """The plain text a pattern starts with, to pass over most labels quickly."""
    plain_part = re.match(r"(?:[\w/-]|\\\.)*(?![?*{])", pattern)
    literal = plain_part[0] if plain_part else ""
    return "" if "|" in pattern and not literal else literal.replace("\\", "")


def _take(rule: LabelRule, hits: list[_Hit], to: VendorLabels) -> None:
    if rule.evidence and rule.fact in _PROVING:
        _note_evidence(rule, hits, to)
    match rule.fact:
        case "unhealthy":
            to.unhealthy.extend(Told(hit.value, hit.key) for hit in hits)
        case "driver" | "firmware" | "runtime":
            _take_software(rule, hits[0], to)
        case "memory":
            _take_memory(rule, hits, to)
        case "count":
            _take_count(rule, hits, to)
        case "model":
            _take_model(rule, hits, to)
        case "profile":
            _take_profile(rule, rule.as_.format(m=hits[0].value), hits[0].key, to)
        case fact:
            to.told.setdefault(fact, Told(rule.as_.format(m=hits[0].value), hits[0].key))


def _note_evidence(rule: LabelRule, hits: list[_Hit], to: VendorLabels) -> None:
    real = [hit for hit in hits if rule.fact != "count" or Told(hit.value, hit.key).number]
    if real:
        to.evidence = to.evidence or real[0].key


def _take_software(rule: LabelRule, hit: _Hit, to: VendorLabels) -> None:
    part = rule.name or rule.fact
    if plain(hit.value) and all(known.part != part for known in to.software):
        to.software.append(Software(rule.vendor, part, hit.value, hit.key))


def _take_memory(rule: LabelRule, hits: list[_Hit], to: VendorLabels) -> None:
    for hit in hits:
        number = Told(hit.value, hit.key).number
        if number is None:
            continue
        told = Told(str(number * rule.unit), hit.key)
        if "profile" in hit.groups:
            to.memory_of.setdefault(hit.groups["profile"], told)
        else:
            _take_one("memory", told, to)
            to.memory_per_node = to.memory_per_node or rule.per_node
    _count_cards(hits, to)


def _take_count(rule: LabelRule, hits: list[_Hit], to: VendorLabels) -> None:
    numbers = [Told(hit.value, hit.key).number or 0 for hit in hits]
    total, rest = divmod(sum(numbers), rule.divide)
    if "count" not in to.told and not rest and 0 < total <= MAX_CARDS:
        to.told["count"] = Told(str(total), hits[0].key)


def _take_model(rule: LabelRule, hits: list[_Hit], to: VendorLabels) -> None:
    new = "model" not in to.told
    for hit in hits:
        name = plain(hit.value.replace("_", " ") if rule.underscores else hit.value)
        if name:
            _take_one("model", Told(rule.as_.format(m=name), hit.key), to)
    if new and "model" in to.told:
        to.below_name = rule.below_name
        to.shared_name = "shared" in hits[0].groups
        if "profile" in hits[0].groups:
            _take_profile(rule, hits[0].groups["profile"], hits[0].key, to)
    _count_cards(hits, to)


def _take_profile(rule: LabelRule, profile: str, key: str, to: VendorLabels) -> None:
    if "profile" not in to.told and plain(profile):
        to.profile_sharing = rule.profile_sharing
        to.told["profile"] = Told(profile, key)


def _take_one(fact: str, told: Told, to: VendorLabels) -> None:
    """Sets a fact that all cards share; two values from one rule mean that they do not."""
    known = to.told.get(fact)
    if known is None:
        to.told[fact] = told
    elif known.value != told.value and _same_form(known.source, told.source):
        to.mixed.add(fact)


def _same_form(first: str, second: str) -> bool:
    return first.rpartition(".")[0] == second.rpartition(".")[0]


def _count_cards(hits: list[_Hit], to: VendorLabels) -> None:
    cards = sum(hit.cards or 0 for hit in hits)
    if "count" not in to.told and 0 < cards <= MAX_CARDS:
        to.told["count"] = Told(str(cards), hits[0].key)
