"""A piece of a container's log. The API gives a log from its beginning or its last lines, never from an offset."""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from resources.drivers.base import DriverUnavailable
from resources.drivers.kubernetes import names
from resources.drivers.kubernetes.api import Api, Refused
from resources.drivers.kubernetes.connection import Right

MOST = 32 << 20
"""Bytes of a log that are read; what comes after is neither shown nor kept."""
NODE_PAUSE_S = 30.0
"""How long a node that gave no log is not asked again: each question may take as long as a whole pass."""


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
            if error.reason in ("Unreachable", "ServerError", "LogUnreadable"):
                self._until[node] = self._clock() + NODE_PAUSE_S
            raise
        self._until.pop(node, None)


def read_log(api: Api, path: str, offset: int, limit: int) -> tuple[bytes, int]:
    """Bytes from `offset` (negative: from the end), at most `limit`, and the next offset.

    Raises DriverUnavailable. A container that has not started has no log yet.
    """
    wanted = MOST if offset < 0 else min(MOST, offset + limit)
    if wanted <= 0 or limit <= 0:
        return b"", max(0, offset)
    try:
        whole = api.text(path, right=Right.RUNNER, container=names.CONTAINER, limitBytes=str(wanted))
    except Refused as refusal:
        if refusal.status in (400, 404):
            return b"", max(0, offset)
        raise DriverUnavailable(str(refusal), reason="LogUnreadable") from refusal
    start = max(0, len(whole) + offset) if offset < 0 else min(offset, len(whole))
    piece = whole[start : start + limit]
    return piece, start + len(piece)
