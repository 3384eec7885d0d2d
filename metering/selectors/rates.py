"""Rates as the pure rating code takes them."""

from datetime import datetime

from metering.rating import Rate
from resources.selectors.rates import UNIT_OF, rates_between


def rates_by_axis(start: datetime, end: datetime) -> dict[tuple[str, str], list[Rate]]:
    """Versions valid at any moment of [start, end), by class and resource. One query."""
    found: dict[tuple[str, str], list[Rate]] = {}
    for row in rates_between(start, end):
        rate = Rate(
            key=str(row.pk),
            start=row.valid_from,
            end=row.valid_to,
            price_micro=row.price_micro,
            weight_micro=row.weight_micro,
            currency=row.currency,
            per=UNIT_OF[row.resource],
        )
        found.setdefault((row.class_key, row.resource), []).append(rate)
    return found
