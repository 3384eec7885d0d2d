"""Facts and equivalences of classes as pages and API show them."""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from decimal import Decimal
from uuid import UUID

from django.utils.translation import ngettext

from portal.lib import units
from portal.lib.localised import localised
from resources.models import ClassEquivalence, ClassFact, CostBasis, ResourceClass
from resources.selectors.declared import in_force
from resources.task_types import TASK_WORDS

TERA = 10**12
COST_WORDS = dict(CostBasis.choices)


def amount_text(fact: ClassFact) -> str:
    """The amount with its unit, or the word of the support."""
    if fact.topic == ClassFact.Topic.THROUGHPUT and fact.amount is not None:
        tera = Decimal(fact.amount) / TERA
        places = max(0, -int(tera.normalize().as_tuple().exponent))
        unit = "TOPS" if fact.subject.startswith("INT") else "TFLOPS"
        return f"{units.number(tera, places)} {unit}"
    if fact.topic == ClassFact.Topic.ISLAND and fact.amount is not None:
        return ngettext("{n} device", "{n} devices", fact.amount).format(n=fact.amount)
    if fact.amount is not None:
        return units.number(fact.amount)
    return str(fact.get_support_display())


@dataclass(frozen=True, slots=True)
class EquivalenceRow:
    """One direction of an equivalence. `job` is its evidence where the reader may see it."""

    row: ClassEquivalence
    now: datetime
    job: UUID | None

    @property
    def holds(self) -> bool:
        """Whether it is in force."""
        return in_force(self.row, self.now)

    @property
    def of(self) -> str:
        """What jobs ask for, by name."""
        return _name(self.row.of)

    @property
    def by(self) -> str:
        """What they may be given, by name."""
        return _name(self.row.by)

    @property
    def task(self) -> str:
        """For which type of job."""
        return str(TASK_WORDS.get(self.row.task_type, self.row.task_type))

    @property
    def who(self) -> str:
        """Who declared it; the installation itself has no name."""
        return self.row.declared_by.display_name if self.row.declared_by else ""


def equivalence_rows(rows: Iterable[ClassEquivalence], seen: Collection[UUID], now: datetime) -> list[EquivalenceRow]:
    """Each with the job that is its evidence, if the reader may see that."""
    return [EquivalenceRow(row, now, row.evidence_job if row.evidence_job in seen else None) for row in rows]


def _name(row: ResourceClass) -> str:
    return localised(row.name, row.key)
