"""One value against one parameter: the typed value, or a `BadInput` with reason, template and facts. Pure.

Values come as JSON has them; texts from a form are turned into those by `values.from_text` first, so that
form and API refuse the same things with the same words.
"""

import math
import re
from collections.abc import Callable, Container
from typing import Any, TypeVar

from jobs.params.param import Kind, Param
from jobs.params.pattern import read_pattern
from portal.lib import text
from portal.lib.text import BadInput, gettext_noop
from resources import quantities

NOT_NUMBER = gettext_noop("Write a number from {minimum} to {maximum}.")
TOO_SMALL = gettext_noop("This is below the smallest value, {minimum}.")
TOO_LARGE = gettext_noop("This is above the largest value, {maximum}.")
NOT_BOOLEAN = gettext_noop("Choose yes or no.")
NOT_A_CHOICE = gettext_noop("Choose one of: {options}.")
TOO_SHORT = gettext_noop("Write at least {minimum} characters.")
PATTERN_MISMATCH = gettext_noop("This does not have the form the template asks for: {pattern}")
NOT_A_LIST = gettext_noop("Give a list of texts.")
TOO_FEW = gettext_noop("Give at least {minimum} entries; there are {count}.")
TOO_MANY = gettext_noop("Give at most {maximum} entries; there are {count}.")
REPEATED = gettext_noop("Entry {position} is given twice.")
NOT_AN_ID = gettext_noop("Choose an entry of the list, or give its id.")
NOT_OFFERED = gettext_noop("This choice does not exist, is of another kind, or is not visible to you.")
NOT_A_DURATION = gettext_noop('This is not a duration. Write a whole number and s, m, h or d, such as "90m".')

UNIT_MS = {"s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_N = TypeVar("_N", int, float)
_DURATION = re.compile(r"([1-9][0-9]{0,6})(s|m|h|d)", re.ASCII)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.ASCII)


def check_value(param: Param, value: object, offered: Container[str] | None = None) -> Any:
    """The typed value: int, float, bool, str or list of str; ms for durations, base units for quantities.

    `offered` holds the ids that may be chosen; None leaves that to the caller. Raises BadInput.
    """
    typed = _CHECKS[param.kind](param, value)
    if offered is not None and typed not in offered:
        raise BadInput("NotOffered", NOT_OFFERED)
    return typed


def parse_duration(value: object) -> int:
    """Milliseconds of "90s", "30m", "2h" or "7d". Raises BadInput."""
    match = _DURATION.fullmatch(value) if isinstance(value, str) and len(value) <= 8 else None
    if match is None:
        raise BadInput("NotADuration", NOT_A_DURATION)
    return int(match[1]) * UNIT_MS[match[2]]


def write_duration(milliseconds: int) -> str:
    """The shortest text `parse_duration` reads back; whole seconds only."""
    for unit in ("d", "h", "m"):
        if milliseconds % UNIT_MS[unit] == 0:
            return f"{milliseconds // UNIT_MS[unit]}{unit}"
    return f"{milliseconds // UNIT_MS['s']}s"


def _text(param: Param, value: object) -> str:
    clean = text.clean_note if param.multiline else text.clean_line
    words = clean(value, maximum=param.max_length)
    if param.required and not text.visible(words):
        raise BadInput("Blank", text.BLANK)
    if words and len(words) < param.min_length:
        raise BadInput("TooShort", TOO_SHORT, {"minimum": param.min_length})
    if words and param.pattern and not read_pattern(param.pattern).matches(words):
        raise BadInput("PatternMismatch", PATTERN_MISMATCH, {"pattern": param.pattern})
    return words


def _choice(param: Param, value: object) -> str:
    if not isinstance(value, str) or value not in param.options:
        raise BadInput("NotAChoice", NOT_A_CHOICE, {"options": ", ".join(param.options)})
    return value


def _bounds(param: Param) -> dict[str, Any]:
    return {"minimum": param.minimum, "maximum": param.maximum}


def _in_range(param: Param, value: _N, shown: Callable[[Any], Any] = lambda bound: bound) -> _N:
    if param.minimum is not None and value < param.minimum:
        raise BadInput("TooSmall", TOO_SMALL, {"minimum": shown(param.minimum), "maximum": shown(param.maximum)})
    if param.maximum is not None and value > param.maximum:
        raise BadInput("TooLarge", TOO_LARGE, {"minimum": shown(param.minimum), "maximum": shown(param.maximum)})
    return value


def _integer(param: Param, value: object) -> int:
    if type(value) is not int:  # True is an int to isinstance
        raise BadInput("NotWholeNumber", quantities.NOT_WHOLE, _bounds(param))
    return _in_range(param, value)


def _number(param: Param, value: object) -> float:
    if type(value) not in (int, float) or not isinstance(value, int | float):
        raise BadInput("NotANumber", NOT_NUMBER, _bounds(param))
    if isinstance(value, float) and not math.isfinite(value):
        raise BadInput("NotANumber", NOT_NUMBER, _bounds(param))
    return float(_in_range(param, value)) + 0.0  # -0.0 becomes 0.0


def _boolean(param: Param, value: object) -> bool:
    if not isinstance(value, bool):
        raise BadInput("NotBoolean", NOT_BOOLEAN)
    return value


def _texts(param: Param, value: object) -> list[str]:
    if not isinstance(value, list):
        raise BadInput("NotAList", NOT_A_LIST)
    facts = {"count": len(value), "minimum": param.min_items, "maximum": param.max_items}
    if len(value) > param.max_items:
        raise BadInput("TooManyEntries", TOO_MANY, facts)
    if len(value) < param.min_items:
        raise BadInput("TooFewEntries", TOO_FEW, facts)
    entries = [text.clean_name(entry, maximum=param.max_length) for entry in value]
    for position, entry in enumerate(entries, start=1):
        if param.unique and entry in entries[: position - 1]:
            raise BadInput("RepeatedEntry", REPEATED, {"position": position})
    return entries


def _id(param: Param, value: object) -> str:
    if not isinstance(value, str) or not _UUID.fullmatch(value):
        raise BadInput("NotAnId", NOT_AN_ID)
    return value


def _duration(param: Param, value: object) -> int:
    return _in_range(param, parse_duration(value), write_duration)


def _quantity(param: Param, value: object) -> int:
    parse = quantities.parse_cpu if param.resource == "cpu" else quantities.parse_memory
    bounds = {"minimum": param.minimum, "maximum": param.maximum}
    return parse(value, **{name: int(bound) for name, bound in bounds.items() if bound is not None})


_CHECKS: dict[Kind, Callable[[Param, object], Any]] = {
    Kind.TEXT: _text,
    Kind.CHOICE: _choice,
    Kind.INTEGER: _integer,
    Kind.NUMBER: _number,
    Kind.BOOLEAN: _boolean,
    Kind.TEXTS: _texts,
    Kind.ARTIFACT: _id,
    Kind.DATASOURCE: _id,
    Kind.DURATION: _duration,
    Kind.QUANTITY: _quantity,
}
