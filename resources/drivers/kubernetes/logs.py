"""A piece of a container's log, read from where the last one ended.

What a node no longer has (it rotates logs) or cannot give (more in one second than one answer may hold) is named in the
log itself, in a line of ours.
"""

import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from resources.drivers.base import DriverUnavailable
from resources.drivers.kubernetes import names
from resources.drivers.kubernetes.api import Api, Refused
from resources.drivers.kubernetes.connection import Right
from resources.drivers.kubernetes.stamped import SECOND, Place, after, lines_of, taken

MOST = 48 << 20
"""Bytes of one answer, times included."""
PIECE = 4 << 20
"""Bytes read at a time on the way to an offset."""
NEAR = 8 << 20
"""The end of a log of up to so many bytes is found by reading it, of a longer one by asking for its last lines."""
FAR = 5 * 10**14
"""Offsets from here on are places in a log that was not read from its beginning: after a time, in milliseconds."""
SKIP_S = 6.0
"""How long one call may read on the way to an offset."""
NODE_PAUSE_S = 30.0
"""How long a node that gave no log is not asked again: each question may take as long as a whole pass."""
_LAST_LINES = 2_000
_KEPT = 4_096
_MARK = "[armillary] "
ROTATED = f"{_MARK}lines are missing here: the node rotated this log before they were read\n".encode()
LEFT_OUT = f"{_MARK}lines are missing here: more than {MOST >> 20} MiB were written within one second\n".encode()


class Silence:
    """Nodes that lately gave no log. Logs alone come from the nodes; a dead one must not slow down its cluster."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._until: dict[str, float] = {}

    @contextmanager
    def of(self, node: str) -> Iterator[None]:
        """Around the reading of a log from that node. Raises DriverUnavailable at once while it is silent."""
        if self._until.get(node, 0.0) > self._clock():
            raise DriverUnavailable(f"{node} gave no log a moment ago", reason="NodeSilent")
        try:
            yield
        except DriverUnavailable as error:
            if error.reason in ("Unreachable", "ServerError", "LogUnreadable", "NodeGone"):
                self._until[node] = self._clock() + NODE_PAUSE_S
            raise
        self._until.pop(node, None)


class Places:
    """Where readings of logs ended, by pod and offset; the newest. Used by several threads."""

    def __init__(self) -> None:
        self._known: OrderedDict[tuple[str, int], Place] = OrderedDict()
        self._lock = threading.Lock()

    def put(self, pod: str, offset: int, place: Place) -> None:
        """Remember it."""
        with self._lock:
            self._known[pod, offset] = place
            self._known.move_to_end((pod, offset))
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)

    def get(self, pod: str, offset: int) -> Place | None:
        """The place of exactly this offset."""
        with self._lock:
            return self._known.get((pod, offset))

    def before(self, pod: str, offset: int) -> tuple[int, Place]:
        """The nearest known offset up to this one, the beginning if there is none; and its place."""
        with self._lock:
            near = max((o for p, o in self._known if p == pod and o <= offset), default=0)
            return near, self._known.get((pod, near), Place())


class LogReader:
    """The log of one pod, known by its uid, on its node."""

    def __init__(
        self,
        api: Api,
        path: str,
        *,
        pod: str,
        node: str,
        places: Places,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._api, self._path, self._pod, self._node = api, path, pod, node
        self._places, self._clock = places, clock

    def read(self, offset: int, limit: int) -> tuple[bytes, int]:
        """Bytes from `offset` (negative: from the end), at most `limit`, and the next offset.

        Raises DriverUnavailable: `LogUnfinished` when the way to the offset is long, and the next call goes on.
        """
        if limit <= 0:
            return b"", max(0, offset)
        if offset < 0:
            return self._tail(-offset, limit)
        if offset >= FAR:
            return self._far(offset, limit)
        near, place = self._places.before(self._pod, offset)
        until = self._clock() + SKIP_S
        while near < offset:
            data, place = self._some(place, min(PIECE, offset - near))
            if not data:
                return b"", offset
            near += len(data)
            self._places.put(self._pod, near, place)
            if self._clock() > until:
                raise DriverUnavailable(f"{near} of {offset} bytes so far", reason="LogUnfinished")
        data, place = self._some(place, limit)
        self._places.put(self._pod, offset + len(data), place)
        return data, offset + len(data)

    def _far(self, offset: int, limit: int) -> tuple[bytes, int]:
        place = self._places.get(self._pod, offset) or Place((offset - FAR + 1) * (SECOND // 1_000))
        data, following = self._some(place, limit)
        whole_lines = data.rfind(b"\n") + 1
        if len(data) == limit and 0 < whole_lines < limit:
            # Another process knows of the place only the time of its line.
            data, following = self._some(place, whole_lines)
        return data, self._put_far(following, offset) if data else offset

    def _put_far(self, place: Place, offset: int) -> int:
        following = max(FAR + place.at // (SECOND // 1_000), offset + 1)
        self._places.put(self._pod, following, place)
        return following

    def _tail(self, count: int, limit: int) -> tuple[bytes, int]:
        """The last bytes. Of a log that is long: of its last lines."""
        whole, place = self._some(Place(), NEAR)
        if len(whole) < NEAR:
            start = max(0, len(whole) - count)
            piece = whole[start : start + limit]
            if start + len(piece) == len(whole):
                self._places.put(self._pod, len(whole), place)
            return piece, start + len(piece)
        answer = self._ask(Place(), NEAR, tailLines=str(_LAST_LINES))
        data, place = taken(((line, 0) for line in lines_of(answer)), Place(), NEAR)
        return data[-min(count, limit) :], self._put_far(place, FAR)

    def _some(self, place: Place, limit: int) -> tuple[bytes, Place]:
        """As many bytes as there are after a place, at most `limit`."""
        pieces: list[bytes] = []
        left, more = limit, True
        while left and more:
            data, place, more = self._next(place, left)
            pieces.append(data)
            left -= min(left, len(data))
        return b"".join(pieces), place

    def _next(self, place: Place, limit: int) -> tuple[bytes, Place, bool]:
        """What one answer holds after a place, and whether there may be more."""
        wanted = min(MOST, limit + limit // 4 + 65_536)
        while True:
            answer = self._ask(place, wanted)
            cut = len(answer) >= wanted
            lines = list(lines_of(answer))
            rest = after(lines, place)
            if rest is None and not cut:
                new = [(line, 0) for line in lines if line.at > place.at]
                data, following = taken(new, place, limit)
                return (ROTATED + data, following, False) if data else (b"", place, False)
            data, following = taken(rest or (), place, limit)
            if data or not cut:
                return data, following, cut
            if wanted >= MOST:
                return LEFT_OUT, place.next_second, True
            wanted = min(MOST, 2 * wanted)

    def _ask(self, place: Place, most: int, **more: str) -> bytes:
        asked = {"container": names.CONTAINER, "timestamps": "true", "limitBytes": str(most)} | more
        asked |= {"sinceTime": place.since} if place.since else {}
        try:
            return self._api.text(self._path, right=Right.RUNNER, **asked)
        except Refused as refusal:
            if refusal.status == 404 and f'"{self._node}" not found' in refusal.message:
                # The API server says `pods "NODE" not found` when it is the node that it does not know.
                raise DriverUnavailable(str(refusal), reason="NodeGone") from refusal
            if refusal.status in (400, 404):
                return b""  # it has not started, or is gone with its log
            raise DriverUnavailable(str(refusal), reason="LogUnreadable") from refusal
