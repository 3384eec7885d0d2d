"""Quantities as people and templates write them ("0.5", "16Gi", "2"), read strictly into integer base units.

CPU becomes milli-CPU, memory bytes, a count a whole number. Kubernetes' notation, but far less of it: ASCII
only, no sign, no exponent, no spaces, at most 16 characters, checked before any library or big number sees
the text (`NaN`, `1e999999`, Arabic digits and `1_000` pass the usual parsers). Pure: no Django, no I/O.
"""

import re
from typing import Any

from portal.lib.text import BadInput, gettext_noop

MAX_LENGTH = 16
MIB = 1 << 20
CPU_MIN_MILLI = 1
CPU_MAX_MILLI = 1_024_000
MEMORY_MIN_BYTES = MIB
MEMORY_MAX_BYTES = 64 << 40
COUNT_MAX = 999_999_999

_GRAMMAR = re.compile(r"(0|[1-9][0-9]{0,8})(?:\.([0-9]{1,3}))?(m|k|M|G|T|Ki|Mi|Gi|Ti|Pi)?", re.ASCII)
_WHOLE = re.compile(r"0|[1-9][0-9]{0,8}", re.ASCII)
_DECIMAL_UNITS = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}
_BINARY_UNITS = {"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40, "Pi": 1 << 50}
_MEMORY_UNITS = _DECIMAL_UNITS | _BINARY_UNITS
_CPU_UNITS_MILLI = {"": 1000, "m": 1}

NOT_TEXT = gettext_noop('Write the amount as text, such as "{example}".')
NOT_A_QUANTITY = gettext_noop('This is not an amount. Write digits and a unit, such as "{example}", without spaces.')
NOT_WHOLE = gettext_noop("Write a whole number from {minimum} to {maximum}.")
UNIT_NOT_ALLOWED = gettext_noop('The unit "{unit}" does not fit here. Allowed: {units}.')
TOO_FINE = gettext_noop('"{given}" is finer than one thousandth of a core. Write at most three decimals.')
TOO_SMALL = gettext_noop('"{given}" is below the smallest amount, {minimum}.')
TOO_LARGE = gettext_noop('"{given}" is above the largest amount, {maximum}.')


class BadQuantity(BadInput):
    """A refused amount. Facts name the bounds; the text itself only once it is known short plain ASCII."""


def parse_cpu(value: object, *, minimum: int = CPU_MIN_MILLI, maximum: int = CPU_MAX_MILLI) -> int:
    """Milli-CPU of a text such as "2", "0.5" or "500m"; bounds are inclusive. Raises BadQuantity."""
    text, digits, scale, unit = _read(value, _CPU_UNITS_MILLI, example="0.5")
    milli, rest = divmod(digits * _CPU_UNITS_MILLI[unit], scale)
    if rest:
        raise BadQuantity("QuantityTooFine", TOO_FINE, {"given": text})
    return _within(milli, text, (minimum, write_cpu(minimum)), (maximum, write_cpu(maximum)))


def parse_memory(value: object, *, minimum: int = MEMORY_MIN_BYTES, maximum: int = MEMORY_MAX_BYTES) -> int:
    """Bytes of a text such as "16Gi" or "1.5G", a part of a byte counted as one, as Kubernetes does.

    Bounds in bytes, inclusive. Raises BadQuantity.
    """
    text, digits, scale, unit = _read(value, _MEMORY_UNITS, example="16Gi")
    amount = -(-digits * _MEMORY_UNITS[unit] // scale)
    return _within(amount, text, (minimum, write_memory(minimum)), (maximum, write_memory(maximum)))


def parse_count(value: object, *, maximum: int, minimum: int = 1) -> int:
    """A whole number of devices or members, from text or a JSON integer. Raises BadQuantity."""
    facts = {"minimum": minimum, "maximum": maximum}
    if isinstance(value, str):
        if len(value) > MAX_LENGTH or not _WHOLE.fullmatch(value):
            raise BadQuantity("NotWholeNumber", NOT_WHOLE, facts)
        value = int(value)
    if type(value) is not int:  # bool is an int to isinstance
        raise BadQuantity("NotWholeNumber", NOT_WHOLE, facts)
    if not -COUNT_MAX <= value <= COUNT_MAX:  # too long to be quoted
        raise BadQuantity("NotWholeNumber", NOT_WHOLE, facts)
    return _within(value, str(value), (minimum, str(minimum)), (maximum, str(maximum)))


def write_cpu(milli: int) -> str:
    """Cores as a person writes them, which `parse_cpu` reads back as the same amount: "2", "1.5", "0.25"."""
    _natural(milli)
    return _decimal(milli, 1000)


def write_memory(amount: int) -> str:
    """The shortest binary text for bytes, exact for whole MiB, else rounded up to the next: "1.5Gi"."""
    _natural(amount)
    mebibytes = -(-amount // MIB)
    for unit, size in (("Ti", 1 << 20), ("Gi", 1 << 10)):
        if mebibytes >= size and mebibytes * 1000 % size == 0:
            return _decimal(mebibytes * 1000 // size, 1000) + unit
    return f"{mebibytes}Mi"


def format_cpu(milli: int) -> str:
    """Cores for display, exact: "0.5", "16". The face adds the unit and localises."""
    return ("-" if milli < 0 else "") + _decimal(abs(milli), 1000)


def format_bytes(amount: int) -> str:
    """Bytes for display in the largest binary unit, at most two decimals, half up: "1.5 GiB", "512 B"."""
    sign, size = ("-" if amount < 0 else ""), abs(amount)
    unit, factor = "B", 1
    for larger, step in _BINARY_UNITS.items():
        # 1023.995 KiB would be shown as 1024 KiB: it is 1 MiB.
        if (size * 200 + factor) // (2 * factor) < 102_400:
            break
        unit, factor = f"{larger}B", step
    return f"{sign}{_decimal((size * 200 + factor) // (2 * factor), 100)} {unit}"


def _read(value: object, units: dict[str, int], *, example: str) -> tuple[str, int, int, str]:
    """Text, digits without the point, their scale, and unit: the amount is digits / scale × unit."""
    facts = {"example": example}
    if not isinstance(value, str):
        raise BadQuantity("QuantityNotText", NOT_TEXT, facts)
    match = _GRAMMAR.fullmatch(value) if len(value) <= MAX_LENGTH else None
    if match is None:
        raise BadQuantity("NotAQuantity", NOT_A_QUANTITY, facts)
    whole, fraction, unit = match[1], match[2] or "", match[3] or ""
    if unit not in units:
        allowed = ", ".join(name for name in units if name)
        raise BadQuantity("UnitNotAllowed", UNIT_NOT_ALLOWED, {"unit": unit, "units": allowed})
    return match[0], int(whole + fraction), 10 ** len(fraction), unit


def _within(amount: int, text: str, low: tuple[int, str], high: tuple[int, str]) -> int:
    facts: dict[str, Any] = {"given": text, "minimum": low[1], "maximum": high[1]}
    if amount < low[0]:
        raise BadQuantity("QuantityTooSmall", TOO_SMALL, facts)
    if amount > high[0]:
        raise BadQuantity("QuantityTooLarge", TOO_LARGE, facts)
    return amount


def _natural(amount: int) -> None:
    if amount < 0:
        raise ValueError(f"an amount cannot be negative: {amount}")


def _decimal(amount: int, scale: int) -> str:
    """amount / scale without trailing zeros; scale is a power of ten."""
    whole, rest = divmod(amount, scale)
    if not rest:
        return str(whole)
    return f"{whole}.{rest:0{len(str(scale)) - 1}d}".rstrip("0")
