"""Quantities as the Kubernetes API writes them, read exactly into integers and rounded up.

Wider than `resources.quantities` (the API writes "128974848000m" and "1k") and as strict: ASCII, no sign, at most
`MAX_LENGTH` characters, no float, nothing above a signed 64-bit integer, and no way to build a huge number.
"""

import re

MAX_LENGTH = 32
MAX_AMOUNT = 2**63 - 1
MAX_DEVICES = 1_000_000
MAX_EXPONENT = 18

_GRAMMAR = re.compile(
    r"([0-9]{1,20})(?:\.([0-9]{0,9}))?(?:(n|u|m|k|M|G|T|P|E|Ki|Mi|Gi|Ti|Pi|Ei)|[eE]([+-]?[0-9]{1,2}))?", re.ASCII
)
_DECIMAL = {"n": -9, "u": -6, "m": -3, "": 0, "k": 3, "M": 6, "G": 9, "T": 12, "P": 15, "E": 18}
_BINARY = {"Ki": 1 << 10, "Mi": 1 << 20, "Gi": 1 << 30, "Ti": 1 << 40, "Pi": 1 << 50, "Ei": 1 << 60}


class BadAmount(ValueError):
    """An amount that was not read; `reason` is a name of `reasons.SENTENCES`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


def milli(value: object) -> int:
    """Thousandths of a quantity, rounded up. Raises BadAmount."""
    return _scaled(value, 1000)


def whole(value: object) -> int:
    """A quantity in whole units (bytes), rounded up. Raises BadAmount."""
    return _scaled(value, 1)


def devices(value: object) -> int:
    """A count of devices, exact. Raises BadAmount, also when it is no whole number or beyond any machine."""
    top, bottom = _fraction(value)
    count, rest = divmod(top, bottom)
    if rest:
        raise BadAmount("AmountNotWhole")
    if count > MAX_DEVICES:
        raise BadAmount("AmountTooLarge")
    return count


def _scaled(value: object, factor: int) -> int:
    top, bottom = _fraction(value)
    amount = -(-top * factor // bottom)
    if amount > MAX_AMOUNT:
        raise BadAmount("AmountTooLarge")
    return amount


def _fraction(value: object) -> tuple[int, int]:
    """The amount as numerator and denominator."""
    if type(value) is int:  # a bool is no amount
        if value < 0:
            raise BadAmount("AmountNegative")
        if value > MAX_AMOUNT:
            raise BadAmount("AmountTooLarge")
        return value, 1
    if not isinstance(value, str):
        raise BadAmount("AmountUnreadable")
    match = _GRAMMAR.fullmatch(value) if len(value) <= MAX_LENGTH else None
    if match is None:
        raise BadAmount(
            "AmountNegative" if value[:1] == "-" and _GRAMMAR.fullmatch(value[1:33]) else "AmountUnreadable"
        )
    digits, bottom = int(match[1] + (match[2] or "")), 10 ** len(match[2] or "")
    if match[3] in _BINARY:
        return digits * _BINARY[match[3]], bottom
    exponent = int(match[4]) if match[4] else _DECIMAL[match[3] or ""]
    if abs(exponent) > MAX_EXPONENT:
        raise BadAmount("AmountTooLarge" if exponent > 0 and digits else "AmountUnreadable")
    return (digits * 10**exponent, bottom) if exponent >= 0 else (digits, bottom * 10**-exponent)
