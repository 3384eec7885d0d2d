"""A sum of use of one class: exact, by phase, with what it weighs and costs, and what nobody has rated."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from decimal import Decimal

PHASES = ("startup", "running", "release_lag")


@dataclass(slots=True)
class Use:
    """Base units x milliseconds by phase; weight and cost are exact millionths, cost apart for each currency.

    What has no price is in `unrated`, what has no weight in `unweighted`, in the same units as the phases:
    it is in none of the sums of money or weight, and never counted there as 0.
    """

    class_key: str
    resource: str
    phases: dict[str, int] = field(default_factory=lambda: dict.fromkeys(PHASES, 0))
    weight: Decimal = Decimal(0)
    cost: dict[str, Decimal] = field(default_factory=dict)
    unrated: int = 0
    unweighted: int = 0

    @property
    def allocated(self) -> int:
        """Over all phases."""
        return sum(self.phases.values())

    def add(self, phase: str, amount: int, *, cost: Decimal | None, weight: Decimal | None, currency: str) -> None:
        """Count a piece: `amount` in base units x milliseconds, cost and weight in millionths or None."""
        self.phases[phase] = self.phases.get(phase, 0) + amount
        if cost is None:
            self.unrated += amount
        else:
            self.cost[currency] = self.cost.get(currency, Decimal(0)) + cost
        if weight is None:
            self.unweighted += amount
        else:
            self.weight += weight


@dataclass(slots=True)
class Money:
    """What can be added over classes: weight and cost. Hours of unlike classes are not."""

    weight: Decimal = Decimal(0)
    cost: dict[str, Decimal] = field(default_factory=dict)
    unrated: bool = False
    unweighted: bool = False


def money_of(uses: Iterable[Use]) -> Money:
    """Weight and cost over all classes, and whether some of it has no weight or price."""
    total = Money()
    for use in uses:
        total.weight += use.weight
        total.unrated |= use.unrated > 0
        total.unweighted |= use.unweighted > 0
        for currency, cost in use.cost.items():
            total.cost[currency] = total.cost.get(currency, Decimal(0)) + cost
    return total
