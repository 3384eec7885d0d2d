"""Server-sent events for pages: the stream only says that something changed; the page fetches the part itself.

Bounded: at most `MOST` streams a process, each at most ten minutes; beyond that 503 and the page polls.
"""

import threading
import time
from collections.abc import Callable, Generator, Iterator

from django.db import connection
from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse

MOST = 16
LIFETIME = 600.0
EVERY = 1.0
BEAT_EVERY = 10.0
BEAT = b"event: beat\ndata: -\n\n"
CHANGE = b"event: change\ndata: -\n\n"
_places = threading.BoundedSemaphore(MOST)
Version = Callable[[], str | None]


def stream_changes(version: Version, *, seen: str = "") -> HttpResponseBase:
    """Events `change` when `version()` differs from before, `beat` in between; ends when it returns None.

    `seen` is the version the page was drawn from: what changed between drawing and opening is told at once.
    """
    if not _places.acquire(blocking=False):
        response = HttpResponse(status=503)
        response["Retry-After"] = "30"
        return response
    answer = StreamingHttpResponse(_Stream(version, seen), content_type="text/event-stream")
    answer["Cache-Control"] = "no-store"
    answer["X-Accel-Buffering"] = "no"
    return answer


class _Stream:
    """The events, holding one place until closed: also when the reader is gone before the first event."""

    def __init__(self, version: Version, seen: str) -> None:
        self._events = _events(version, seen)
        self._open = True

    def __iter__(self) -> Iterator[bytes]:
        return self

    def __next__(self) -> bytes:
        return next(self._events)

    def close(self) -> None:
        """Give the place back, once."""
        self._events.close()
        if self._open:
            self._open = False
            _places.release()


def _events(version: Version, seen: str) -> Generator[bytes, None, None]:
    begun = beaten = time.monotonic()
    known = version()
    yield b"retry: 3000\n" + BEAT
    if seen and known != seen:
        yield CHANGE
    while known is not None and time.monotonic() - begun < LIFETIME:
        _let_go()
        time.sleep(EVERY)
        current = version()
        if current != known:
            yield CHANGE
            known, beaten = current, time.monotonic()
        elif time.monotonic() - beaten > BEAT_EVERY:
            yield BEAT
            beaten = time.monotonic()
    _let_go()


def _let_go() -> None:
    """A stream waits far longer than it asks: it keeps no database connection meanwhile."""
    if not connection.in_atomic_block:
        connection.close()
