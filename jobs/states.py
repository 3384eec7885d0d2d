"""The states of a Job and of its Allocation, the moves between them, and the rail they are shown on."""

from __future__ import annotations

from enum import StrEnum


class JobState(StrEnum):
    """What a job is doing; written only by `jobs/services/transition.py`."""

    HELD = "HELD"
    QUEUED = "QUEUED"
    ADMITTED = "ADMITTED"
    STARTING = "STARTING"
    RUNNING = "RUNNING"
    STOPPING = "STOPPING"
    SUCCEEDED = "SUCCEEDED"
    FAILED = "FAILED"
    CANCELLED = "CANCELLED"


class AllocationState(StrEnum):
    """How far what a job holds has been taken, or given back."""

    RESERVED = "RESERVED"
    BOUND = "BOUND"
    RELEASING = "RELEASING"
    RELEASED = "RELEASED"
    LEAKED = "LEAKED"


class RailStage(StrEnum):
    """One stop of the rail on the job page, in the order of the members."""

    SELECTED = "selected"
    QUEUED = "queued"
    ADMITTED = "admitted"
    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    RELEASING = "releasing"
    RELEASED = "released"
    ARCHIVED = "archived"


_J = JobState
_A = AllocationState

INITIAL: frozenset[JobState] = frozenset({_J.HELD, _J.QUEUED})
FINAL: frozenset[JobState] = frozenset({_J.SUCCEEDED, _J.FAILED, _J.CANCELLED})

MOVES: dict[JobState, frozenset[JobState]] = {
    _J.HELD: frozenset({_J.QUEUED, _J.CANCELLED}),
    _J.QUEUED: frozenset({_J.ADMITTED, _J.HELD, _J.CANCELLED, _J.FAILED}),
    _J.ADMITTED: frozenset({_J.STARTING, _J.QUEUED, _J.CANCELLED}),
    _J.STARTING: frozenset({_J.RUNNING, _J.FAILED, _J.STOPPING}),
    _J.RUNNING: frozenset({_J.SUCCEEDED, _J.FAILED, _J.STOPPING}),
    _J.STOPPING: frozenset({_J.CANCELLED, _J.FAILED, _J.QUEUED, _J.SUCCEEDED}),
    _J.SUCCEEDED: frozenset(),
    _J.FAILED: frozenset(),
    _J.CANCELLED: frozenset(),
}

# RESERVED may close at once (a withdrawn placement was never created); what was bound must be seen free.
ALLOCATION_MOVES: dict[AllocationState, frozenset[AllocationState]] = {
    _A.RESERVED: frozenset({_A.BOUND, _A.RELEASING, _A.RELEASED}),
    _A.BOUND: frozenset({_A.RELEASING}),
    _A.RELEASING: frozenset({_A.RELEASED, _A.LEAKED}),
    _A.LEAKED: frozenset({_A.RELEASED}),
    _A.RELEASED: frozenset(),
}

# A leaked allocation blocks its devices, but no longer the tenant's quota.
HOLDS_QUOTA: frozenset[AllocationState] = frozenset({_A.RESERVED, _A.BOUND, _A.RELEASING})
HOLDS_CAPACITY: frozenset[AllocationState] = HOLDS_QUOTA | {_A.LEAKED}

_STAGE_OF_STATE: dict[JobState, RailStage] = {
    _J.HELD: RailStage.SELECTED,
    _J.QUEUED: RailStage.QUEUED,
    _J.ADMITTED: RailStage.ADMITTED,
    _J.STARTING: RailStage.STARTING,
    _J.RUNNING: RailStage.RUNNING,
    _J.STOPPING: RailStage.STOPPING,
}


def may_move(old: JobState, new: JobState) -> bool:
    """Whether the table allows this move; staying in place is not a move."""
    return new in MOVES[old]


def may_move_allocation(old: AllocationState, new: AllocationState) -> bool:
    """Whether an allocation may go from `old` to `new`."""
    return new in ALLOCATION_MOVES[old]


def rail_stage(state: JobState, allocation: AllocationState | None, archived: bool) -> RailStage:
    """The stop at which the rail shows a job; `allocation` is the latest attempt's, None if it never had one.

    A requeued job is shown releasing until what its last attempt held is seen free. A leak shows as released:
    the job page adds the alert. `archived` counts only once everything is given back.
    """
    if state is JobState.QUEUED and allocation is AllocationState.RELEASING:
        return RailStage.RELEASING
    if state not in FINAL:
        return _STAGE_OF_STATE[state]
    if allocation is None or allocation is AllocationState.RELEASED:
        return RailStage.ARCHIVED if archived else RailStage.RELEASED
    return RailStage.RELEASED if allocation is AllocationState.LEAKED else RailStage.RELEASING
