"""What a workload will do, settled when it is applied: from the fleet's habits, its own parameters, and hints. Pure.

Hints may be foretold to the driver, or come with the workload as `SIM_BEHAVIOUR` in its parameters (an object) or
its environment (the same as JSON). They are this module's `Behaviour` fields, all optional.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from resources.drivers.base import EndCause, Workload

from .chance import roll
from .fleet import THOUSAND, Fleet

HINTS = "SIM_BEHAVIOUR"
LOST_WORDS = frozenset({EndCause.OOM_KILLED, EndCause.KILLED, EndCause.MEMORY_LIMIT})
"""Ends that come as a KILL; any other end that is no completion is an exit with 1 unless a hint says otherwise."""

SIGKILL, SIGTERM = 9, 15
_OWN_SPANS = ("lasts", "time_to_live", "duration")
"""Parameters, in milliseconds, by which a task says itself how long it runs."""
REHEARSAL = "rehearsal"
"""The program whose parameter `ends` says how it ends."""
_ENDS: Mapping[str, Mapping[str, Any]] = {
    "success": {"reason": EndCause.COMPLETED},
    "error": {"reason": EndCause.ERROR},
    "out-of-memory": {"reason": EndCause.OOM_KILLED},
    "start-failed": {"reason": EndCause.START_FAILED},
    "never-started": {"start_ms": 366 * 86_400_000},
}
_LONGEST_MS = 366 * 86_400_000
_LONGEST_TEXT = 500
_LARGEST_LOG = 256 << 10
_LARGEST = 1 << 60
_MESSAGES = {
    EndCause.OOM_KILLED: "simulated: the container used more memory than its limit",
    EndCause.START_FAILED: "simulated: the program could not be started",
}


class BadBehaviour(ValueError):
    """Hints that cannot be understood."""


@dataclass(frozen=True, slots=True)
class Behaviour:
    """The course of a workload that nobody disturbs. Spans in milliseconds."""

    bind_ms: int = 0
    pull_ms: int = 0
    start_ms: int = 0
    ready_ms: int | None = 0
    """From the start until a service answers; None: never."""
    duration_ms: int | None = None
    """From the start to the end; None: it runs until it is stopped."""
    reason: str = EndCause.COMPLETED
    """The word for its end: an `EndCause` or a cluster's own."""
    message: str = ""
    exit_code: int | None = 0
    signal: int | None = None
    failing_member: int | None = None
    """The member that ends so, the others complete; None: all of them end so."""
    fail_ms: int | None = None
    """From the start to an end that is no completion; None: `duration_ms`."""
    memory_bytes: int | None = None
    """What a member comes to need: more than its limit gets it killed at `fail_ms`."""
    stop_ms: int | None = 0
    """From a TERM to the exit; None: it does not listen."""
    stop_exit_code: int | None = None
    """Its answer to a TERM; None: the signal ends it."""
    goodbye: str = ""
    """Its last line of log when it ends by a TERM."""
    objects_ms: int = 0
    """From its end until nothing of it is left."""
    devices_ms: int = 0
    """From its end until its devices are seen idle."""
    temporary_files: int = 0
    temporary_bytes: int = 0
    log: tuple[tuple[int, str], ...] | None = None
    """(milliseconds from the start, line) each; None: a text of the simulation's own."""


_NAMES = frozenset(field.name for field in fields(Behaviour))
_TEXTS = frozenset({"reason", "message", "goodbye"})
_OPTIONAL = frozenset(
    {"ready_ms", "duration_ms", "exit_code", "signal", "failing_member", "fail_ms", "memory_bytes", "stop_ms"}
    | {"stop_exit_code", "log"}
)
"""Those that may be None."""


def behaviour_of(fleet: Fleet, workload: Workload, foretold: Mapping[str, Any]) -> Behaviour:
    """The behaviour of a workload. Raises BadBehaviour."""
    hints = {**foretold, **_rehearsed(workload), **_params(workload), **_environment(workload)}
    told = read_hints(hints)
    behaviour = replace(_habit(fleet, workload), **told)
    if "duration_ms" not in told:
        behaviour = _habitual_end(fleet, workload, behaviour, ends_well="reason" not in told)
    least = min((member.memory_bytes for member in workload.members), default=0)
    if behaviour.memory_bytes is not None and behaviour.memory_bytes > least:
        return _ending(behaviour, EndCause.OOM_KILLED)
    return behaviour


def read_hints(hints: Mapping[str, Any]) -> dict[str, Any]:
    """Hints as fields of a behaviour; a reason alone brings its usual exit with it. Raises BadBehaviour."""
    for name, value in hints.items():
        if not _fits(name, value):
            raise BadBehaviour(f"{name}={value!r}"[:200])
    found = dict(hints)
    if found.get("log") is not None:
        found["log"] = tuple((at, line) for at, line in found["log"])
    reason = found.get("reason")
    usual = _ending(Behaviour(), reason) if reason is not None else Behaviour(exit_code=found.get("exit_code", 0))
    if found.get("signal") is not None:
        usual = replace(usual, exit_code=None)
    if reason is None and (found.get("exit_code") or found.get("signal")):
        found["reason"] = EndCause.ERROR
    ends = {"reason", "exit_code", "signal", "message"} & found.keys()
    return {"exit_code": usual.exit_code, "signal": usual.signal, "message": usual.message, **found} if ends else found


def _fits(name: str, value: object) -> bool:
    if name not in _NAMES:
        return False
    if value is None:
        return name in _OPTIONAL
    if name == "log":
        return _is_log(value)
    if name in _TEXTS:
        return isinstance(value, str) and len(value) <= _LONGEST_TEXT
    return type(value) is int and 0 <= value <= (_LARGEST if name.endswith("bytes") else _LONGEST_MS)


def _is_log(value: object) -> bool:
    if not isinstance(value, list | tuple):
        return False
    pairs = [pair for pair in value if isinstance(pair, list | tuple) and len(pair) == 2]
    fits = all(type(at) is int and at >= 0 and isinstance(line, str) for at, line in pairs)
    return len(pairs) == len(value) and fits and sum(len(line) for _, line in pairs) <= _LARGEST_LOG


def _rehearsed(workload: Workload) -> Mapping[str, Any]:
    return _ENDS.get(str(workload.params.get("ends")), {}) if workload.program == REHEARSAL else {}


def _params(workload: Workload) -> Mapping[str, Any]:
    return _object(workload.params.get(HINTS, {}))


def _environment(workload: Workload) -> Mapping[str, Any]:
    try:
        return _object(json.loads(workload.environment.get(HINTS, "{}")))
    except ValueError as error:
        raise BadBehaviour(f"{HINTS}: {error}") from None


def _object(value: object) -> Mapping[str, Any]:
    if not isinstance(value, Mapping):
        raise BadBehaviour(f"{HINTS} is not an object")
    return value


def _habit(fleet: Fleet, workload: Workload) -> Behaviour:
    """How this fleet treats a workload of this name."""
    latency, seed, name = fleet.latency, fleet.seed, workload.name
    files = roll(seed, name, "files", of=40)
    return Behaviour(
        bind_ms=latency.bind.draw(seed, name, "bind"),
        pull_ms=latency.pull.draw(seed, name, "pull"),
        start_ms=latency.start.draw(seed, name, "start"),
        ready_ms=latency.ready.draw(seed, name, "ready"),
        stop_ms=latency.stop.draw(seed, name, "stop"),
        stop_exit_code=0 if workload.serves or workload.checkpoint_dir else None,
        objects_ms=latency.objects.draw(seed, name, "objects"),
        devices_ms=latency.devices.draw(seed, name, "devices"),
        temporary_files=files,
        temporary_bytes=files * roll(seed, name, "bytes", of=8 << 20),
    )


def _habitual_end(fleet: Fleet, workload: Workload, behaviour: Behaviour, *, ends_well: bool) -> Behaviour:
    """With a duration from the workload's own parameters or the fleet's habits, and sometimes a failure."""
    own = next((workload.params[name] for name in _OWN_SPANS if name in workload.params), None)
    span = fleet.durations.get(workload.task_type)
    if type(own) is int and own >= 0:
        behaviour = replace(behaviour, duration_ms=own)
    elif span is None or workload.serves:
        return behaviour
    else:
        duration = span.draw(fleet.seed, workload.name, "duration")
        if workload.time_limit_ms is not None:
            duration = min(duration, workload.time_limit_ms * 4 // 5)
        behaviour = replace(behaviour, duration_ms=duration)
    return _habitual_failure(fleet, workload, behaviour) if ends_well else behaviour


def _habitual_failure(fleet: Fleet, workload: Workload, behaviour: Behaviour) -> Behaviour:
    number = roll(fleet.seed, workload.name, "failure", of=THOUSAND)
    for reason, share in fleet.failures.get(workload.task_type, {}).items():
        if number < share:
            duration = behaviour.duration_ms or 0
            return replace(_ending(behaviour, reason), fail_ms=duration * (number * 977 % THOUSAND) // THOUSAND)
        number -= share
    return behaviour


def _ending(behaviour: Behaviour, reason: str) -> Behaviour:
    """With this word for the end, and the exit that usually goes with it."""
    message = _MESSAGES.get(reason, "")  # type: ignore[call-overload]
    if reason == EndCause.COMPLETED:
        return replace(behaviour, reason=reason, message="", exit_code=0, signal=None)
    if reason in LOST_WORDS:
        return replace(behaviour, reason=reason, message=message, exit_code=None, signal=SIGKILL)
    code = None if reason == EndCause.START_FAILED else 1
    return replace(behaviour, reason=reason, message=message, exit_code=code, signal=None)
