"""The tables of job and allocation states keep their promises."""

from collections.abc import Iterable
from itertools import product

import pytest

from jobs.states import (
    ALLOCATION_MOVES,
    FINAL,
    HOLDS_CAPACITY,
    HOLDS_QUOTA,
    INITIAL,
    MOVES,
    AllocationState,
    JobState,
    RailStage,
    may_move,
    may_move_allocation,
    rail_stage,
)

# The table of the design, row by row, written out by hand.
ALLOWED = {
    "HELD": "QUEUED CANCELLED",
    "QUEUED": "ADMITTED HELD CANCELLED FAILED",
    "ADMITTED": "STARTING QUEUED CANCELLED",
    "STARTING": "RUNNING FAILED STOPPING",
    "RUNNING": "SUCCEEDED FAILED STOPPING",
    "STOPPING": "CANCELLED FAILED QUEUED SUCCEEDED",
    "SUCCEEDED": "",
    "FAILED": "",
    "CANCELLED": "",
}


def reachable(start: Iterable[JobState], without: frozenset[JobState] = frozenset()) -> set[JobState]:
    seen: set[JobState] = set()
    ahead = [state for state in start if state not in without]
    while ahead:
        state = ahead.pop()
        if state not in seen:
            seen.add(state)
            ahead += [new for new in MOVES[state] if new not in without]
    return seen


def test_a_move_is_allowed_exactly_when_the_table_names_it() -> None:
    for old, new in product(JobState, JobState):
        assert may_move(old, new) == (new in ALLOWED[old].split()), (old, new)


def test_every_state_can_be_reached() -> None:
    assert reachable(INITIAL) == set(JobState)


@pytest.mark.parametrize("state", JobState)
def test_every_state_can_end(state: JobState) -> None:
    assert reachable([state]) & FINAL


def test_final_states_are_left_by_no_move_and_no_other_state_is_stuck() -> None:
    assert {state for state in JobState if not MOVES[state]} == FINAL


def test_quota_is_taken_only_by_way_of_admission() -> None:
    without_admission = reachable(INITIAL, frozenset({JobState.ADMITTED}))
    assert without_admission == {JobState.HELD, JobState.QUEUED, JobState.CANCELLED, JobState.FAILED}


def test_nothing_runs_that_was_not_started_and_nothing_succeeds_that_did_not_run() -> None:
    assert JobState.RUNNING not in reachable(INITIAL, frozenset({JobState.STARTING}))
    assert JobState.SUCCEEDED not in reachable(INITIAL, frozenset({JobState.RUNNING, JobState.STOPPING}))


def test_a_running_job_is_cancelled_only_through_stopping() -> None:
    assert JobState.CANCELLED not in MOVES[JobState.RUNNING] | MOVES[JobState.STARTING]


def test_an_allocation_ends_released_from_everywhere_and_only_there() -> None:
    def ends(state: AllocationState) -> set[AllocationState]:
        return {state} if not ALLOCATION_MOVES[state] else set().union(*map(ends, ALLOCATION_MOVES[state]))

    assert all(ends(state) == {AllocationState.RELEASED} for state in AllocationState)


def test_what_was_bound_is_released_only_after_it_was_releasing() -> None:
    assert ALLOCATION_MOVES[AllocationState.BOUND] == {AllocationState.RELEASING}
    assert not may_move_allocation(AllocationState.BOUND, AllocationState.RELEASED)
    assert may_move_allocation(AllocationState.RELEASING, AllocationState.LEAKED)
    assert may_move_allocation(AllocationState.LEAKED, AllocationState.RELEASED)


def test_a_leak_blocks_devices_but_no_longer_quota() -> None:
    assert {AllocationState.LEAKED} == HOLDS_CAPACITY - HOLDS_QUOTA
    assert set(AllocationState) - HOLDS_CAPACITY == {AllocationState.RELEASED}


J, A, R = JobState, AllocationState, RailStage


@pytest.mark.parametrize(
    ("state", "allocation", "archived", "stage"),
    [
        (J.HELD, None, False, R.SELECTED),
        (J.QUEUED, None, False, R.QUEUED),
        (J.ADMITTED, A.RESERVED, False, R.ADMITTED),
        (J.STARTING, A.RESERVED, False, R.STARTING),
        (J.STARTING, A.BOUND, False, R.STARTING),
        (J.RUNNING, A.BOUND, False, R.RUNNING),
        (J.STOPPING, A.BOUND, False, R.STOPPING),
        (J.SUCCEEDED, A.BOUND, False, R.RELEASING),
        (J.SUCCEEDED, A.RELEASING, False, R.RELEASING),
        (J.FAILED, A.RELEASED, False, R.RELEASED),
        (J.CANCELLED, A.LEAKED, False, R.RELEASED),
        (J.CANCELLED, None, False, R.RELEASED),
        (J.QUEUED, A.RELEASING, False, R.RELEASING),
        (J.QUEUED, A.RELEASED, False, R.QUEUED),
        (J.QUEUED, A.LEAKED, False, R.QUEUED),
        (J.SUCCEEDED, A.RELEASED, True, R.ARCHIVED),
        (J.CANCELLED, None, True, R.ARCHIVED),
        (J.SUCCEEDED, A.RELEASING, True, R.RELEASING),
        (J.FAILED, A.LEAKED, True, R.RELEASED),
        (J.RUNNING, A.BOUND, True, R.RUNNING),
    ],
)
def test_the_rail_stops_where_the_design_says(
    state: JobState, allocation: AllocationState | None, archived: bool, stage: RailStage
) -> None:
    assert rail_stage(state, allocation, archived) is stage


def test_the_rail_has_an_answer_for_everything() -> None:
    for state, allocation, archived in product(JobState, [None, *AllocationState], [False, True]):
        assert rail_stage(state, allocation, archived) in RailStage
