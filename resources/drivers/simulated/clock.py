"""The clock that simulated clusters read: the wall clock, or one that a caller puts in its place for a while."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from datetime import datetime

from portal.lib.clock import utc_now

Clock = Callable[[], datetime]

_driven: list[Clock] = []


def simulated_now() -> datetime:
    """The time on every simulated cluster of this process that was given no clock of its own."""
    return _driven[-1]() if _driven else utc_now()


@contextmanager
def driven_by(clock: Clock) -> Iterator[None]:
    """Let `clock` drive the simulated clusters of this process, all threads included; the innermost one counts."""
    _driven.append(clock)
    try:
        yield
    finally:
        _driven.pop()
