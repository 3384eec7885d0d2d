"""What Jobs and pods of a Kubernetes cluster mean to the portal."""

from datetime import UTC, datetime
from typing import Any

import pytest

from resources.drivers.base import Phase, SeenMember
from resources.drivers.kubernetes.seen import workloads_of
from tests.unit.drivers.kubernetes_things import NOW, at, ended, job, pod

TERMINATING = {"deletionTimestamp": at(12), "deletionGracePeriodSeconds": 5}
DISRUPTED = {"type": "DisruptionTarget", "status": "True", "lastTransitionTime": at(8)}


def seen(*pods: dict[str, Any], **of_job: Any) -> tuple[SeenMember, ...]:
    (one,) = workloads_of([job(**of_job)], pods, NOW)
    return one.members


def test_the_times_are_those_of_the_cluster_and_never_before_what_they_follow() -> None:
    (member,) = seen(pod(phase="Succeeded", state=ended(0)))
    second = [datetime(2026, 5, 4, 12, 0, s, tzinfo=UTC) for s in (1, 3, 9)]
    assert [member.bound_at, member.started_at, member.finished_at] == second
    (hasty,) = seen(pod(phase="Succeeded", state=ended(0, began=0, ended_at=0), conditions=[]))
    assert hasty.bound_at is not None and hasty.started_at is not None and hasty.finished_at is not None
    assert hasty.bound_at <= hasty.started_at <= hasty.finished_at


@pytest.mark.parametrize(
    ("one", "phase", "reason", "code", "signal"),
    [
        (pod(phase="Succeeded", state=ended(0)), Phase.SUCCEEDED, "Completed", 0, None),
        (pod(phase="Failed", state=ended(3)), Phase.FAILED, "Error", 3, None),
        (pod(phase="Failed", state=ended(139)), Phase.FAILED, "Error", None, 11),
        (pod(phase="Failed", state=ended(137, "OOMKilled")), Phase.FAILED, "OOMKilled", None, 9),
        (pod(phase="Failed", state=ended(255)), Phase.FAILED, "Error", 255, None),
        (pod(phase="Failed", state=ended(127, "StartError")), Phase.FAILED, "StartFailed", 127, None),
        (pod(phase="Failed", state=ended(0), reason="DeadlineExceeded"), Phase.FAILED, "TimeLimit", 0, None),
        (pod(phase="Failed", reason="Evicted", message="low on memory"), Phase.FAILED, "Evicted", None, None),
        (pod(phase="Failed", reason="UnexpectedAdmissionError"), Phase.FAILED, "UnexpectedAdmissionError", None, None),
        (pod(phase="Failed", state=ended(137), about=TERMINATING), Phase.FAILED, "Killed", None, 9),
        (pod(phase="Succeeded", state=ended(0), about=TERMINATING), Phase.FAILED, "Killed", 0, None),
        (
            pod(phase="Succeeded", state=ended(0, ended_at=5), about=TERMINATING),
            Phase.SUCCEEDED, "Completed", 0, None,
        ),
        (
            pod(phase="Failed", state=ended(143), conditions=[DISRUPTED | {"reason": "PreemptionByScheduler"}]),
            Phase.FAILED, "Preempted", None, 15,
        ),
        (
            pod(phase="Failed", state=ended(143), conditions=[DISRUPTED | {"reason": "TerminationByKubelet"}]),
            Phase.FAILED, "HostStopping", None, 15,
        ),
        (
            pod(phase="Failed", state=ended(143), conditions=[DISRUPTED | {"reason": "EvictionByEvictionAPI"}]),
            Phase.FAILED, "EvictionByEvictionAPI", None, 15,
        ),
    ],
)  # fmt: skip
def test_an_end_is_told_as_the_cluster_tells_it(one, phase, reason, code, signal) -> None:
    (member,) = seen(one)
    assert (member.phase, member.reason, member.exit_code, member.signal) == (phase, reason, code, signal)
    assert member.finished_at is not None


def test_what_waits_says_for_what() -> None:
    back_off = {"waiting": {"reason": "ImagePullBackOff", "message": 'Back-off pulling image "x"'}}
    (pulling,) = seen(pod(phase="Pending", state=back_off))
    assert (pulling.phase, pulling.reason, pulling.message) == (
        Phase.PENDING, "ImagePullBackOff", 'Back-off pulling image "x"',
    )  # fmt: skip
    unplaced = pod(phase="Pending")
    unplaced["status"]["conditions"] = [
        {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/5 nodes are available"}
    ]
    (waiting,) = seen(unplaced)
    assert (waiting.reason, waiting.message, waiting.bound_at) == ("Unschedulable", "0/5 nodes are available", None)


def test_a_silent_node_makes_a_pod_unknown_once_it_should_be_gone() -> None:
    taint = DISRUPTED | {"reason": "DeletionByTaintManager"}
    (lost,) = seen(pod(about=TERMINATING, conditions=[taint]))
    assert (lost.phase, lost.reason, lost.finished_at) == (Phase.UNKNOWN, "NodeLost", None)
    (one,) = workloads_of([job()], [pod(about=TERMINATING | {"deletionTimestamp": at(59)}, conditions=[taint])], NOW)
    assert one.members[0].phase is Phase.RUNNING


def test_in_a_gang_the_first_failure_is_the_cause() -> None:
    killed = pod(1, "Failed", state=ended(137, ended_at=11), about=TERMINATING)
    first, second, third = seen(pod(0, "Failed", state=ended(4)), killed, members=3, failed="BackoffLimitExceeded")
    assert (first.reason, second.reason, third.reason) == ("Error", "GangFailed", "GangFailed")
    assert {m.phase for m in (first, second, third)} == {Phase.FAILED}


def test_a_stop_is_what_ended_the_members_and_what_was_not_yet_made() -> None:
    stop = "2026-05-04T12:00:08.500000+00:00"
    killed = pod(0, "Failed", state=ended(137, ended_at=11), about=TERMINATING)
    (one,) = workloads_of([job(members=2, stop=stop)], [killed], NOW)
    assert one.stopping and [m.reason for m in one.members] == ["Stopped", "Stopped"]
    before = pod(0, "Failed", state=ended(4, ended_at=5), about=TERMINATING)
    (own,) = seen(before, stop=stop)
    assert (own.reason, own.exit_code) == ("Error", 4)


def test_members_without_a_pod_wait_and_without_a_job_are_unknown() -> None:
    assert [m.phase for m in seen(members=2)] == [Phase.PENDING, Phase.PENDING]
    orphan = pod(0, "Succeeded", state=ended(0))
    orphan["metadata"]["annotations"]["armillary/members"] = "2"
    orphan["metadata"]["ownerReferences"] = [{"name": "j-a"}]
    (one,) = workloads_of([], [orphan], NOW)
    assert (one.name, one.generation, [m.phase for m in one.members]) == ("j-a", 2, [Phase.SUCCEEDED, Phase.UNKNOWN])


def test_of_two_pods_for_a_member_the_newer_counts() -> None:
    older = pod(0, "Failed", state=ended(1), about={"creationTimestamp": at(0), "uid": "old"})
    (member,) = seen(pod(0, "Running", about={"creationTimestamp": at(5), "uid": "new"}), older)
    assert (member.uid, member.phase) == ("new", Phase.RUNNING)


def test_what_is_not_ours_is_not_seen() -> None:
    stranger = pod(0)
    stranger["metadata"]["labels"] = {"app": "web"}
    assert workloads_of([{"metadata": {"name": "x"}}], [stranger], NOW) == ()
