"""Ranges of versions as a runtime states what it needs: ">=535.86, <600". Pure."""

import re
from collections.abc import Callable
from typing import Final

from portal.lib.text import NOT_TEXT, BadInput, gettext_noop

LONGEST: Final = 120
MOST: Final = 4
NOT_A_RANGE = gettext_noop(
    'Write bounds such as ">=535.86, <600" or ">=24.1.rc2", at most {most}, with numbers, dots and rc only.'
)
_NUMBERS = r"([0-9]{1,9}(?:\.[0-9]{1,9}){0,5})(?:[.-]?rc([0-9]{1,9}))?"
_BOUND = re.compile(rf"(>=|<=|>|<|=)\s*{_NUMBERS}", re.ASCII | re.IGNORECASE)
# Leading numbers decide, and whether it is a candidate of that release: it comes before it. What vendors write behind
# them ("-ubuntu") does not.
_VERSION = re.compile(rf"v?{_NUMBERS}(?![0-9])", re.ASCII | re.IGNORECASE)
_RELEASED: Final = 1 << 62
Version = tuple[tuple[int, ...], int]
"""The numbers without zeros at the end, and the number of the candidate: 535 is 535.0, and 24.1.rc2 before 24.1."""
_HOLDS: Final[dict[str, Callable[[Version, Version], bool]]] = {
    ">=": lambda a, b: a >= b,
    "<=": lambda a, b: a <= b,
    ">": lambda a, b: a > b,
    "<": lambda a, b: a < b,
    "=": lambda a, b: a == b,
}


def clean_range(value: object) -> str:
    """The bounds in one form; "" is none. Raises BadInput."""
    if not isinstance(value, str):
        raise BadInput("NotText", NOT_TEXT)
    if not value.strip():
        return ""
    bounds = [_BOUND.fullmatch(part.strip()) for part in value.split(",")] if len(value) <= LONGEST else [None]
    if len(bounds) > MOST or None in bounds:
        raise BadInput("NotARange", NOT_A_RANGE, {"most": MOST})
    return ", ".join(f"{b[1]}{b[2]}{f'.rc{b[3]}' if b[3] else ''}" for b in bounds if b)


def within(version: str, stated: str) -> bool | None:
    """Whether a version lies within a cleaned range; None where that cannot be told. Without bounds every one does."""
    if not stated:
        return True
    have = read_version(version)
    if have is None:
        return None
    bounds = (_BOUND.fullmatch(part.strip()) for part in stated.split(","))
    return all(bound is not None and _HOLDS[bound[1]](have, _parts(bound[2], bound[3])) for bound in bounds)


def read_version(text: str) -> Version | None:
    """A version as vendors write it, so that versions can be compared; None for what begins with no number."""
    found = _VERSION.match(text)
    return _parts(found[1], found[2]) if found else None


def _parts(numbers: str, candidate: str | None) -> Version:
    parts = [int(part) for part in numbers.split(".")]
    while parts and not parts[-1]:
        parts.pop()
    return tuple(parts), int(candidate) if candidate else _RELEASED
