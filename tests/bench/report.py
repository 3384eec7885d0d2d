"""Figures of benches and gates, printed the same way everywhere.

`name: value unit (target) ok|short`, the short ones last. Exit code 0 when all are ok, 1 when one is short, 2
when one could not be measured: an unmeasured figure is never a good one.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from portal.embedded.terminal import tell


class NotRun(Exception):
    """A measurement could not be made; the message says why."""


@dataclass(frozen=True, slots=True)
class Figure:
    """One measured value with its target in words and whether it is met."""

    name: str
    value: float
    unit: str
    target: str
    is_ok: bool

    def line(self) -> str:
        """The figure as printed."""
        return f"{self.name}: {self.value:.4g} {self.unit} ({self.target}) {'ok' if self.is_ok else 'short'}"


def at_most(name: str, value: float, unit: str, limit: float) -> Figure:
    """A figure that is ok up to and including the limit."""
    return Figure(name, value, unit, f"<= {limit:g} {unit}", value <= limit)


def at_least(name: str, value: float, unit: str, limit: float) -> Figure:
    """A figure that is ok from the limit on."""
    return Figure(name, value, unit, f">= {limit:g} {unit}", value >= limit)


def report(figures: Sequence[Figure], not_run: Sequence[str] = ()) -> int:
    """Print all figures and what could not be measured; the exit code."""
    for reason in not_run:
        tell(f"not run: {reason}")
    for figure in sorted(figures, key=lambda figure: not figure.is_ok):
        tell(figure.line())
    if any(not figure.is_ok for figure in figures):
        return 1
    return 2 if not_run or not figures else 0
