"""Names, slugs and lines of teams, projects and people as they may be stored; refusals name their field."""

from collections.abc import Callable, Iterable
from typing import Any, Final

from django.utils.translation import gettext_lazy as _

from portal.lib.errors import FieldError, Invalid
from portal.lib.text import BadInput, clean_line, clean_name, clean_note, clean_slug, name_key

LONGEST_NAME: Final = 120
LONGEST_CONTACT: Final = 200
LONGEST_NOTE: Final = 1_000
ENVIRONMENTS: Final = ("research", "test", "production")

TAKEN = _("{name} is taken. Choose another.")
LOOKS_LIKE = _("{name} looks like {other}, which is there already. Choose another.")


def read_name(value: object) -> str:
    """A display name."""
    return clean_name(value, maximum=LONGEST_NAME)


def read_contact(value: object) -> str:
    """Whom to ask; may be empty."""
    return clean_line(value, maximum=LONGEST_CONTACT)


def read_note(value: object) -> str:
    """The reason a person gave; may be empty where no page asked for one."""
    return clean_note(value, maximum=LONGEST_NOTE)


_READERS: dict[str, Callable[[object], str]] = {
    "name": read_name,
    "slug": clean_slug,
    "contact": read_contact,
    "note": read_note,
}


def checked(**given: object) -> dict[str, str]:
    """The values of these fields, cleaned. Raises Invalid with every field that is refused."""
    values: dict[str, str] = {}
    errors: list[FieldError] = []
    for name, value in given.items():
        try:
            values[name] = _READERS[name](value)
        except BadInput as bad:
            errors.append(FieldError(name, bad.reason, _(bad.template), bad.facts))
    if errors:
        raise Invalid.of(*errors)
    return values


def refuse_lookalike(name: str, others: Iterable[str]) -> None:
    """Raise Invalid when a reader could take the name for one of the others."""
    key = name_key(name)
    other = next((other for other in others if name_key(other) == key), None)
    if other is not None:
        raise Invalid.of(FieldError("name", "NameTaken", LOOKS_LIKE, {"name": name, "other": other}))


def taken(field: str, value: str) -> Invalid:
    """The refusal of a value that must be unique and is not."""
    return Invalid.of(FieldError(field, "Taken", TAKEN, {"name": value}))


def changed(before: dict[str, Any], after: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Both sides with only the fields that differ."""
    names = [name for name in after if before.get(name) != after[name]]
    return {name: before.get(name) for name in names}, {name: after[name] for name in names}
