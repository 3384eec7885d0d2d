"""What the cycle answers: exactly one decision for every waiting job, with reason and numbers."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from jobs.reasons import Reason
from jobs.scheduler import codec
from jobs.scheduler.snapshot import DeviceShare, Line


class Verdict(StrEnum):
    """The word of a decision; the first three are what the preview shows."""

    NOW = "now"
    WAIT = "wait"
    NEVER = "never"
    END = "end"


@dataclass(frozen=True, slots=True)
class Placement:
    """Where one replica goes and what it takes there; `devices` are the parts behind the device lines."""

    pod_set: str
    replica: int
    host: str
    lines: tuple[Line, ...]
    devices: tuple[DeviceShare, ...]


@dataclass(frozen=True, slots=True)
class Holder:
    """A job that holds what another waits for; its limit frees `amount` at `ends_ms` (None: no limit)."""

    job: str
    amount: int
    ends_ms: int | None


@dataclass(frozen=True, slots=True)
class Estimate:
    """When the job may start: from running jobs' limits alone, if nobody ahead takes what they free.

    `latest_ms` is None while others are ahead in the queue, because nothing then bounds it.
    """

    earliest_ms: int
    latest_ms: int | None
    basis: str = "limits"


@dataclass(frozen=True, slots=True)
class Option:
    """One way to run a job (an alternative in a pool) and what stops it there."""

    pool: str
    alternative: str
    reason: Reason
    facts: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Why:
    """Why a job does not start. Jobs of one shape share one Why; amounts in `facts` are base units.

    `pool` and `alternative` are "" where the reason is about neither. `options`: all ways to run, best first.
    `kept_for`: the job that room is kept for, where that is the reason. `shares`: of the project and each team above
    but the root, name and share of the pool in millionths of what is normally theirs.
    """

    reason: Reason
    facts: dict[str, Any]
    pool: str = ""
    alternative: str = ""
    options: tuple[Option, ...] = ()
    holders: tuple[Holder, ...] = ()
    kept_for: str = ""
    shares: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Admit:
    """Start now: every replica has its host and devices, all in one cluster, within every quota."""

    job: str
    attempt: int
    pool: str
    cluster: str
    alternative: str
    placements: tuple[Placement, ...]
    price_micro_per_hour: int | None  # None: some line is unrated
    verdict: Verdict = field(default=Verdict.NOW, init=False)


@dataclass(frozen=True, slots=True)
class Reserved:
    """Hosts kept for a waiting job from `at_ms` on; None where nothing that runs there says when it ends."""

    pool: str
    cluster: str
    hosts: tuple[str, ...]
    at_ms: int | None


@dataclass(frozen=True, slots=True)
class Wait:
    """Not now. `position` of `total` is the place in the pool's queue, 1 first; None for a held job."""

    job: str
    attempt: int
    why: Why
    position: int | None
    total: int | None
    estimate: Estimate | None
    price_micro_per_hour: int | None
    reserved: Reserved | None = None
    verdict: Verdict = field(default=Verdict.WAIT, init=False)


@dataclass(frozen=True, slots=True)
class Never:
    """Not possible by today's rules and inventory, even with the pool empty and the whole quota unused."""

    job: str
    attempt: int
    why: Why
    verdict: Verdict = field(default=Verdict.NEVER, init=False)


@dataclass(frozen=True, slots=True)
class Expire:
    """Waited as long as it was willing to; `why` is MaxWaitExceeded and `blocked_by` what it waited for."""

    job: str
    attempt: int
    why: Why
    blocked_by: Why
    verdict: Verdict = field(default=Verdict.END, init=False)


Decision = Admit | Wait | Never | Expire


@dataclass(frozen=True, slots=True)
class Preemption:
    """Stop `victims` so that `job` can start on `hosts`. `rule` is by what right, `tenant` in whose name."""

    job: str
    attempt: int
    pool: str
    cluster: str
    rule: str
    tenant: str
    victims: tuple[str, ...]
    hosts: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Notice:
    """Something wrong with the facts themselves, for administrators: a quota cell of an unknown class."""

    reason: Reason
    facts: dict[str, Any]


@dataclass(frozen=True, slots=True)
class Stats:
    """What one pass did, in counts (times are the caller's to measure: they would break byte equality)."""

    waiting: int
    admitted: int
    never: int
    expired: int
    shapes: int
    stopped: int = 0


@dataclass(frozen=True, slots=True)
class CycleResult:
    """All decisions in the order they were taken, first in the queue first."""

    decisions: tuple[Decision, ...]
    stats: Stats
    notices: tuple[Notice, ...] = ()
    preemptions: tuple[Preemption, ...] = ()

    def to_json(self) -> bytes:
        """Canonical bytes: the same snapshot and rules give the same bytes on every machine."""
        return codec.to_json(self)
