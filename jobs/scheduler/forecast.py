"""When blocked demands could start, judged by the limits of what runs now."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import NamedTuple, TypeVar

from jobs.scheduler.ledger import Ledger
from jobs.scheduler.snapshot import Holding
from jobs.states import AllocationState

T = TypeVar("T")


class Window(NamedTuple):
    """The first instant that may suffice, and the one that surely does; equal unless steps were left out."""

    earliest_ms: int
    surely_ms: int


def forecast(
    ledger: Ledger,
    holdings: Iterable[Holding],
    blocked: Iterable[T],
    could_start: Callable[[T], bool],
    at_ms: int,
    steps: int,
) -> dict[T, Window]:
    """The window of every blocked thing that could start once enough holdings end; others are left out.

    What is being given back counts as free from now on; what has no limit, or leaked, never ends. Nothing new is
    put in between, and the ledger is used up. At most `steps` instants are looked at, so that a window may span
    several ends.
    """
    found: dict[T, Window] = {}
    waiting = list(blocked)
    for window, ending in _steps(holdings, at_ms, steps):
        ledger.release(ending)
        for thing in [thing for thing in waiting if could_start(thing)]:
            found[thing] = window
            waiting.remove(thing)
        if not waiting:
            break
    return found


def _steps(holdings: Iterable[Holding], at_ms: int, steps: int) -> Iterator[tuple[Window, list[Holding]]]:
    ends = sorted(
        ((end, holding) for holding in holdings if (end := end_of(holding, at_ms)) is not None),
        key=lambda pair: (pair[0], pair[1].allocation, pair[1].host),
    )
    instants = [(at, [h for _, h in group]) for at, group in groupby(ends, key=lambda pair: pair[0])]
    stride = max(1, -(-len(instants) // max(1, steps)))
    for first in range(0, len(instants), stride):
        chunk = instants[first : first + stride]
        yield Window(chunk[0][0], chunk[-1][0]), [holding for _, group in chunk for holding in group]


def end_of(holding: Holding, at_ms: int) -> int | None:
    """When a holding is surely gone, never before now; None where nothing says so."""
    if holding.state is AllocationState.RELEASING:
        return at_ms
    if holding.state is AllocationState.LEAKED or holding.ends_ms is None:
        return None
    return max(at_ms, holding.ends_ms)
