"""The cluster at a moment, read off the lines of its workloads. Pure but for what it remembers of its own answers."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from datetime import datetime

from portal.lib.clock import from_ms
from resources.drivers.base import Phase, SeenMember, SeenNode, SeenWorkload

from .chance import mark
from .faults import FaultKind, Faults
from .fleet import Fleet
from .fleet_nodes import with_unhealthy
from .records import Applied
from .store import State
from .timeline import Line, lines_of

NODE_LOST = "NodeLost"
NODE_DEAD = "NodeStatusUnknown"
_LOST_MESSAGE = "simulated: the node does not answer any more"
_FOREVER = 1 << 62


@dataclass(frozen=True, slots=True)
class _Answer:
    """How a workload looks in [since, until), from its record and the faults as they were."""

    record: Applied
    faults: Faults
    lines: tuple[Line, ...]
    since: int
    until: int
    seen: SeenWorkload | None


class World:
    """Answers about one fleet. Each look costs next to nothing while nothing has happened since the last one."""

    def __init__(self, fleet: Fleet) -> None:
        self._fleet = fleet
        self._answers: dict[str, _Answer] = {}

    def workloads(self, state: State, now: int) -> list[SeenWorkload]:
        """Every workload that is listed now."""
        records = list(state.records.values())
        if len(self._answers) > 2 * len(records) + 1_000:
            self._answers.clear()
        faults, seen = state.faults, []
        for record in records:
            answer = self._answers.get(record.name)
            if answer is None or answer.record is not record or answer.faults is not faults:
                answer = self._look(record, self._lines(record, faults), faults, now)
            elif not answer.since <= now < answer.until:
                answer = self._look(record, answer.lines, faults, now)
            if answer.seen is not None:
                seen.append(answer.seen)
        return seen

    def lines(self, record: Applied, faults: Faults) -> tuple[Line, ...]:
        """The course of a workload."""
        answer = self._answers.get(record.name)
        if answer is not None and answer.record is record and answer.faults is faults:
            return answer.lines
        return self._lines(record, faults)

    def turns(self, record: Applied, faults: Faults) -> list[int]:
        """Every moment at which it looks different from before, or gives something back."""
        found: list[int] = []
        for line in self.lines(record, faults):
            found += _moments(line)
            if line.over is not None:
                found += (line.over + record.behaviour.objects_ms, line.over + record.behaviour.devices_ms)
        return found

    def is_listed(self, record: Applied, faults: Faults, now: int) -> bool:
        """Whether anything of a workload can be seen now."""
        return any(line.gone is None or line.gone > now for line in self.lines(record, faults))

    def nodes(self, faults: Faults, now: int) -> tuple[SeenNode, ...]:
        """Every node as its cluster reports it now."""
        nodes = self._fleet.nodes
        if not faults.all:
            return nodes
        return tuple(self._node(node, faults, now) for node in nodes)

    def _lines(self, record: Applied, faults: Faults) -> tuple[Line, ...]:
        return lines_of(record, faults, self._fleet.seed)

    def _look(self, record: Applied, lines: tuple[Line, ...], faults: Faults, now: int) -> _Answer:
        turns = [moment for line in lines for moment in _moments(line)]
        if record.stop is not None:
            turns.append(record.stop.asked_ms)
        since = max((moment for moment in turns if moment <= now), default=-_FOREVER)
        until = min((moment for moment in turns if moment > now), default=_FOREVER)
        answer = _Answer(record, faults, lines, since, until, seen_workload(record, lines, now))
        self._answers[record.name] = answer
        return answer

    def _node(self, node: SeenNode, faults: Faults, now: int) -> SeenNode:
        own = [f for f in faults.of_node(node.name) if f.covers(now) and f.hits(self._fleet.seed, node.name)]
        own = [fault for fault in own if fault.kind in (FaultKind.NODE_DEATH, FaultKind.DEVICE_UNHEALTHY)]
        for fault in own:
            if fault.kind is FaultKind.NODE_DEATH:
                node = replace(node, ready=False, schedulable=False, reason=NODE_DEAD)
            else:
                known = self._fleet.devices(node.name)
                uuids = [uuid for uuid in known if fault.device in ("", uuid)]
                node = with_unhealthy(node, dict.fromkeys(uuids, fault.mode or "simulated: unhealthy"))
        return node


def seen_workload(record: Applied, lines: Iterable[Line], now: int) -> SeenWorkload | None:
    """A workload as it is listed; None when nothing of it is."""
    uid = mark(record.name, record.attempt_id, record.incarnation, length=16)
    listed = (line for line in lines if line.gone is None or line.gone > now)
    members = tuple(seen_member(record, line, now, f"sim-{uid}-{line.member.index}") for line in listed)
    if not members:
        return None
    return SeenWorkload(
        name=record.name,
        job_id=record.job_id,
        attempt_id=record.attempt_id,
        generation=record.generation,
        members=members,
        stopping=record.stop is not None and record.stop.asked_ms <= now,
    )


def seen_member(record: Applied, line: Line, now: int, uid: str) -> SeenMember:
    """A member as it is listed, with nothing of what is still to come."""
    index, end = line.member.index, line.end
    phase, reason, message = _standing(line, now)
    ended = end if end is not None and phase in (Phase.SUCCEEDED, Phase.FAILED) else None
    return SeenMember(
        index=index,
        node=line.member.node,
        phase=phase,
        bound_at=_past(line.bound, now),
        started_at=_past(line.started, now),
        ready_at=_past(line.ready, now),
        finished_at=from_ms(ended.at) if ended else None,
        exit_code=ended.exit_code if ended else None,
        signal=ended.signal if ended else None,
        reason=reason,
        message=message,
        address=f"{record.name}-{index}.{line.member.node}.invalid:8080" if record.serves else "",
        uid=uid,
    )


def _standing(line: Line, now: int) -> tuple[Phase, str, str]:
    end, lost = line.end, line.lost
    if end is not None and end.at <= now and (lost is None or end.at <= lost):
        return end.phase, end.reason, end.message
    if lost is not None and lost <= now:
        return Phase.UNKNOWN, NODE_LOST, _LOST_MESSAGE
    if line.started is not None and line.started <= now:
        return Phase.RUNNING, "", ""
    waits = [wait for wait in line.waits if wait[0] <= now]
    return (Phase.PENDING, *waits[-1][1:]) if waits else (Phase.PENDING, "", "")


def _moments(line: Line) -> Iterable[int]:
    """Every moment at which the member looks different from before."""
    end = line.end.at if line.end else None
    moments = (line.bound, line.started, line.ready, end, line.lost, line.gone, *(wait[0] for wait in line.waits))
    return (moment for moment in moments if moment is not None)


def _past(moment: int | None, now: int) -> datetime | None:
    return from_ms(moment) if moment is not None and moment <= now else None
