"""What an ended workload still holds on a simulated cluster, on three levels. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from resources.drivers.base import Idle, ReleaseReading

from .faults import Fault, FaultKind, Faults
from .fleet import Fleet
from .records import Applied, Member
from .timeline import Line, first

_OBJECTS = "objects"


@dataclass(frozen=True, slots=True)
class Held:
    """What one member holds at a moment; None: its node does not answer."""

    member: Member
    objects: bool | None
    devices: Idle


def nothing_held(at: datetime) -> ReleaseReading:
    """The reading of a name that was never applied, or is forgotten."""
    return ReleaseReading(at, 0, 0, 0, {}, Idle.IDLE, 0, 0)


def reading_of(fleet: Fleet, record: Applied, lines: Iterable[Line], faults: Faults, now: int) -> list[Held]:
    """What each member of a workload holds now."""
    return [_held(fleet, record, line, faults, now) for line in lines]


def release_reading(record: Applied, held: list[Held], beside: Iterable[Held], at: datetime) -> ReleaseReading:
    """See `Driver.release`. A device is busy also by what others do on it: `beside` is held by those."""
    holding = [one for one in held if one.objects]
    unread = any(one.objects is None for one in held)
    done = not holding and not unread
    busy = {uuid for one in beside if one.devices is Idle.BUSY for uuid in one.member.devices}
    return ReleaseReading(
        at=at,
        objects_left=None if unread else len(holding),
        used_cpu_milli=None if unread else sum(one.member.cpu_milli for one in holding),
        used_memory_bytes=None if unread else sum(one.member.memory_bytes for one in holding),
        devices={uuid: Idle.BUSY if uuid in busy else one.devices for one in held for uuid in one.member.devices},
        cpu_idle=Idle.IDLE if done else Idle.NOT_OBSERVED if unread and not holding else Idle.BUSY,
        temporary_files=record.behaviour.temporary_files if done else None,
        temporary_bytes=record.behaviour.temporary_bytes if done else None,
    )


def _held(fleet: Fleet, record: Applied, line: Line, faults: Faults, now: int) -> Held:
    member, behaviour, over = line.member, record.behaviour, line.over
    found = faults.of_member(record.name, record.job_id, member.node)
    own = tuple(
        f for f in found if f.befalls(fleet.seed, member.node, record.applied_ms, record.name, record.incarnation)
    )
    dead = any(f.kind is FaultKind.NODE_DEATH and f.covers(now) for f in own)
    objects: bool | None = True
    free: int | None = None
    if over is not None:
        lag = _lag(own, over, objects_only=True)
        gone = first(line.gone, _after_deaths(own, over + behaviour.objects_ms + lag))
        objects = gone is None or now < gone
        free = over + behaviour.devices_ms + _lag(own, over, objects_only=False)
    if dead and objects:
        return Held(member, None, Idle.NOT_OBSERVED)
    return Held(member, objects, _devices(own, member, free, now, is_dead=dead))


def _devices(faults: tuple[Fault, ...], member: Member, free: int | None, now: int, *, is_dead: bool) -> Idle:
    if is_dead:
        return Idle.NOT_OBSERVED
    if not member.refused and (free is None or now < free):
        return Idle.BUSY
    leaks = (f for f in faults if f.kind is FaultKind.LEAKED_DEVICE and f.covers(now))
    return Idle.BUSY if any(not f.device or f.device in member.devices for f in leaks) else Idle.IDLE


def _lag(faults: tuple[Fault, ...], over: int, *, objects_only: bool) -> int:
    lags = (f for f in faults if f.kind is FaultKind.RELEASE_LAG and f.covers(over))
    return sum(f.delay_ms for f in lags if f.mode == _OBJECTS or not objects_only)


def _after_deaths(faults: tuple[Fault, ...], gone: int) -> int | None:
    """A dead node clears nothing away before it is back."""
    for fault in sorted(faults, key=lambda f: f.since_ms):
        if fault.kind is FaultKind.NODE_DEATH and fault.covers(gone):
            if fault.until_ms is None:
                return None
            gone = fault.until_ms
    return gone
