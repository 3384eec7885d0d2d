"""Things to do later, and a few hands to do them."""

import heapq
import itertools
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

HANDS = 8


class Clock:
    """Runs functions at their time, a few at once; what one raises is printed and ends only that one."""

    def __init__(self) -> None:
        self._pool = ThreadPoolExecutor(HANDS)
        self._due: list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] = []
        self._order = itertools.count()
        self._changed = threading.Condition()
        threading.Thread(target=self._run, daemon=True, name="clock").start()

    def soon(self, function: Callable[..., None], *arguments: Any) -> None:
        """As soon as a hand is free."""
        self._pool.submit(_safely, function, *arguments)

    def later(self, seconds: float, function: Callable[..., None], *arguments: Any) -> None:
        """After so many seconds; never when they are infinite."""
        if seconds == float("inf"):
            return
        with self._changed:
            heapq.heappush(self._due, (time.monotonic() + seconds, next(self._order), function, arguments))
            self._changed.notify()

    def _run(self) -> None:
        while True:
            with self._changed:
                while not self._due or self._due[0][0] > time.monotonic():
                    self._changed.wait(self._due[0][0] - time.monotonic() if self._due else None)
                _, _, function, arguments = heapq.heappop(self._due)
            self.soon(function, *arguments)


def _safely(function: Callable[..., None], *arguments: Any) -> None:
    try:
        function(*arguments)
    except Exception as error:
        sys.stderr.write(f"{getattr(function, '__name__', function)}: {error!r}\n")
        sys.stderr.flush()
