"""Usage as pages show it: hours in natural units, normalised compute, cost or the word for its absence."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from uuid import UUID

from jobs.sentences import UNIT_OF_RESOURCE
from metering.selectors.use import PHASES, Money, Use, money_of
from portal.lib import units
from resources.selectors.catalogue import ClassLooks, kind_of_resource
from resources.selectors.rates import UNIT_OF

MILLION = 1_000_000


@dataclass(slots=True)
class Sums:
    """Normalised compute hours and money as they are shown; `bare` when nothing of it has a price.

    `places` are the decimals of its column, see `share_decimals`.
    """

    weight: str
    unweighted: bool
    cost: Sequence[tuple[str, Decimal]]
    unrated: bool
    places: int = units.CENT_PLACES

    @property
    def bare(self) -> bool:
        """Whether "unrated" stands alone."""
        return self.unrated and not self.cost


@dataclass(frozen=True, slots=True)
class UseRow:
    """A class in one row. The phases shown add up to the allocated figure shown."""

    name: str
    kind: str
    word: str
    allocated: str
    startup: str
    running: str
    release_lag: str
    unrated: str
    sums: Sums


def use_rows(uses: Iterable[Use], looks: ClassLooks) -> list[UseRow]:
    """One row per class."""
    return [_row(use, looks) for use in uses]


def sums_of(money: Money) -> Sums:
    """Weight and cost over classes; "" where nothing has a weight."""
    weight = "" if money.unweighted and not money.weight else weight_text(money.weight)
    return Sums(weight, money.unweighted, sorted(money.cost.items()), money.unrated)


def share_decimals(sums: Iterable[Sums]) -> None:
    """Give the costs of one column the same decimals: as many as its smallest amount asks for."""
    column = list(sums)
    places = units.money_places(micro for one in column for _currency, micro in one.cost)
    for one in column:
        one.places = places


def table_of(uses: Sequence[Use], looks: ClassLooks) -> tuple[list[UseRow], Sums]:
    """One row per class and the sums over them, as one table."""
    rows, total = use_rows(uses, looks), sums_of(money_of(uses))
    share_decimals([total, *(row.sums for row in rows)])
    return rows, total


def weight_text(micro: Decimal) -> str:
    """Normalised compute hours from millionths, with as many decimals as their size asks for."""
    value = micro / MILLION
    return units.number(value, 1 if value >= 10 else 2 if value >= 1 else 4)


def split(parts: Sequence[int], per: int) -> tuple[str, list[str]]:
    """The total of some hours and its parts as numbers that add up as shown (largest remainder).

    `parts` are base units x milliseconds, `per` base units in a unit.
    """
    total = Fraction(sum(parts), per * units.HOUR)
    places = 1 if total >= 10 else 2 if total >= 1 else 4
    steps = [Fraction(part * 10**places, per * units.HOUR) for part in parts]
    shown = [int(step) for step in steps]
    missing = int(sum(steps)) - sum(shown)
    for place in sorted(range(len(parts)), key=lambda n: shown[n] - steps[n])[:missing]:
        shown[place] += 1
    texts = [
        # Something was used: never shown as nothing.
        units.number(Fraction(step, 10**places), places) if step or not part else f"< {Decimal(1).scaleb(-places):f}"
        for step, part in zip(shown, parts, strict=True)
    ]
    return units.number(Fraction(sum(shown), 10**places), places), texts


def unit_of(resource: str) -> units.Unit:
    """How amounts of an axis are shown."""
    return UNIT_OF_RESOURCE.get(resource, "count")


def kind_of(class_key: str, resource: str, looks: ClassLooks) -> str:
    """The kind a class is drawn in."""
    return looks[class_key].kind or kind_of_resource(resource)


def short_uses(uses: Iterable[Use], looks: ClassLooks) -> list[tuple[str, str, str]]:
    """(kind, hours with their word, class name) for a cell that holds several classes."""
    found = []
    for use in uses:
        unit = unit_of(use.resource)
        text = f"{units.hours(use.allocated, unit)} {units.hours_word(unit)}"
        found.append((kind_of(use.class_key, use.resource, looks), text, looks[use.class_key].name))
    return found


def totals(found: Mapping[UUID, Sequence[Use]]) -> Sums:
    """Weight and cost over everything in a table."""
    return sums_of(money_of(use for uses in found.values() for use in uses))


def _row(use: Use, looks: ClassLooks) -> UseRow:
    unit = unit_of(use.resource)
    total, parts = split([use.phases[phase] for phase in PHASES], UNIT_OF.get(use.resource, 1))
    return UseRow(
        name=looks[use.class_key].name,
        kind=kind_of(use.class_key, use.resource, looks),
        word=units.hours_word(unit),
        allocated=total,
        startup=parts[0],
        running=parts[1],
        release_lag=parts[2],
        unrated=f"{units.hours(use.unrated, unit)} {units.hours_word(unit)}" if use.unrated else "",
        sums=sums_of(money_of([use])),
    )
