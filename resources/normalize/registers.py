"""Annotations in which sharing layers list each card: HAMi's and Volcano's colon and JSON forms, MetaX, Enflame.

A list that was cut off or damaged is read as far as its records are whole, and marked malformed.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from resources.normalize.amounts import BadAmount, devices, whole
from resources.normalize.catalogue import Catalogue, RegisterRule
from resources.normalize.documents import MAX_ENTRIES, parse_value, plain

_TRUTH = {"true": True, "false": False, "True": True, "False": False}
_HANDSHAKES = {"Requesting": "HandshakeRequesting", "Deleted": "HandshakeDeleted"}


@dataclass(frozen=True, slots=True)
class Card:
    """One card as a list has it; memory in MiB, cores in percent as far as the plugin keeps to that."""

    id: str
    slots: int | None
    memory_mib: int | None
    cores: int | None
    model: str | None
    healthy: bool | None


@dataclass(frozen=True, slots=True)
class Register:
    """The cards of one annotation. `stale` is a reason when the plugin did not answer its last handshake."""

    vendor: str
    source: str
    resource: re.Pattern[str]
    main: str | None
    sharing: str | None
    cards: tuple[Card, ...]
    malformed: bool
    stale: str | None

    @property
    def slots(self) -> int | None:
        """Of all cards together; None when a card does not say."""
        counts = [card.slots for card in self.cards if card.slots is not None]
        return sum(counts) if len(counts) == len(self.cards) else None


class _Damaged(ValueError):
    """A record that is not whole."""


def read_registers(annotations: Mapping[str, str], catalogue: Catalogue) -> tuple[Register, ...]:
    """Every annotation that a row of the catalogue knows, in the order of the annotations' names."""
    found = []
    for key, text in annotations.items():
        for rule in catalogue.registers:
            if match := rule.match.fullmatch(key):
                words = {name: word or "" for name, word in match.groupdict().items()}
                found.append(_read(rule, key, text, words, annotations, catalogue))
                break
    return tuple(found)


def _read(
    rule: RegisterRule, key: str, text: str, words: Mapping[str, str], annotations: Mapping[str, str], book: Catalogue
) -> Register:
    safe = {name: re.escape(word) for name, word in words.items()}
    json_form = text.lstrip()[:1] in ("[", "{")
    records = _json_records(rule, text, book) if json_form else _colon_records(rule, text, book)
    cards: dict[str, Card] = {}
    malformed = False
    for record in records:
        card = _card(record, rule.prefixes) if record is not None else None
        malformed |= card is None or card.id in cards
        if card is not None:
            cards.setdefault(card.id, card)
    return Register(
        vendor=rule.vendor,
        source=key,
        resource=re.compile(_filled(rule.resource, safe)),
        main=_filled(rule.main, words) if rule.main else None,
        sharing=rule.sharing or None,
        cards=tuple(cards.values()),
        malformed=malformed,
        stale=_stale(rule, safe, annotations),
    )


def _filled(pattern: str, words: Mapping[str, str]) -> str:
    """The pattern with {name} of each word; str.format would trip over the braces of repetitions."""
    for name, word in words.items():
        pattern = pattern.replace(f"{{{name}}}", word)
    return pattern


def _stale(rule: RegisterRule, words: Mapping[str, str], annotations: Mapping[str, str]) -> str | None:
    if rule.handshake is None:
        return None
    pattern = re.compile(_filled(rule.handshake, words))
    said = next((text for key, text in annotations.items() if pattern.fullmatch(key)), "")
    return _HANDSHAKES.get(said.split("_")[0])


def _colon_records(rule: RegisterRule, text: str, book: Catalogue) -> Iterator[Mapping[str, Any] | None]:
    forms = sorted(rule.columns or book.columns, key=len, reverse=True)
    for part in text.split(":")[:MAX_ENTRIES]:
        if part.strip():
            values = part.split(",")
            columns = next((form for form in forms if len(form) <= len(values)), None)
            yield dict(zip(columns, values, strict=False)) if columns else None


def _json_records(rule: RegisterRule, text: str, book: Catalogue) -> Iterator[Mapping[str, Any] | None]:
    found = parse_value(text)
    if rule.list_at and isinstance(found, dict):
        found = found.get(rule.list_at)
    if not isinstance(found, list) or len(found) > MAX_ENTRIES:
        yield None
        return
    for entry in found:
        yield _named(entry, book.fields) if isinstance(entry, dict) else None


def _named(entry: Mapping[str, Any], aliases: Mapping[str, tuple[str, ...]]) -> Mapping[str, Any]:
    known = ((name, next((entry[key] for key in keys if key in entry), None)) for name, keys in aliases.items())
    return {name: value for name, value in known if value is not None}


def _card(record: Mapping[str, Any], prefixes: tuple[str, ...]) -> Card | None:
    try:
        identity = plain(record.get("id"))
        if identity is None:
            return None
        return Card(
            id=identity,
            slots=_number(record, "count", devices),
            memory_mib=_number(record, "memory", whole) or None,
            cores=_number(record, "cores", whole),
            model=_model(record, prefixes),
            healthy=_healthy(record),
        )
    except (BadAmount, _Damaged):
        return None


def _number(record: Mapping[str, Any], name: str, read: Any) -> int | None:
    return int(read(record[name])) if name in record else None


def _model(record: Mapping[str, Any], prefixes: tuple[str, ...]) -> str | None:
    """The type without the sharing layer's own prefix ("NVIDIA-NVIDIA A100", "MLU-MLU370-X4")."""
    if "model" not in record:
        return None
    model = plain(record["model"])
    if model is None:
        raise _Damaged
    for prefix in prefixes:
        if model.startswith(prefix) and len(model) > len(prefix):
            return model.removeprefix(prefix)
    return model


def _healthy(record: Mapping[str, Any]) -> bool | None:
    said = record.get("health")
    if said is None or isinstance(said, bool):
        return said
    if said not in _TRUTH:
        raise _Damaged
    return _TRUTH[said]
