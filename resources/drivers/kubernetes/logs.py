"""A piece of a container's log. The API gives a log from its beginning or its last lines, never from an offset."""

from resources.drivers.base import DriverUnavailable
from resources.drivers.kubernetes import names
from resources.drivers.kubernetes.api import Api, Refused
from resources.drivers.kubernetes.connection import Right

MOST = 32 << 20
"""Bytes of a log that are read; what comes after is not shown until the end of the job is archived."""


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
