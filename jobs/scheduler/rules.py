"""The policy of a cycle, as named options; the snapshot says what is, the rules say what to make of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS


class Order(StrEnum):
    """Who is looked at first, after the class of the job."""

    FAIR_SHARE = "fair_share"  # the tenant with the smallest share, then as `priority`
    PRIORITY = "priority"  # higher priority (aged), then earlier submission, then key


@dataclass(frozen=True, slots=True)
class Rules:
    """One named policy.

    `reserve`: whether the first job of a pool that cannot start has room kept for it. `aging_step_ms`: waiting that
    long adds one to a job's priority, at most `aging_cap`; age never crosses a class. `preempt`: whether running jobs
    are stopped for others, none before `min_run_ms` nor more often than `preemption_budget`. `forecast_steps`: how many
    future instants an estimate looks at; 0 gives none.
    """

    order: Order = Order.FAIR_SHARE
    reserve: bool = True
    aging_step_ms: int = 6 * HOUR_MS
    aging_cap: int = 4
    preempt: bool = True
    min_run_ms: int = 10 * MINUTE_MS
    preemption_budget: int = 3
    forecast_steps: int = 32
