"""The keywords of the schema subset: each read into fields of `Param`, or refused with its rule. Pure."""

import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from jobs.params import pattern
from jobs.params.checks import parse_duration
from jobs.params.param import ARTIFACT_KINDS, LANGUAGES, QUANTITY_RESOURCES
from portal.lib import text
from portal.lib.text import BadInput, gettext_noop
from resources import quantities

NAME_LENGTH = 40
NAME = re.compile(r"[a-z][a-z0-9_]{0,39}", re.ASCII)
TITLE_LENGTH = 120
DESCRIPTION_LENGTH = 1_000
UNIT_LENGTH = 20
TEXT_LENGTH = 4_000
PATTERN_VALUE_LENGTH = pattern.MAX_LENGTH
ENTRY_LENGTH = 200
MAX_ITEMS = 100
MAX_OPTIONS = 100
LARGEST_INTEGER = 2**53
"""Beyond this, JavaScript and JSON readers lose whole numbers."""

NOT_WORDS = gettext_noop("Give a text per language: {languages}; at most {maximum} characters each.")
NOT_TEXT = gettext_noop("Give a text of at most {maximum} characters.")
NOT_INTEGER = gettext_noop("Give a whole number from {minimum} to {maximum}.")
NOT_FINITE = gettext_noop("Give a finite number.")
NOT_FLAG = gettext_noop("Give true or false.")
NOT_ONE_OF = gettext_noop("Give one of: {options}.")
NOT_OPTIONS = gettext_noop("Give 1 to {maximum} different texts of at most {length} characters.")
NOT_LABELS = gettext_noop("Give words for options of the enum only.")
NOT_ITEMS = gettext_noop('Give items as {{"type": "string", "maxLength": …}} with at most {maximum} characters.')
MUST_BE_FALSE = gettext_noop("additionalProperties can only be false.")
BAD_BOUND = gettext_noop("The bound is not of the parameter's format ({reason}).")


class BadKeyword(BadInput):
    """One keyword with a value that the subset refuses."""

    def __init__(self, template: str, **facts: Any) -> None:
        super().__init__("BadKeyword", template, facts)


def shown(value: object) -> str:
    """A schema's own word, safe to quote in a message: printable, short."""
    return "".join(char if char.isprintable() else "�" for char in str(value)[:40])


def _title(value: object, maximum: int) -> str:
    try:
        return text.clean_name(value, maximum=maximum)
    except BadInput as bad:
        raise BadKeyword(NOT_TEXT, maximum=maximum) from bad


def _words(value: object, maximum: int) -> dict[str, str]:
    if not isinstance(value, dict) or set(value) != set(LANGUAGES):
        raise BadKeyword(NOT_WORDS, languages=", ".join(LANGUAGES), maximum=maximum)
    return {language: _title(words, maximum) for language, words in value.items()}


def _whole(value: object, minimum: int, maximum: int) -> int:
    if type(value) is not int or not minimum <= value <= maximum:
        raise BadKeyword(NOT_INTEGER, minimum=minimum, maximum=maximum)
    return value


def _flag(value: object) -> bool:
    if not isinstance(value, bool):
        raise BadKeyword(NOT_FLAG)
    return value


def _one_of(value: object, options: tuple[str, ...]) -> str:
    if not isinstance(value, str) or value not in options:
        raise BadKeyword(NOT_ONE_OF, options=", ".join(options))
    return value


def _bound(value: object, raw: Mapping[str, Any]) -> int | float:
    if raw.get("type") == "integer":
        return _whole(value, -LARGEST_INTEGER, LARGEST_INTEGER)
    if type(value) is int:
        return _whole(value, -LARGEST_INTEGER, LARGEST_INTEGER)
    if isinstance(value, float) and math.isfinite(value):
        return value
    raise BadKeyword(NOT_FINITE)


def _text_bound(value: object, raw: Mapping[str, Any]) -> int:
    try:
        if raw.get("format") == "duration":
            return parse_duration(value)
        return quantities.parse_cpu(value) if raw.get("x-resource") == "cpu" else quantities.parse_memory(value)
    except BadInput as bad:
        raise BadKeyword(BAD_BOUND, reason=bad.reason) from bad


def _options(value: object) -> tuple[str, ...]:
    options: tuple[str, ...] = ()
    if isinstance(value, list) and len(value) <= MAX_OPTIONS:
        try:
            options = tuple(text.clean_name(option, maximum=TITLE_LENGTH) for option in value)
        except BadInput:
            options = ()
    if not options or len(set(options)) < len(options):
        raise BadKeyword(NOT_OPTIONS, maximum=MAX_OPTIONS, length=TITLE_LENGTH)
    return options


def _labels(value: object, raw: Mapping[str, Any]) -> dict[str, dict[str, str]]:
    options = raw.get("enum")
    if not isinstance(value, dict) or not isinstance(options, list) or any(key not in options for key in value):
        raise BadKeyword(NOT_LABELS)
    return {option: _words(words, TITLE_LENGTH) for option, words in value.items()}


def _items(value: object) -> int:
    if not isinstance(value, dict) or set(value) != {"type", "maxLength"} or value["type"] != "string":
        raise BadKeyword(NOT_ITEMS, maximum=ENTRY_LENGTH)
    return _whole(value["maxLength"], 1, ENTRY_LENGTH)


def _pattern(value: object) -> str:
    if not isinstance(value, str) or len(value) > pattern.MAX_LENGTH:
        raise BadKeyword(NOT_TEXT, maximum=pattern.MAX_LENGTH)
    try:
        pattern.read_pattern(value)
    except pattern.BadPattern as bad:
        raise BadKeyword(bad.template, **bad.facts) from bad
    return value


Reader = Callable[[Any, Mapping[str, Any]], dict[str, Any]]


def _into(field: str, read: Callable[..., Any], *bounds: Any) -> Reader:
    """A keyword that fills one field of `Param` and looks at nothing else."""
    return lambda value, _raw: {field: read(value, *bounds)}


def _plain(field: str, maximum: int) -> Reader:
    """A plain title or description is for readers of the JSON; both are checked, but `x-` words win."""

    def read(value: Any, raw: Mapping[str, Any]) -> dict[str, Any]:
        words = {"en": _title(value, maximum)}
        return {} if f"x-{field}" in raw else {field: words}

    return read


READERS: Mapping[str, Reader] = {
    "title": _plain("title", TITLE_LENGTH),
    "description": _plain("description", DESCRIPTION_LENGTH),
    "x-title": _into("title", _words, TITLE_LENGTH),
    "x-description": _into("description", _words, DESCRIPTION_LENGTH),
    "x-unit": _into("unit", _words, UNIT_LENGTH),
    "minimum": lambda value, raw: {"minimum": _bound(value, raw)},
    "maximum": lambda value, raw: {"maximum": _bound(value, raw)},
    "x-minimum": lambda value, raw: {"minimum": _text_bound(value, raw)},
    "x-maximum": lambda value, raw: {"maximum": _text_bound(value, raw)},
    "minLength": _into("min_length", _whole, 0, TEXT_LENGTH),
    "maxLength": _into("max_length", _whole, 1, TEXT_LENGTH),
    "pattern": _into("pattern", _pattern),
    "x-multiline": _into("multiline", _flag),
    "enum": _into("options", _options),
    "x-labels": lambda value, raw: {"labels": _labels(value, raw)},
    "items": _into("max_length", _items),
    "minItems": _into("min_items", _whole, 0, MAX_ITEMS),
    "maxItems": _into("max_items", _whole, 1, MAX_ITEMS),
    "uniqueItems": _into("unique", _flag),
    "x-kind": _into("artifact_kind", _one_of, ARTIFACT_KINDS),
    "x-resource": _into("resource", _one_of, QUANTITY_RESOURCES),
}
