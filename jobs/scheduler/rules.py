"""The policy of a cycle, as named options; the snapshot says what is, the rules say what to make of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

HOUR_MS = 3_600_000


class Order(StrEnum):
    """Who is looked at first, after the class of the job."""

    FAIR_SHARE = "fair_share"  # the tenant with the smallest share, then as `priority`
    PRIORITY = "priority"  # higher priority (aged), then earlier submission, then key


@dataclass(frozen=True, slots=True)
class Rules:
    """One named policy.

    `reserve`: whether the first job of a pool that cannot start has room kept for it. `aging_step_ms`: waiting that
    long adds one to a job's priority, at most `aging_cap`; age never crosses a class. `forecast_steps`: how many
    future instants an estimate looks at; 0 gives none.
    """

    order: Order = Order.FAIR_SHARE
    reserve: bool = True
    aging_step_ms: int = 6 * HOUR_MS
    aging_cap: int = 4
    forecast_steps: int = 32
