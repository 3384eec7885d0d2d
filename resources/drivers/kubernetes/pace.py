"""How often a cluster is asked: a rate limit, and a breaker that leaves a sick API server alone for a while. Pure.

Both belong to one cluster, so that one that hangs slows no other (trust.md).
"""

import math
import threading
from collections.abc import Callable
from dataclasses import dataclass, field

CALLS_PER_SECOND = 20.0
BURST = 40.0
FAILURES = 3
"""Failures in a row after which the breaker opens."""
SHORTEST_S, LONGEST_S = 5.0, 120.0
"""How long it stays open: the first time, and at most."""


@dataclass
class RateLimit:
    """A token bucket."""

    clock: Callable[[], float]
    per_second: float = CALLS_PER_SECOND
    burst: float = BURST
    _tokens: float = field(init=False)
    _at: float = field(init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def __post_init__(self) -> None:
        """Full to begin with."""
        self._tokens, self._at = self.burst, self.clock()

    def wait_s(self, longest_s: float = math.inf) -> float:
        """Seconds to wait before the call that is counted by this; 0 when it may be made now.

        More than `longest_s` is a refusal: that call is not made and not counted, so that asking wears nothing out.
        """
        with self._lock:
            now = self.clock()
            self._tokens = min(self.burst, self._tokens + (now - self._at) * self.per_second)
            self._at = now
            wait = max(0.0, (1 - self._tokens) / self.per_second)
            if wait <= longest_s:
                self._tokens -= 1
            return wait


@dataclass
class Breaker:
    """Open after several failures in a row, for twice as long each time; then one call may try."""

    clock: Callable[[], float]
    _failed: int = field(default=0, init=False)
    _until: float = field(default=0.0, init=False)
    _lock: threading.Lock = field(default_factory=threading.Lock, init=False, repr=False)

    def open_for_s(self) -> float:
        """Seconds until a call may be made; 0 now.

        The first caller after an opening is the one that tries: others are held off for the shortest time.
        """
        with self._lock:
            now = self.clock()
            left = self._until - now
            if left <= 0 and self._failed >= FAILURES:
                self._until = now + SHORTEST_S
            return max(0.0, left)

    @property
    def is_closed(self) -> bool:
        """Whether it answered when it was last asked: who only listens takes nobody's try."""
        with self._lock:
            return not self._failed

    def succeeded(self) -> None:
        """It answers."""
        with self._lock:
            self._failed, self._until = 0, 0.0

    def failed(self, *, not_before_s: float = 0.0) -> None:
        """It did not, or asked to be left alone for so long."""
        with self._lock:
            self._failed += 1
            rounds = self._failed - FAILURES
            pause = min(LONGEST_S, SHORTEST_S * 2**rounds) if rounds >= 0 else 0.0
            self._until = max(self._until, self.clock() + max(pause, min(not_before_s, LONGEST_S)))
