"""The contract between the portal and whatever runs workloads: a few idempotent verbs and plain facts.

A driver reports what *is*, never what changed; the portal compares and acts (level-triggered).
Every verb may be repeated: a workload is known by its deterministic name, fenced by attempt and generation.
Pure: dataclasses and a Protocol, no Django, no I/O.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any, Protocol, runtime_checkable

from resources.drivers.facts import ClusterFacts
from resources.drivers.nodes import NumaNode, SeenDevice, SeenDeviceGroup, SeenNode

__all__ = [
    "NAMESPACE_ENDING",
    "WHOLE_DEVICE",
    "Capability",
    "ClockReading",
    "Driver",
    "DriverError",
    "DriverUnavailable",
    "EndCause",
    "Idle",
    "Inventory",
    "Listener",
    "MemberSpec",
    "Mount",
    "NumaNode",
    "Observation",
    "Phase",
    "ReleaseReading",
    "SeenDevice",
    "SeenDeviceGroup",
    "SeenMember",
    "SeenNode",
    "SeenWorkload",
    "Toleration",
    "Topic",
    "Workload",
    "WorkloadRejected",
    "members_running",
]

WHOLE_DEVICE = 42_000
"""Parts in one whole device (architecture rule 8)."""
NAMESPACE_ENDING = "NamespaceEnding"
"""Reason of DriverUnavailable: what is there is going, and nobody may touch it any more."""


class DriverError(Exception):
    """A failed call to a cluster; `detail` is for the log, never for a user."""

    def __init__(self, detail: str, *, reason: str) -> None:
        super().__init__(detail)
        self.detail = detail
        self.reason = reason


class DriverUnavailable(DriverError):
    """The outcome is unknown or the cluster could not be asked: try again later, conclude nothing."""


class WorkloadRejected(DriverError):
    """The workload was surely not created and will not be by asking again unchanged."""


class Phase(StrEnum):
    """Where one member of a workload stands, as observed."""

    PENDING = "Pending"
    RUNNING = "Running"
    SUCCEEDED = "Succeeded"
    FAILED = "Failed"
    UNKNOWN = "Unknown"  # the driver cannot tell any more (exit record lost): never read as success


class EndCause(StrEnum):
    """Why a member ended, in words every driver shares; what a cluster says beyond these is kept as it is."""

    COMPLETED = "Completed"
    ERROR = "Error"  # its own exit code or signal
    KILLED = "Killed"  # from outside, by nobody we know
    START_FAILED = "StartFailed"
    TIME_LIMIT = "TimeLimit"
    MEMORY_LIMIT = "MemoryLimit"
    OOM_KILLED = "OOMKilled"
    GANG_FAILED = "GangFailed"
    STOPPED = "Stopped"
    HOST_STOPPING = "HostStopping"


class Idle(StrEnum):
    """Whether a device was seen idle. `NOT_OBSERVED` is an answer of its own, never green."""

    IDLE = "idle"
    BUSY = "busy"
    NOT_OBSERVED = "not_observed"


@dataclass(frozen=True, slots=True)
class ClockReading:
    """How far a cluster's clock is ahead of the portal's (negative: behind), known to plus or minus `within_ms`."""

    ahead_ms: int
    within_ms: int
    at: datetime


@dataclass(frozen=True, slots=True)
class Inventory:
    """All nodes of a cluster at one time. `complete` is False when the list may be partial."""

    nodes: tuple[SeenNode, ...]
    at: datetime
    complete: bool
    clock: ClockReading | None = None
    """Its clock against ours; None: not measured, or it is ours. All times a driver tells are in the portal's."""


@dataclass(frozen=True, slots=True)
class MemberSpec:
    """One process or pod of a workload: where it must run and what it may use."""

    index: int
    node: str
    cpu_milli: int
    memory_bytes: int
    devices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Resource name -> uuids of the devices granted to this member."""
    cpus: tuple[int, ...] = ()
    """CPU ids granted, when the placement names them; empty: the driver's choice."""


@dataclass(frozen=True, slots=True)
class Mount:
    """A folder or file shown to the job, by the environment variable that will hold its path inside."""

    variable: str
    source: str
    writable: bool = False


@dataclass(frozen=True, slots=True)
class Toleration:
    """A taint the workload may run beside: of this value, or with None of any."""

    key: str
    effect: str
    value: str | None = None


@dataclass(frozen=True, slots=True)
class Workload:
    """What a driver applies: name, fence, members and how they end. Built only from typed template fields."""

    name: str
    """Deterministic, DNS-1123, at most 52 characters; the same attempt always has the same name."""
    job_id: str
    attempt_id: str
    generation: int
    """Grows with every attempt of a job; a driver refuses to act for an older one."""
    task_type: str
    program: str
    """Key of a shipped program, or "" when `command` is given."""
    command: tuple[str, ...]
    params: Mapping[str, Any]
    members: tuple[MemberSpec, ...]
    environment: Mapping[str, str] = field(default_factory=dict)
    mounts: tuple[Mount, ...] = ()
    output_dir: str = ""
    checkpoint_dir: str = ""
    resume: bool = False
    gang: bool = True
    """True: one failed member fails all, and the others are stopped."""
    serves: bool = False
    """True for inference: members get a port and a health path; they are ready when it answers."""
    health_path: str = "/healthz"
    token_sha256: str = ""
    """Digest of the project token a service must demand; "" when it serves nothing."""
    time_limit_ms: int | None = None
    grace_ms: int = 10_000
    image: str = ""
    """Where it runs in containers: the image of its runtime."""
    runtime_class: str = ""
    """RuntimeClass of its runtime; "" is the cluster's own choice."""
    scheduler_name: str = ""
    """Which scheduler binds its pods; "" is the cluster's own."""
    tolerations: tuple[Toleration, ...] = ()
    image_user: bool = False
    """True: the user the image names, never root, instead of the portal's own number. A pool's audited setting."""
    shipped: bool = True
    """False when the command is a user's own: refused where the machine cannot isolate it."""


@dataclass(frozen=True, slots=True)
class SeenMember:
    """One member as observed, with the times at which things happened there, not at which we looked."""

    index: int
    node: str
    phase: Phase
    bound_at: datetime | None = None
    started_at: datetime | None = None
    ready_at: datetime | None = None
    finished_at: datetime | None = None
    exit_code: int | None = None
    signal: int | None = None
    reason: str = ""
    """The cluster's own word (OOMKilled, Error, LimitExceeded …), untranslated."""
    message: str = ""
    address: str = ""
    """host:port a serving member listens on."""
    uid: str = ""
    """pid:starttime, or the pod's uid: what a delete must carry."""


@dataclass(frozen=True, slots=True)
class SeenWorkload:
    """A workload as observed."""

    name: str
    job_id: str
    attempt_id: str
    generation: int
    members: tuple[SeenMember, ...]
    stopping: bool = False


@dataclass(frozen=True, slots=True)
class Observation:
    """All workloads of ours on a cluster at one time. A partial list proves no absence."""

    workloads: tuple[SeenWorkload, ...]
    at: datetime
    complete: bool
    until: datetime | None = None
    """When a look that takes long was over: nothing it saw can be later. None: at once."""


@dataclass(frozen=True, slots=True)
class ReleaseReading:
    """What is still held on a cluster for one ended workload, read again after the end, on three levels."""

    at: datetime
    objects_left: int | None
    """Processes or objects still there; None when it could not be read."""
    used_cpu_milli: int | None
    """Requests of everything still there on the workload's nodes, the workload's own part only; None: unread."""
    used_memory_bytes: int | None
    devices: Mapping[str, Idle] = field(default_factory=dict)
    """Device uuid -> seen idle or not; a job without devices has an empty map."""
    cpu_idle: Idle = Idle.NOT_OBSERVED
    """Level three for jobs without devices: no process of the job is left using CPU or memory."""
    temporary_files: int | None = None
    temporary_bytes: int | None = None
    """What `clean` removed; None when not yet cleaned."""


@dataclass(frozen=True, slots=True)
class Capability:
    """What this driver can and cannot do here, with the reason; shown on the cluster page."""

    isolation: bool
    isolation_detail: str
    """A fixed sentence, translated where it is shown."""
    logs: bool = True
    services: bool = True
    devices: bool = True
    simulated: bool = False
    isolation_cause: str = ""
    """Why there is none, in the system's own words, for an operator."""


class Driver(Protocol):
    """The only door to a cluster. All verbs are idempotent by workload name; none sleeps for long."""

    def capability(self) -> Capability:
        """What works here and why something does not."""

    def inventory(self) -> Inventory:
        """Nodes, devices and health as read now. Raises DriverUnavailable."""

    def facts(self) -> ClusterFacts | None:
        """The cluster's fact sheet, which changes seldom and may take several calls; None where there is none to read.

        Raises DriverUnavailable.
        """

    def apply(self, workload: Workload) -> None:
        """Make the workload exist; doing it twice makes one.

        Raises WorkloadRejected when it surely was not created, DriverUnavailable when the outcome is unknown.
        An older generation than one already seen for the job is rejected (`FencedOut`).
        """

    def observe(self) -> Observation:
        """Every workload of ours that has left a trace and was not cleaned. Raises DriverUnavailable."""

    def stop(self, name: str, *, attempt_id: str, grace_ms: int) -> None:
        """Ask the workload to end: TERM, KILL after the grace. A missing or foreign one is left alone.

        Returns at once; the end is seen by `observe`.
        """

    def release(self, name: str, *, attempt_id: str) -> ReleaseReading:
        """Read again what an ended workload still holds. Removes its temporary files once nothing runs.

        Raises DriverUnavailable. A name never applied reads as nothing left.
        """

    def logs(self, name: str, *, member: int, offset: int, limit: int) -> tuple[bytes, int]:
        """Bytes of the member's log from `offset`, at most `limit`, and the next offset.

        A negative offset counts from the end. Where a driver does not know how long a log is, the next offset is a
        place that only it can read, beyond all true ones. Kept after the end until `forget`.
        """

    def forget(self, name: str, *, attempt_id: str) -> None:
        """Remove what is kept of a finished workload (logs, records). Outputs and checkpoints stay."""


class Topic(StrEnum):
    """What a driver may listen to."""

    WORKLOADS = "workloads"
    NODES = "nodes"


@runtime_checkable
class Listener(Protocol):
    """What a driver has besides that can hear of changes between two looks. Hearing nothing proves nothing."""

    def listen(self, topic: Topic, *, seconds: float, hint: Callable[[], None]) -> None:
        """Call `hint` when something changed, for so long at most. Raises nothing; returns early for any trouble."""


def members_running(seen: SeenWorkload) -> Iterator[SeenMember]:
    """Members that run or may still start. Of an unknown one only `Driver.release` can tell what it holds."""
    return (m for m in seen.members if m.phase in (Phase.PENDING, Phase.RUNNING))
