"""The policy of a cycle, as named options; the snapshot says what is, the rules say what to make of it."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Order(StrEnum):
    """Who is looked at first."""

    PRIORITY = "priority"  # class, then higher priority, then earlier submission, then key


@dataclass(frozen=True, slots=True)
class Rules:
    """One named policy. `forecast_steps`: how many future instants an estimate looks at; 0 gives none."""

    order: Order = Order.PRIORITY
    forecast_steps: int = 32
