"""What people may write about clusters, pools and classes; refusals name their field."""

from collections.abc import Callable, Mapping
from typing import Any, Final

from django.utils.translation import gettext_lazy as _

from portal.lib.errors import FieldError, Invalid
from portal.lib.text import BadInput, clean_line, clean_name, clean_note, clean_slug, gettext_noop
from resources.declared_inputs import DECLARED_READERS
from resources.pairs import clean_pairs

LONGEST_NAME: Final = 120
LONGEST_LINE: Final = 200
LONGEST_NOTE: Final = 1_000
MATCHABLE: Final = ("resource_name", "vendor", "kind", "model")
LANGUAGES: Final = ("en", "zh-hans")
NO_NAMES = gettext_noop("Give a name for en, and one for zh-hans if there is one.")
RESERVED: Final = ("new",)
IS_RESERVED = gettext_noop("{name} stands for something else in addresses. Choose another.")
TAKEN = _("{name} is taken. Choose another.")
BAD_MEMORY = gettext_noop("Write a whole number of bytes, or 0 where there is none.")


def read_names(value: object) -> dict[str, str]:
    """A name in English and, where there is one, in Chinese."""
    if not isinstance(value, Mapping) or not set(value) <= set(LANGUAGES) or not value.get("en"):
        raise BadInput("NotNames", NO_NAMES)
    return {code: clean_name(text, maximum=LONGEST_NAME) for code, text in value.items() if text}


def read_key(value: object) -> str:
    """A key that can stand in an address beside the pages of its list."""
    key = clean_slug(value)
    if key in RESERVED:
        raise BadInput("Reserved", IS_RESERVED, {"name": key})
    return key


def read_memory(value: object) -> int | None:
    """Bytes of one device; 0 is none, which is stored as null."""
    if type(value) is not int or not 0 <= value < 1 << 62:
        raise BadInput("NotWholeNumber", BAD_MEMORY)
    return value or None


READERS: Mapping[str, Callable[[Any], Any]] = {
    "key": read_key,
    "name": read_names,
    "title": lambda value: clean_name(value, maximum=LONGEST_NAME),
    "selector": clean_pairs,
    "match": lambda value: clean_pairs(value, MATCHABLE),
    "memory_bytes": read_memory,
    "vendor": lambda value: clean_line(value, maximum=60),
    "model": lambda value: clean_line(value, maximum=120),
    "maintainer": lambda value: clean_line(value, maximum=LONGEST_LINE),
    "location": lambda value: clean_line(value, maximum=LONGEST_LINE),
    "note": lambda value: clean_note(value, maximum=LONGEST_NOTE),
    **DECLARED_READERS,
}


def checked(**given: object) -> dict[str, Any]:
    """The values of these fields, cleaned; None is left out. Raises Invalid with every field that is refused."""
    values: dict[str, Any] = {}
    errors: list[FieldError] = []
    for name, value in given.items():
        if value is None:
            continue
        try:
            values[name] = READERS[name](value)
        except BadInput as bad:
            errors.append(FieldError(name, bad.reason, _(bad.template), bad.facts))
    if errors:
        raise Invalid.of(*errors)
    return values


def taken(field: str, value: str) -> Invalid:
    """The refusal of a value that must be unique and is not."""
    return Invalid.of(FieldError(field, "Taken", TAKEN, {"name": value}))


def changed(before: Mapping[str, Any], after: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Both sides with only the fields that differ."""
    names = [name for name in after if before.get(name) != after[name]]
    return {name: before.get(name) for name in names}, {name: after[name] for name in names}
