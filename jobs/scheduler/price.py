"""What a job costs per hour, from the rates of the snapshot."""

from __future__ import annotations

from collections.abc import Iterable
from fractions import Fraction

from jobs.scheduler.snapshot import Line, Rate


def price_per_hour(lines: Iterable[Line], rates: Iterable[Rate]) -> int | None:
    """Millionths of the currency per hour for these amounts, halves rounded up; None when a line is unrated."""
    by_axis = {rate.axis: Fraction(rate.micro, rate.per) for rate in rates}
    price = Fraction(0)
    for axis, amount in lines:
        if axis not in by_axis:
            return None
        price += amount * by_axis[axis]
    return int(price + Fraction(1, 2))
