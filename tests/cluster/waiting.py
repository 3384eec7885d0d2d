"""Waiting for what a cluster does in its own time."""

import time
from collections.abc import Callable
from typing import TypeVar

Answer = TypeVar("Answer")
POLL_SECONDS = 0.05


def until(look: Callable[[], Answer], *, seconds: float = 20.0) -> Answer:
    """The first answer that holds; the last one that does not fails the test."""
    deadline = time.monotonic() + seconds
    while not (answer := look()):
        assert time.monotonic() < deadline, f"not within {seconds} s; the last answer: {answer!r}"
        time.sleep(POLL_SECONDS)
    return answer
