"""What a simulated cluster was asked: the workload as applied, its fence, the wish to end it. Pure.

All that is ever seen of a workload follows from its record, the faults and the time.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any

from .behaviour import Behaviour


@dataclass(frozen=True, slots=True)
class Member:
    """One pod: where it is to run and what it holds there."""

    index: int
    node: str
    cpu_milli: int
    memory_bytes: int
    devices: tuple[str, ...] = ()
    """Uuids of all devices granted."""
    refused: str = ""
    """The node's word for why it does not take the pod; "" when it does."""
    message: str = ""
    waits: str = ""
    """Why it will never start where it is, seen when it was applied."""


@dataclass(frozen=True, slots=True)
class Stop:
    """When the end was first asked for, and when it comes at the latest."""

    asked_ms: int
    deadline_ms: int


@dataclass(frozen=True, slots=True)
class Applied:
    """One workload that exists."""

    name: str
    job_id: str
    attempt_id: str
    generation: int
    task_type: str
    applied_ms: int
    members: tuple[Member, ...]
    behaviour: Behaviour
    gang: bool = True
    serves: bool = False
    time_limit_ms: int | None = None
    grace_ms: int = 0
    incarnation: int = 0
    """Grows when it is applied again after it had vanished."""
    stop: Stop | None = None

    @property
    def nodes(self) -> frozenset[str]:
        """Where its members are."""
        return frozenset(member.node for member in self.members)


@dataclass(frozen=True, slots=True)
class Fence:
    """The newest attempt of a job that was let pass; a closed one passes never again."""

    generation: int
    attempt_id: str
    closed: bool = False

    def raised(self, generation: int, attempt_id: str, *, closed: bool = False) -> "Fence | None":
        """The fence after this attempt has passed; None when it may not."""
        if self.generation > generation:
            return None
        if self.generation == generation and (self.attempt_id != attempt_id or self.closed):
            return None
        return Fence(generation, attempt_id, closed)


NO_FENCE = Fence(-1, "")


def write_applied(record: Applied) -> str:
    """As a store keeps it."""
    raw = {name: getattr(record, name) for name in record.__slots__}
    raw["members"] = [_values(member) for member in record.members]
    raw["behaviour"] = _changed(record.behaviour)
    raw["stop"] = _values(record.stop) if record.stop else None
    return json.dumps(raw, ensure_ascii=False, separators=(",", ":"))


def read_applied(text: str) -> Applied:
    """From what a store has kept."""
    raw = json.loads(text)
    raw["members"] = tuple(_member(values) for values in raw["members"])
    raw["behaviour"] = _behaviour(raw["behaviour"])
    raw["stop"] = Stop(*raw["stop"]) if raw["stop"] else None
    return Applied(**raw)


def _values(one: Any) -> list[Any]:
    return [getattr(one, name) for name in one.__slots__]


def _member(values: list[Any]) -> Member:
    index, node, cpu, memory, devices, *rest = values
    return Member(index, node, cpu, memory, tuple(devices), *rest)


_UNSAID = Behaviour()


def _changed(behaviour: Behaviour) -> dict[str, Any]:
    """What differs from a behaviour of which nothing was said."""
    names = [field.name for field in fields(Behaviour)]
    return {name: value for name in names if (value := getattr(behaviour, name)) != getattr(_UNSAID, name)}


def _behaviour(raw: Mapping[str, Any]) -> Behaviour:
    log = raw.get("log")
    return Behaviour(**{**raw, "log": tuple((at, line) for at, line in log)} if log is not None else raw)
