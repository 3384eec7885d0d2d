"""Server-sent events for pages: the stream only says that something changed; the page fetches the part itself.

Bounded: at most `MOST` streams a process, each at most ten minutes; beyond that 503 and the page polls.
"""

import threading
import time
from collections.abc import Callable, Iterator

from django.db import close_old_connections, connection
from django.http import HttpResponse, HttpResponseBase, StreamingHttpResponse

MOST = 16
LIFETIME = 600.0
EVERY = 1.0
BEAT_EVERY = 10.0
_places = threading.BoundedSemaphore(MOST)


def stream_changes(version: Callable[[], str | None], *, seen: str = "") -> HttpResponseBase:
    """Events `change` when `version()` differs from before, `beat` in between; ends when it returns None.

    `seen` is the version the page was drawn from: what changed between drawing and opening the stream is told at once.
    """
    if not _places.acquire(blocking=False):
        response = HttpResponse(status=503)
        response["Retry-After"] = "30"
        return response
    answer = StreamingHttpResponse(_events(version, seen), content_type="text/event-stream")
    answer["Cache-Control"] = "no-store"
    answer["X-Accel-Buffering"] = "no"
    return answer


def _events(version: Callable[[], str | None], seen: str) -> Iterator[bytes]:
    try:
        begun = beaten = time.monotonic()
        current = version()
        yield b"retry: 3000\nevent: beat\ndata: -\n\n"
        if seen and current != seen:
            yield b"event: change\ndata: -\n\n"
        known = current
        while known is not None and time.monotonic() - begun < LIFETIME:
            connection.close()  # a stream waits far longer than it asks
            time.sleep(EVERY)
            current = version()
            if current != known:
                yield b"event: change\ndata: -\n\n"
                known, beaten = current, time.monotonic()
            elif time.monotonic() - beaten > BEAT_EVERY:
                yield b"event: beat\ndata: -\n\n"
                beaten = time.monotonic()
    finally:
        close_old_connections()
        connection.close()
        _places.release()
