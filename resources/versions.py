"""Ranges of versions as a runtime states what it needs: ">=535.86, <600". Pure."""

import re
from collections.abc import Callable
from typing import Final

from portal.lib.text import NOT_TEXT, BadInput, gettext_noop

LONGEST: Final = 120
MOST: Final = 4
NOT_A_RANGE = gettext_noop('Write bounds such as ">=535.86, <600", at most {most}, with numbers and dots only.')
_BOUND = re.compile(r"(>=|<=|>|<|=)\s*([0-9]{1,9}(?:\.[0-9]{1,9}){0,5})", re.ASCII)
# Leading numbers decide; what vendors write behind them ("-ubuntu", "rc1") does not.
_VERSION = re.compile(r"v?([0-9]{1,9}(?:\.[0-9]{1,9}){0,5})(?![0-9])", re.ASCII)
_HOLDS: Final[dict[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]]] = {
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
    return ", ".join(f"{bound[1]}{bound[2]}" for bound in bounds if bound)


def within(version: str, stated: str) -> bool | None:
    """Whether a version lies within a cleaned range; None where that cannot be told. Without bounds every one does."""
    if not stated:
        return True
    found = _VERSION.match(version)
    if not found:
        return None
    have = _numbers(found[1])
    bounds = (_BOUND.fullmatch(part.strip()) for part in stated.split(","))
    return all(bound is not None and _HOLDS[bound[1]](have, _numbers(bound[2])) for bound in bounds)


def _numbers(text: str) -> tuple[int, ...]:
    """Without zeros at the end: 535 is 535.0."""
    parts = [int(part) for part in text.split(".")]
    while parts and not parts[-1]:
        parts.pop()
    return tuple(parts)
