"""What a rate would have made of use that is entered already."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from metering.rating import amount
from metering.selectors.usage import Scope, use_by_class
from metering.selectors.windows import Window
from resources.models import ResourceClass
from resources.selectors.rates import UNIT_OF


@dataclass(frozen=True, slots=True)
class RateEffect:
    """Use of a class in a window: base units x milliseconds, as entered and at another rate, in millionths.

    `cost` is by currency; what nobody rated is in `unrated`, never counted as 0. `then` is None without a price.
    """

    allocated: int = 0
    unrated: int = 0
    cost: Mapping[str, Decimal] = field(default_factory=dict)
    then: Decimal | None = None


def effect_of_price(resource_class: ResourceClass, price_micro: int | None, window: Window) -> RateEffect:
    """What was entered in the window and what it would cost at that price."""
    for use in use_by_class(Scope(), window):
        if (use.class_key, use.resource) == (resource_class.key, resource_class.resource):
            then = amount(use.allocated, 1, price_micro, UNIT_OF[resource_class.resource])
            return RateEffect(use.allocated, use.unrated, use.cost, then)
    return RateEffect()
