"""How far a cluster's clock is from the portal's, and a cluster's times in the portal's. Pure.

Every answer of an API server carries the second in which it was written. That second lies between sending and hearing,
so each answer bounds the gap; where the bounds of most answers meet is far finer than a second (Marzullo, 1984).
"""

import threading
from collections import deque
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Any, Final

from resources.drivers.base import ClockReading
from resources.drivers.kubernetes.names import moment_of, stamp

SLOW_S: Final = 2.0
"""An answer that took longer says too little."""
KEPT: Final = 16
"""Answers that vote, the newest: a clock that was set is believed after half as many."""
RESOLUTION_S: Final = 1.0
"""What the API's own times are cut to: a gap below that is none."""
Span = tuple[float, float]
# What the API writes by its own clock or a node's. Annotations are anybody's, ours are in the portal's time.
_TIMES = frozenset(
    {"creationTimestamp", "deletionTimestamp", "finishedAt", "lastTransitionTime", "startTime", "startedAt"}
)


class ClusterClock:
    """What the answers of one API server say about its clock. Used by several threads."""

    def __init__(self) -> None:
        self._spans: deque[Span] = deque(maxlen=KEPT)
        self._lock = threading.Lock()
        self._ahead_s, self._width_s = 0.0, 0.0
        self._at: float | None = None

    def heard(self, date: str, sent: float, answered: float) -> None:
        """An answer with that `Date`, asked for and had at these times of the portal, in seconds since 1970."""
        written = _second_of(date)
        if written is None or not 0 <= answered - sent <= SLOW_S:
            return
        with self._lock:
            self._spans.append((written - answered, written + 1 - sent))
            low, high, votes = agreed(self._spans)
            if 2 * votes <= len(self._spans):
                return
            self._at, self._width_s = answered, high - low
            # What fits the answers stays as it is: times that were told once do not wander.
            if not low <= self._ahead_s <= high or (not self._ahead_s and low >= RESOLUTION_S):
                middle = (low + high) / 2
                self._ahead_s = middle if abs(middle) >= RESOLUTION_S else 0.0

    @property
    def ahead(self) -> timedelta:
        """How far it is ahead, negative when behind; nothing while nothing is known."""
        return timedelta(milliseconds=round(self._ahead_s * 1_000))

    def reading(self) -> ClockReading | None:
        """The gap as facts; None while no answer said anything."""
        with self._lock:
            if self._at is None:
                return None
            within = round(self._width_s * 500)
            return ClockReading(round(self._ahead_s * 1_000), within, datetime.fromtimestamp(self._at, UTC))


def agreed(spans: Iterable[Span]) -> tuple[float, float, int]:
    """The span that most of these hold, and how many do; (0, 0, 0) of none."""
    edges = sorted([(low, 0) for low, _high in spans] + [(high, 1) for _low, high in spans])
    best, here, low, high = 0, 0, 0.0, 0.0
    for number, (edge, is_end) in enumerate(edges):
        here += -1 if is_end else 1
        if here > best:
            best, low, high = here, edge, edges[number + 1][0]
    return low, high, best


def in_our_time(thing: Any, ahead: timedelta) -> Any:
    """The API's JSON with the times it wrote put into the portal's; the thing itself where the clocks agree."""
    if not ahead:
        return thing
    if isinstance(thing, Mapping):
        return {
            key: _moved(value, ahead) if key in _TIMES else value if key == "annotations" else in_our_time(value, ahead)
            for key, value in thing.items()
        }
    return [in_our_time(one, ahead) for one in thing] if isinstance(thing, list) else thing


def _moved(text: object, ahead: timedelta) -> object:
    moment = moment_of(text)
    return text if moment is None else stamp(moment - ahead)


def _second_of(date: str) -> float | None:
    """Seconds since 1970 of an HTTP date; None for what is none."""
    try:
        return parsedate_to_datetime(date).replace(tzinfo=UTC).timestamp()
    except (TypeError, ValueError, OverflowError, IndexError):
        return None
