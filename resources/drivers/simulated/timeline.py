"""The course of a workload as lines of time: when each thing happens to each member, seen or not yet. Pure.

Everything is checked against the faults at the moment at which it would happen, and a fault never begins in the past;
so the part of a line that lies behind the present never changes.
"""

from dataclasses import dataclass

from resources.drivers.base import EndCause, Phase

from .behaviour import SIGKILL, SIGTERM, Behaviour
from .faults import Fault, FaultKind, Faults
from .records import Applied, Member
from .starting import Wait, ready_of, start_of

PREEMPTED = "Preempted"
_STOPPED_BEFORE = "stopped before it was started"
_GANG_MESSAGE = "another member of the gang ended"
_PREEMPTED_MESSAGE = "simulated: evicted for a workload of higher priority"
_OUT_OF_MEMORY_MESSAGE = "simulated: the container used more memory than its limit"


@dataclass(frozen=True, slots=True)
class End:
    """How a member ends."""

    at: int
    reason: str
    message: str = ""
    exit_code: int | None = None
    signal: int | None = None

    @property
    def phase(self) -> Phase:
        """Completion is success, everything else is not."""
        return Phase.SUCCEEDED if self.reason == EndCause.COMPLETED else Phase.FAILED


@dataclass(frozen=True, slots=True)
class Line:
    """One member's course; None is never."""

    member: Member
    bound: int | None
    waits: tuple[Wait, ...]
    started: int | None
    ready: int | None
    end: End | None
    lost: int | None
    """From then on nobody can tell how it stands."""
    gone: int | None
    """From then on it is not listed."""

    @property
    def over(self) -> int | None:
        """When it stops running, as far as anybody can tell."""
        return first(self.end.at if self.end else None, self.lost, self.gone)

    @property
    def failure(self) -> int | None:
        """When it fails the gang it belongs to."""
        over = self.over
        if self.end is None or self.end.at != over:
            return over
        return over if self.end.phase is Phase.FAILED and self.end.reason != EndCause.STOPPED else None


@dataclass(frozen=True, slots=True)
class Interruption:
    """Something that asks a member to end: TERM at `at`, KILL at `kill`."""

    at: int
    kill: int
    reason: str
    message: str = ""


def lines_of(record: Applied, faults: Faults, seed: int) -> tuple[Line, ...]:
    """The course of every member; the first failure in a gang ends the others."""
    hits = [_hits(record, member, faults, seed) for member in record.members]
    pairs = list(zip(record.members, hits, strict=True))
    lines = tuple(_line(record, member, own) for member, own in pairs)
    failures = [line.failure for line in lines if line.failure is not None] if record.gang and len(lines) > 1 else ()
    if not failures:
        return lines
    moment = min(failures)
    cut = Interruption(moment, moment + record.grace_ms, EndCause.GANG_FAILED, _GANG_MESSAGE)
    return tuple(
        line if _is_before(line, moment) else _line(record, member, own, cut)
        for line, (member, own) in zip(lines, pairs, strict=True)
    )


def _is_before(line: Line, failure: int) -> bool:
    """Whether a member was over before the gang failed, or is what failed it."""
    return line.over is not None and (line.over < failure or line.failure == failure)


def _hits(record: Applied, member: Member, faults: Faults, seed: int) -> tuple[Fault, ...]:
    found = faults.of_member(record.name, record.job_id, member.node)
    return (
        tuple(
            fault
            for fault in found
            if fault.befalls(seed, member.node, record.applied_ms, record.name, record.incarnation)
        )
        if found
        else ()
    )


def _line(record: Applied, member: Member, faults: tuple[Fault, ...], cut: Interruption | None = None) -> Line:
    bound = record.applied_ms + record.behaviour.bind_ms
    start = start_of(record, member, bound, faults)
    started = start.at
    gone = _strike(faults, FaultKind.VANISHED, record.applied_ms)
    lost, taken = _node_deaths(faults, started)
    if start.failure is not None:
        failure = start.failure
        natural: End | None = End(failure.at, failure.reason, failure.message, failure.exit_code)
    else:
        natural = _natural_end(record, member, started, faults)
    interruptions = _interruptions(record, started, faults, cut)
    end = _end(record.behaviour, started, natural, interruptions)
    ready = ready_of(started, record.behaviour.ready_ms, faults) if record.serves else None
    limit = end.at if end else None
    return Line(
        member=member,
        bound=_until(bound, limit),
        waits=start.waits,
        started=_until(started, limit),
        ready=_until(ready, first(limit, lost)),
        end=end,
        lost=_until(lost, limit),
        gone=first(gone, taken),
    )


def _natural_end(record: Applied, member: Member, started: int | None, faults: tuple[Fault, ...]) -> End | None:
    """How it ends when nobody asks it to."""
    if started is None:
        return None
    end = _own_end(record.behaviour, member, started)
    killed = _strike(faults, FaultKind.OUT_OF_MEMORY, started)
    if killed is not None and (end is None or killed < end.at):
        return End(killed, EndCause.OOM_KILLED, _OUT_OF_MEMORY_MESSAGE, signal=SIGKILL)
    return end


def _own_end(behaviour: Behaviour, member: Member, started: int) -> End | None:
    completes = behaviour.reason == EndCause.COMPLETED
    if not completes and behaviour.failing_member in (None, member.index):
        span = behaviour.duration_ms if behaviour.fail_ms is None else behaviour.fail_ms
        if span is None:
            return None
        return End(started + span, behaviour.reason, behaviour.message, behaviour.exit_code, behaviour.signal)
    if behaviour.duration_ms is None:
        return None
    code = behaviour.exit_code if completes else 0
    return End(started + behaviour.duration_ms, EndCause.COMPLETED, exit_code=code)


def _interruptions(
    record: Applied, started: int | None, faults: tuple[Fault, ...], cut: Interruption | None
) -> list[Interruption]:
    """All that ask it to end, the first one first; a stop last of those at once: the others may have been seen."""
    found = [cut] if cut is not None else []
    preempted = None if started is None else _strike(faults, FaultKind.PREEMPTED, started)
    if preempted is not None:
        found.append(Interruption(preempted, preempted + record.grace_ms, PREEMPTED, _PREEMPTED_MESSAGE))
    if record.time_limit_ms is not None and started is not None:
        at = started + record.time_limit_ms
        found.append(Interruption(at, at + record.grace_ms, EndCause.TIME_LIMIT))
    if record.stop is not None:
        found.append(Interruption(record.stop.asked_ms, record.stop.deadline_ms, EndCause.STOPPED))
    return sorted(found, key=lambda one: one.at)


def _end(
    behaviour: Behaviour, started: int | None, natural: End | None, interruptions: list[Interruption]
) -> End | None:
    """The end that comes of both: the first interruption names it, unless it came by itself before."""
    if not interruptions or (natural is not None and natural.at <= interruptions[0].at):
        return natural
    why = interruptions[0]
    if started is None or started > why.at:
        message = _STOPPED_BEFORE if why.reason == EndCause.STOPPED else why.message
        return End(why.at, why.reason, message)
    kill = min(one.kill for one in interruptions)
    answer = None if behaviour.stop_ms is None else why.at + behaviour.stop_ms
    at = min(moment for moment in (kill, answer, natural.at if natural else None) if moment is not None)
    if natural is not None and at == natural.at:
        return End(at, why.reason, why.message, natural.exit_code, natural.signal)
    if at == answer and behaviour.stop_exit_code is not None:
        return End(at, why.reason, why.message, behaviour.stop_exit_code)
    return End(at, why.reason, why.message, signal=SIGTERM if at == answer else SIGKILL)


def _node_deaths(faults: tuple[Fault, ...], started: int | None) -> tuple[int | None, int | None]:
    """When its node takes it along: (lost, gone)."""
    if not faults:
        return None, None
    deaths = [f for f in faults if f.kind is FaultKind.NODE_DEATH and started is not None and f.since_ms >= started]
    deaths = [fault for fault in deaths if fault.covers(fault.since_ms)]
    lost = min((fault.since_ms for fault in deaths if fault.mode != "vanish"), default=None)
    return lost, min((fault.since_ms for fault in deaths if fault.mode == "vanish"), default=None)


def _strike(faults: tuple[Fault, ...], kind: FaultKind, moment: int) -> int | None:
    return first(*[fault.strikes_from(moment) for fault in faults if fault.kind is kind]) if faults else None


def _until(moment: int | None, limit: int | None) -> int | None:
    return None if moment is None or (limit is not None and moment > limit) else moment


def first(*moments: int | None) -> int | None:
    """The earliest that ever comes."""
    return min([moment for moment in moments if moment is not None], default=None)
