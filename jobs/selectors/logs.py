"""A member's log: from the archive once it is kept there, else from the cluster."""

import codecs
from dataclasses import dataclass
from pathlib import Path

from jobs import storage
from jobs.models import Attempt
from resources.drivers.base import DriverUnavailable
from resources.selectors.drivers import driver_for

TAIL = 64 * 1024
CHUNK = 256 * 1024
MOST_LIVE = 64 << 20
LONGER = f"[armillary] this log is longer than {MOST_LIVE >> 20} MiB: the rest comes once it is kept\n".encode()


@dataclass(frozen=True, slots=True)
class LogPart:
    """Text from some offset on, where to read on, and whether nothing more will come."""

    text: str
    offset: int
    ended: bool


def read_log(attempt: Attempt, member: int, offset: int, limit: int = CHUNK) -> LogPart:
    """At most `limit` bytes from `offset`; a negative offset counts from the end. Raises DriverUnavailable."""
    kept = _kept(attempt, member)
    if kept is not None:
        data, following = _read_file(kept, offset, limit)
    else:
        driver = driver_for(attempt.cluster)
        data, following = driver.logs(attempt.workload_name, member=member, offset=offset, limit=limit)
    ended = attempt.ended and attempt.released_at is not None and len(data) < limit
    cut = 0 if ended else _cut_character(data)
    return LogPart(printable(data[: len(data) - cut]), following - cut, ended)


def _cut_character(data: bytes) -> int:
    """How many bytes at the end begin a character whose rest is not here; it is read whole the next time."""
    decoder = codecs.getincrementaldecoder("utf-8")("replace")
    decoder.decode(data)
    begun = len(decoder.getstate()[0])
    return begun if begun < len(data) else 0


def whole_log(attempt: Attempt, member: int) -> bytes:
    """All of it, as it was written; of one that is not kept yet at most `MOST_LIVE`, and a line that says so."""
    kept = _kept(attempt, member)
    if kept is not None:
        return kept.read_bytes()
    parts: list[bytes] = []
    offset = 0
    driver = driver_for(attempt.cluster)
    while True:
        data, offset = driver.logs(attempt.workload_name, member=member, offset=offset, limit=CHUNK)
        if not data:
            return b"".join(parts)
        parts.append(data)
        if sum(map(len, parts)) >= MOST_LIVE:
            return b"".join([*parts, LONGER])


def tail_or_empty(attempt: Attempt, member: int) -> LogPart:
    """The last TAIL bytes, or nothing when the cluster does not answer: the page says so by its age."""
    try:
        return read_log(attempt, member, -TAIL)
    except DriverUnavailable:
        return LogPart("", 0, False)


def printable(data: bytes) -> str:
    """Log bytes as text: control characters are shown, never obeyed; line ends and tabs stay."""
    text = data.decode("utf-8", errors="replace").replace("\r\n", "\n")
    return "".join(c if c in "\n\t" or c.isprintable() else _picture(c) for c in text)


def _picture(char: str) -> str:
    code = ord(char)
    if code < 0x20:
        return chr(0x2400 + code)
    return "␡" if code == 0x7F else "�"


def _kept(attempt: Attempt, member: int) -> Path | None:
    path = storage.folders(attempt.job, attempt).archive / f"member-{member}.log"
    return path if path.is_file() else None


def _read_file(path: Path, offset: int, limit: int) -> tuple[bytes, int]:
    size = path.stat().st_size
    start = max(0, size + offset) if offset < 0 else min(offset, size)
    with path.open("rb") as file:
        file.seek(start)
        data = file.read(limit)
    return data, start + len(data)
