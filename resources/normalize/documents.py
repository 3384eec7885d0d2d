"""Documents from outside: text into plain data, and plain data into the few parts a reader wants.

A part of the wrong type counts as absent and leaves a reason; only what is no document at all is refused.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn

from resources.normalize.facts import Reason

MAX_TEXT = 16 << 20  # characters of a document
MAX_ANNOTATION = 256 << 10  # the API server's own limit for all annotations of an object
MAX_LABEL = 256  # values have at most 63, keys at most 317 characters
MAX_KEY = 317
MAX_ENTRIES = 10_000


class RefusedDocument(ValueError):
    """A document that cannot be read at all; `reason` is a name of `reasons.SENTENCES`."""

    def __init__(self, reason: str, **facts: str | int) -> None:
        super().__init__(reason)
        self.reason = Reason(reason, facts)


@dataclass(slots=True)
class Problems:
    """Collects what could not be read, by field, once each."""

    fields: dict[str, str] = field(default_factory=dict)

    def add(self, where: str, reason: str = "FieldUnreadable") -> None:
        self.fields.setdefault(where, reason)

    def reasons(self) -> tuple[Reason, ...]:
        return tuple(Reason(reason, {"field": where}) for where, reason in sorted(self.fields.items()))


def parse_document(text: str) -> dict[str, Any]:
    """A JSON object. Numbers with a point or exponent stay text, so that none is changed. Raises RefusedDocument."""
    if len(text) > MAX_TEXT:
        raise RefusedDocument("DocumentTooLarge", maximum=MAX_TEXT)
    try:
        found = json.loads(text, parse_float=str, parse_constant=_refuse_constant, object_pairs_hook=_unique)
    except RefusedDocument:
        raise
    except (ValueError, RecursionError) as error:
        raise RefusedDocument("NotJson") from error
    if not isinstance(found, dict):
        raise RefusedDocument("NotAnObject")
    return found


def parse_value(text: str) -> Any:
    """JSON inside an annotation or ConfigMap; None when it is none."""
    try:
        return json.loads(text, parse_float=str, parse_constant=_refuse_constant) if len(text) <= MAX_TEXT else None
    except (ValueError, RecursionError):
        return None


def mapping(value: object, where: str, problems: Problems) -> Mapping[str, Any]:
    """`value` when it is a mapping; else an empty one, and a problem unless it is absent."""
    if isinstance(value, Mapping):
        return value
    if value is not None:
        problems.add(where)
    return {}


def items(value: object, where: str, problems: Problems) -> list[Mapping[str, Any]]:
    """The mappings of a list; anything else in it is a problem."""
    if value is None:
        return []
    if not isinstance(value, list | tuple) or len(value) > MAX_ENTRIES:
        problems.add(where)
        return []
    found = [entry for entry in value if isinstance(entry, Mapping)]
    if len(found) < len(value):
        problems.add(where)
    return found


def texts(value: object, where: str, problems: Problems, *, longest: int = MAX_LABEL) -> dict[str, str]:
    """Labels or annotations in the order of their keys, without empty values: an empty label is an absent one."""
    raw = mapping(value, where, problems)
    if len(raw) > MAX_ENTRIES:
        problems.add(where)
        return {}
    found = {}
    for key, text in _sorted(raw, where, problems):
        if text is None or text == "":
            continue
        if not isinstance(text, str) or len(text) > longest:
            problems.add(f"{where}[{key}]")
        else:
            found[key] = text
    return found


def resources(value: object, where: str, problems: Problems) -> dict[str, Any]:
    """A resource list in the order of its keys; amounts are judged by who reads them."""
    raw = mapping(value, where, problems)
    if len(raw) > MAX_ENTRIES:
        problems.add(where)
        return {}
    return dict(_sorted(raw, where, problems))


def plain(value: object, longest: int = MAX_LABEL) -> str | None:
    """Text that can be shown on one line, else None."""
    return value if isinstance(value, str) and 0 < len(value) <= longest and value.isprintable() else None


def _sorted(raw: Mapping[Any, Any], where: str, problems: Problems) -> Iterable[tuple[str, Any]]:
    keys = [key for key in raw if plain(key, MAX_KEY)]
    if len(keys) < len(raw):
        problems.add(where)
    return ((key, raw[key]) for key in sorted(keys))


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):  # readers would differ on which one counts
        raise RefusedDocument("DuplicateKey")
    return found
