"""What a member of a simulated workload has printed by now. Made line by line, the same at every look. Pure."""

from collections.abc import Iterator

from portal.lib.clock import from_ms
from resources.drivers.base import EndCause

from .chance import roll
from .records import Applied
from .timeline import End, Line

_TAG = "[simulated]"
_QUICK_LINES = 60
_QUICK_MS, _SLOW_MS = 10_000, 1_800_000
_SHORTEST_MS = 2_000


def log_text(record: Applied, line: Line, cluster: str, now: int) -> bytes:
    """All that is printed by now; what was printed before stays as it was."""
    if line.started is None or line.started > now:
        return b""
    last = min(moment for moment in (now, line.over) if moment is not None)
    if record.behaviour.log is not None:
        texts = [text for at, text in record.behaviour.log if line.started + at <= last]
        texts += _goodbye(record, line, now)
    else:
        texts = [f"{from_ms(at):%Y-%m-%dT%H:%M:%SZ} {_TAG} {text}" for at, text in _told(record, line, cluster, last)]
        texts += [f"{from_ms(end.at):%Y-%m-%dT%H:%M:%SZ} {_TAG} {_farewell(end)}" for end in _ended(line, now)]
    return "".join(f"{text}\n" for text in texts).encode()


def _ended(line: Line, now: int) -> list[End]:
    return [line.end] if line.end is not None and line.end.at == line.over and line.end.at <= now else []


def _goodbye(record: Applied, line: Line, now: int) -> list[str]:
    listens = record.behaviour.goodbye and record.behaviour.stop_ms is not None
    kinds = (EndCause.STOPPED, EndCause.TIME_LIMIT, EndCause.GANG_FAILED)
    return [
        record.behaviour.goodbye for end in _ended(line, now) if listens and end.reason in kinds and end.signal != 9
    ]


def _told(record: Applied, line: Line, cluster: str, last: int) -> Iterator[tuple[int, str]]:
    started = line.started or 0
    where = f"member {line.member.index} of {len(record.members)} on {line.member.node}"
    yield started, f"no program runs on cluster {cluster}: these lines are made up by it"
    count = len(line.member.devices)
    devices = f", {count} {'device' if count == 1 else 'devices'}" if count else ""
    yield started, f"{record.task_type}: {where}, {line.member.cpu_milli / 1_000:g} CPU cores{devices}"
    if line.ready is not None and line.ready <= last:
        yield from _numbered(record, line, started, line.ready)
        yield line.ready, "ready"
        yield from _numbered(record, line, line.ready, last)
    else:
        yield from _numbered(record, line, started, last)


def _numbered(record: Applied, line: Line, begin: int, last: int) -> Iterator[tuple[int, str]]:
    """A line now and then: often at first, seldom later, so that a long run keeps a short log."""
    at, number = begin, 0
    while True:
        at += _SHORTEST_MS if number < 5 else _QUICK_MS if number < _QUICK_LINES else _SLOW_MS
        number += 1
        if at >= last:
            return
        yield at, _progress(record, line, at, number)


def _progress(record: Applied, line: Line, at: int, number: int) -> str:
    noise = roll(0, record.name, line.member.index, number, of=1_000)
    if record.serves and (line.ready is None or at < line.ready):
        return "not ready yet"
    if record.serves:
        return f"{number * 7 + noise % 7} requests answered, p95 {20 + noise % 30} ms"
    duration = record.behaviour.duration_ms
    done = min(99, (at - (line.started or at)) * 100 // duration) if duration else None
    share = "" if done is None else f"{done} % done"
    if record.task_type in ("training", "fine_tuning"):
        loss = 2_000 // (number + 1) + noise % 40
        return f"{share}, loss {loss / 1_000:.3f}".lstrip(", ")
    return share or f"heartbeat {number}"


def _farewell(end: End) -> str:
    how = "" if end.exit_code is None else f", exit code {end.exit_code}"
    how += "" if end.signal is None else f", signal {end.signal}"
    return f"ended: {end.reason}{how}"
