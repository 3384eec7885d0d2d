"""The policy of a cycle, as named options; the snapshot says what is, the rules say what to make of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Order(StrEnum):
    """Who is looked at first."""

    PRIORITY = "priority"  # class, priority, submission, key


class Queueing(StrEnum):
    """What a job that cannot start means for those behind it."""

    SKIP_BLOCKED = "skip_blocked"  # they may pass (Kueue: BestEffortFIFO); a large job can starve


class Scoring(StrEnum):
    """Which of the fitting hosts is taken."""

    BEST_FIT = "best_fit"  # fewest free devices, then least free CPU, then name


@dataclass(frozen=True, slots=True)
class Rules:
    """One named policy. `forecast_steps`: how many future instants an estimate looks at; 0 gives none."""

    order: Order = Order.PRIORITY
    queueing: Queueing = Queueing.SKIP_BLOCKED
    scoring: Scoring = Scoring.BEST_FIT
    forecast_steps: int = 32
