"""From bound to started: admission by the node, the image, the launch, and what holds each of them up. Pure."""

from dataclasses import dataclass

from resources.drivers.base import EndCause

from .faults import Fault, FaultKind
from .records import Applied, Member

Wait = tuple[int, str, str]
"""(from, word, message) of why a member does not run yet."""

UNEXPECTED = "UnexpectedAdmissionError"
UNHEALTHY = "simulated: cannot allocate unhealthy devices"
_CREATING = "ContainerCreating"
_PULL_FAILED, _PULL_BACK_OFF = "ErrImagePull", "ImagePullBackOff"
_PULL_MESSAGE = "simulated: the image could not be pulled"
_BACK_OFF_MS = 10_000


@dataclass(frozen=True, slots=True)
class Failure:
    """A start that failed for good."""

    at: int
    reason: str
    message: str
    exit_code: int | None = None


@dataclass(frozen=True, slots=True)
class Start:
    """When a member starts, None when never; why it waits; or how its start fails."""

    at: int | None
    waits: tuple[Wait, ...] = ()
    failure: Failure | None = None


def start_of(record: Applied, member: Member, bound: int, faults: tuple[Fault, ...]) -> Start:
    """The start of a member that is bound then."""
    if member.refused:
        return Start(None, failure=Failure(bound, member.refused, member.message))
    if member.waits:
        return Start(None, ((bound, member.waits, member.message),))
    if any(_concerns(fault, member) and fault.covers(bound) for fault in faults):
        return Start(None, failure=Failure(bound, UNEXPECTED, UNHEALTHY))
    if not faults and record.behaviour.reason != EndCause.START_FAILED:
        started = bound + record.behaviour.pull_ms + record.behaviour.start_ms
        return Start(started, ((bound, _CREATING, ""),))
    return _held_up(record, bound, faults)


def _held_up(record: Applied, bound: int, faults: tuple[Fault, ...]) -> Start:
    behaviour = record.behaviour
    slow = sum(fault.delay_ms for fault in faults if fault.kind is FaultKind.SLOW_START and fault.covers(bound))
    waits: list[Wait] = [(bound, _CREATING, "")]
    pulled: int | None = bound + behaviour.pull_ms + slow
    while pulled is not None and (fault := _covering(faults, pulled, FaultKind.IMAGE_FAILURE)):
        if fault.mode == "final":
            failure = Failure(pulled, EndCause.START_FAILED, f"{_PULL_FAILED}: {_PULL_MESSAGE}")
            return Start(None, tuple(waits), failure)
        waits.append((pulled, _PULL_FAILED, _PULL_MESSAGE))
        retried = None if fault.until_ms is None else fault.until_ms + behaviour.pull_ms
        if retried is None or retried > pulled + _BACK_OFF_MS:
            waits.append((pulled + _BACK_OFF_MS, _PULL_BACK_OFF, _PULL_MESSAGE))
        pulled = retried
    if pulled is not None and behaviour.reason == EndCause.START_FAILED:
        return Start(None, tuple(waits), Failure(pulled, behaviour.reason, behaviour.message, behaviour.exit_code))
    started = None if pulled is None else pulled + behaviour.start_ms
    while started is not None and (fault := _covering(faults, started, FaultKind.NODE_DEATH, FaultKind.NEVER_STARTS)):
        waits.append((started, "NodeNotReady" if fault.kind is FaultKind.NODE_DEATH else _CREATING, ""))
        started = None if fault.until_ms is None else fault.until_ms + behaviour.start_ms
    return Start(started, tuple(waits))


def ready_of(started: int | None, ready_ms: int | None, faults: tuple[Fault, ...]) -> int | None:
    """When a service that started then answers."""
    ready = None if started is None or ready_ms is None else started + ready_ms
    while ready is not None and (fault := _covering(faults, ready, FaultKind.NEVER_READY)):
        ready = fault.until_ms
    return ready


def _concerns(fault: Fault, member: Member) -> bool:
    """Whether a device of this member is unhealthy by it."""
    if fault.kind is not FaultKind.DEVICE_UNHEALTHY:
        return False
    return fault.device in member.devices if fault.device else bool(member.devices)


def _covering(faults: tuple[Fault, ...], moment: int, *kinds: FaultKind) -> Fault | None:
    return next((fault for fault in faults if fault.kind in kinds and fault.covers(moment)), None)
