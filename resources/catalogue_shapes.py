"""The catalogue as pages show it: classes beside their amounts and rates, data beside whom it belongs to."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal

from portal.lib import units
from portal.lib.localised import localised
from resources.models import Cluster, DataSource, Node, RateVersion, ResourceClass
from resources.selectors.capacity import Capacity, Held, capacity_of
from resources.selectors.freshness import STALE_AFTER
from resources.shapes import UNIT_OF
from tenants.models import Project, Team


@dataclass(frozen=True, slots=True)
class ClassEntry:
    """A class with its amounts in the pools the reader sees (None: no node there has it) and the rate in force."""

    resource_class: ResourceClass
    name: str
    unit: units.Unit
    amounts: Capacity | None
    rate: RateVersion | None

    @property
    def word(self) -> str:
        """What its unit is called."""
        return units.unit_word(self.unit, 0)

    @property
    def price(self) -> int | None:
        """Millionths per unit and hour; None is unrated."""
        return self.rate.price_micro if self.rate else None

    @property
    def currency(self) -> str:
        """What the price is in."""
        return self.rate.currency if self.rate else ""

    @property
    def weight(self) -> str:
        """Compute units of one unit and hour, "" where there is none."""
        return weight_text(self.rate)

    @property
    def names(self) -> list[tuple[str, str]]:
        """The name in each language that has one."""
        return sorted(self.resource_class.name.items())

    @property
    def match(self) -> list[tuple[str, str]]:
        """Facts that make a device one of this class."""
        return sorted(self.resource_class.match.items())


def class_entries(
    classes: Iterable[ResourceClass], nodes: Sequence[Node], held: Held, rates: Iterable[RateVersion], now: datetime
) -> list[ClassEntry]:
    """Each class with what there is of it and what it costs now."""
    sums = {(c.class_key, c.resource): c for c in capacity_of(nodes, held, now - STALE_AFTER)}
    in_force = {(rate.class_key, rate.resource): rate for rate in rates}
    return [
        ClassEntry(
            resource_class=row,
            name=localised(row.name, row.key),
            unit=UNIT_OF.get(row.resource, "count"),
            amounts=sums.get((row.key, row.resource)),
            rate=in_force.get((row.key, row.resource)),
        )
        for row in classes
    ]


@dataclass(frozen=True, slots=True)
class RateRow:
    """A version of a rate. `state` is now, coming or past."""

    rate: RateVersion
    state: str

    @property
    def weight(self) -> str:
        """Compute units of one unit and hour, "" where there is none."""
        return weight_text(self.rate)


def weight_text(rate: RateVersion | None) -> str:
    """The weight with every digit it has; "" where there is none, which is not 0."""
    if rate is None or rate.weight_micro is None:
        return ""
    value = Decimal(rate.weight_micro) / 1_000_000
    return units.number(value, max(0, -int(value.normalize().as_tuple().exponent)))


def rate_rows(rates: Sequence[RateVersion], now: datetime) -> list[RateRow]:
    """Each version with where it stands."""
    return [RateRow(rate, _standing(rate, now)) for rate in rates]


def _standing(rate: RateVersion, now: datetime) -> str:
    if rate.valid_from > now:
        return "coming"
    return "past" if rate.valid_to is not None and rate.valid_to <= now else "now"


@dataclass(frozen=True, slots=True)
class DataRow:
    """A data source with its owner and the clusters that reach it; without a cluster it is not said which."""

    source: DataSource
    owner: Project | Team | None
    clusters: Sequence[Cluster]

    @property
    def of_team(self) -> bool:
        """Whether everybody below a team has it."""
        return isinstance(self.owner, Team)


def data_rows(sources: Sequence[DataSource]) -> list[DataRow]:
    """Each source with its owner. One query for the clusters."""
    keys = {source.cluster_key for source in sources if source.cluster_key}
    clusters = {cluster.key: cluster for cluster in Cluster.objects.filter(key__in=keys)}
    return [
        DataRow(
            source=source,
            owner=source.project or source.team,
            clusters=[clusters[source.cluster_key]] if source.cluster_key in clusters else [],
        )
        for source in sources
    ]
