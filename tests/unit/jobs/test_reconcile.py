"""The next step about one attempt, for every state and what is seen."""

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from jobs.reasons import Reason
from jobs.reconcile import APPLY_AGAIN_AFTER, READY_TIMEOUT, Apply, End, Missing, Progress, Stop, View, decide
from jobs.states import JobState, may_move
from resources.drivers.base import Phase, SeenMember, SeenWorkload

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
START = NOW - timedelta(minutes=10)


def a_view(**changes) -> View:
    base = View(
        state=JobState.RUNNING,
        members=1,
        gang=True,
        claimed_at=NOW - timedelta(seconds=5),
        started_at=None,
        stop_to=None,
        stop_reason=None,
        time_limit_ms=None,
        memory_bytes=1 << 30,
        grace_ms=10_000,
        attempts_left=0,
        missing_passes=0,
        expires_quietly=False,
    )
    return replace(base, **changes)


def a_member(index=0, phase=Phase.RUNNING, **changes) -> SeenMember:
    base = SeenMember(index=index, node="n1", phase=phase, bound_at=START, started_at=START, ready_at=START)
    if phase in (Phase.SUCCEEDED, Phase.FAILED):
        base = replace(base, finished_at=NOW - timedelta(seconds=1), exit_code=0 if phase is Phase.SUCCEEDED else 1)
    return replace(base, **changes)


def seen(*members: SeenMember, stopping=False) -> SeenWorkload:
    return SeenWorkload("w", "job", "attempt", 1, tuple(members), stopping)


def step(view, workload, complete=True):
    return decide(view, workload, complete=complete, now=NOW)


@pytest.mark.parametrize("state", [JobState.ADMITTED, JobState.STARTING])
def test_what_is_not_there_yet_is_asked_for_again(state):
    assert step(a_view(state=state), None) == Apply()


def test_a_partial_list_proves_no_absence():
    assert step(a_view(missing_passes=5), None, complete=False) is None


def test_one_complete_list_without_it_is_not_enough():
    assert step(a_view(), None) == Missing()


def test_two_complete_lists_without_it_end_it_as_unknown_never_as_success():
    end = step(a_view(missing_passes=1), None)
    assert isinstance(end, End) and end.to is JobState.FAILED and end.reason is Reason.OUTCOME_UNKNOWN


def test_an_unknown_end_is_tried_again_where_an_attempt_is_left():
    end = step(a_view(missing_passes=1, attempts_left=1), None)
    assert isinstance(end, End) and end.to is JobState.QUEUED and end.facts["cause"] == "OutcomeUnknown"


def test_a_start_waits_for_every_member():
    action = step(a_view(state=JobState.STARTING, members=2), seen(a_member(0), a_member(1, Phase.PENDING)))
    assert isinstance(action, Progress) and action.to is None
    action = step(a_view(state=JobState.STARTING, members=2), seen(a_member(0), a_member(1)))
    assert isinstance(action, Progress) and action.to is JobState.RUNNING


def test_a_start_not_up_after_a_while_is_asked_for_again():
    half_started = seen(a_member(0), a_member(1, Phase.PENDING))
    fresh = step(a_view(state=JobState.STARTING, members=2, claimed_at=NOW - APPLY_AGAIN_AFTER), half_started)
    late = step(a_view(state=JobState.STARTING, members=2, claimed_at=NOW - 2 * APPLY_AGAIN_AFTER), half_started)
    assert isinstance(fresh, Progress) and not fresh.apply
    assert isinstance(late, Progress) and late.apply and late.to is None


def test_a_start_that_takes_too_long_is_stopped_with_its_numbers():
    view = a_view(state=JobState.STARTING, members=2, claimed_at=NOW - READY_TIMEOUT - timedelta(seconds=1))
    action = step(view, seen(a_member(0), a_member(1, Phase.PENDING)))
    assert isinstance(action, Stop) and action.reason is Reason.READY_TIMEOUT
    assert action.facts["ready"] == 1 and action.facts["pods"] == 2


def test_all_members_done_is_success_at_the_time_the_last_ended():
    early = NOW - timedelta(minutes=2)
    end = step(a_view(members=2), seen(a_member(0, Phase.SUCCEEDED, finished_at=early), a_member(1, Phase.SUCCEEDED)))
    assert isinstance(end, End) and end.to is JobState.SUCCEEDED
    assert end.times.stopped_at == NOW - timedelta(seconds=1)


def test_a_missing_member_is_no_success():
    assert isinstance(step(a_view(members=2), seen(a_member(0, Phase.SUCCEEDED))), Progress)


def test_the_first_failure_names_the_end_not_its_consequences():
    first = a_member(1, Phase.FAILED, exit_code=3, finished_at=NOW - timedelta(seconds=5))
    gang = a_member(0, Phase.FAILED, exit_code=143, reason="GangFailed", finished_at=NOW - timedelta(seconds=6))
    end = step(a_view(members=2), seen(gang, first))
    assert isinstance(end, End) and end.reason is Reason.APPLICATION_FAILED
    assert end.exit_code == 3 and end.facts["member"] == 1


def test_an_application_error_is_not_tried_again():
    end = step(a_view(attempts_left=3), seen(a_member(0, Phase.FAILED, exit_code=2)))
    assert isinstance(end, End) and end.to is JobState.FAILED


def test_a_process_killed_from_outside_is_tried_again():
    killed = a_member(0, Phase.FAILED, exit_code=None, signal=9, reason="Error")
    end = step(a_view(attempts_left=1), seen(killed))
    assert isinstance(end, End) and end.to is JobState.QUEUED
    end = step(a_view(attempts_left=0), seen(killed))
    assert isinstance(end, End) and end.to is JobState.FAILED and end.exit_code == 137


@pytest.mark.parametrize(
    ("quiet", "to", "reason"),
    [(False, JobState.FAILED, Reason.TIME_LIMIT), (True, JobState.SUCCEEDED, Reason.TIME_TO_LIVE)],
)
def test_the_time_limit_ends_a_job_and_a_time_to_live_ends_it_as_asked(quiet, to, reason):
    view = a_view(time_limit_ms=1000, expires_quietly=quiet)
    end = step(view, seen(a_member(0, Phase.FAILED, reason="TimeLimit", signal=15)))
    assert isinstance(end, End) and (end.to, end.reason) == (to, reason)


def test_a_limit_the_cluster_did_not_enforce_is_enforced_here():
    action = step(a_view(time_limit_ms=60_000, claimed_at=START), seen(a_member(0)))
    assert isinstance(action, Stop) and action.to is JobState.FAILED and action.reason is Reason.TIME_LIMIT


def test_stopping_asks_again_until_it_is_over():
    view = a_view(state=JobState.STOPPING, stop_to=JobState.CANCELLED, stop_reason=Reason.CANCELLED_BY_USER)
    assert isinstance(step(view, seen(a_member(0))), Stop)
    end = step(view, seen(a_member(0, Phase.FAILED, exit_code=143)))
    assert isinstance(end, End) and end.to is JobState.CANCELLED


def test_what_finished_before_the_stop_reached_it_is_a_success():
    view = a_view(state=JobState.STOPPING, stop_to=JobState.CANCELLED, stop_reason=Reason.CANCELLED_BY_USER)
    end = step(view, seen(a_member(0, Phase.SUCCEEDED)))
    assert isinstance(end, End) and end.to is JobState.SUCCEEDED


def test_a_lost_exit_record_is_unknown_never_success():
    end = step(a_view(), seen(a_member(0, Phase.UNKNOWN)))
    assert isinstance(end, End) and end.to is JobState.FAILED and end.reason is Reason.OUTCOME_UNKNOWN


def test_every_end_from_stopping_is_a_move_of_the_table():
    for to in (JobState.CANCELLED, JobState.FAILED, JobState.QUEUED, JobState.SUCCEEDED):
        assert may_move(JobState.STOPPING, to)


def test_a_memory_limit_names_the_limit_and_is_not_tried_again():
    killed = a_member(0, Phase.FAILED, exit_code=None, signal=9, reason="OOMKilled")
    end = step(a_view(attempts_left=1), seen(killed))
    assert isinstance(end, End) and (end.to, end.reason) == (JobState.FAILED, Reason.MEMORY_LIMIT)
    assert end.facts["max"] == 1 << 30


@pytest.mark.parametrize("cause", ["StartFailed", "HostStopping"])
def test_what_the_platform_or_the_node_did_is_tried_again(cause):
    end = step(a_view(attempts_left=1), seen(a_member(0, Phase.FAILED, reason=cause)))
    assert isinstance(end, End) and end.to is JobState.QUEUED


EARLY, LATE = timedelta(minutes=-10), timedelta(minutes=10)


@pytest.mark.parametrize("off", [EARLY, LATE], ids=["behind", "ahead"])
def test_times_that_cannot_have_been_are_those_the_portal_saw_and_what_was_said_is_kept(off):
    """A node's clock that is wrong must not make a run free, nor as long as its error."""
    claimed, began, over = NOW - timedelta(seconds=60), NOW - timedelta(seconds=50), NOW - timedelta(seconds=5)
    member = a_member(phase=Phase.SUCCEEDED, bound_at=began, started_at=began + off, ready_at=began + off,
                      finished_at=over + off)  # fmt: skip
    action = step(a_view(claimed_at=claimed), seen(member))
    assert isinstance(action, End) and action.to is JobState.SUCCEEDED
    times = action.times
    assert claimed <= times.bound_at <= times.started_at <= times.stopped_at <= NOW
    assert times.said == {"started_at": began + off, "ready_at": began + off, "stopped_at": over + off}
    assert (times.started_at, times.stopped_at) == ((began, NOW) if off is EARLY else (NOW, NOW))


def test_an_end_before_its_start_is_when_the_portal_saw_it():
    began = NOW - timedelta(minutes=5)
    member = a_member(phase=Phase.FAILED, bound_at=began, started_at=began, ready_at=None,
                      finished_at=began - timedelta(minutes=1))  # fmt: skip
    times = step(a_view(claimed_at=began, started_at=began, bound_at=began), seen(member)).times
    assert (times.stopped_at, times.said) == (NOW, {"stopped_at": began - timedelta(minutes=1)})


def test_a_time_cut_to_a_second_is_put_in_order_without_a_word():
    claimed = NOW - timedelta(milliseconds=5_500)
    cut = NOW - timedelta(seconds=6)
    times = step(a_view(claimed_at=claimed), seen(a_member(bound_at=cut, started_at=cut, ready_at=cut))).times
    assert (times.bound_at, times.started_at, times.said) == (claimed, claimed, {})


def test_a_run_with_a_wrong_start_still_meets_its_limit():
    """What was written down once counts, whatever the cluster says on each pass."""
    began = NOW - timedelta(minutes=10)
    view = a_view(claimed_at=began, started_at=began, bound_at=began, time_limit_ms=60_000)
    assert isinstance(step(view, seen(a_member(started_at=NOW + timedelta(hours=1)))), Stop)


def test_what_was_seen_while_a_long_look_went_on_is_not_from_the_future():
    during = NOW + timedelta(seconds=20)
    member = a_member(phase=Phase.SUCCEEDED, bound_at=NOW, started_at=NOW, ready_at=NOW, finished_at=during)
    view, workload = a_view(claimed_at=NOW), seen(member)
    action = decide(view, workload, complete=True, now=NOW, until=NOW + timedelta(seconds=30))
    assert (action.times.stopped_at, action.times.said) == (during, {})
