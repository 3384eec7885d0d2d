"""What Jobs and pods of a Kubernetes cluster mean to the portal."""

import time
from datetime import UTC, datetime
from typing import Any

import pytest

from resources.drivers.base import Phase, SeenMember
from resources.drivers.kubernetes.names import JOB_NAME
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


def test_a_copy_of_a_job_with_all_its_labels_is_another_workload() -> None:
    copy, its_pod = job(), pod(0, "Failed", state=ended(1), about={"creationTimestamp": at(5)})
    copy["metadata"]["name"] = "j-copy"
    its_pod["metadata"]["ownerReferences"] = [{"kind": "Job", "name": "j-copy", "controller": True}]
    ours, other = workloads_of([job(), copy], [pod(0), its_pod], NOW)
    assert (ours.name, ours.members[0].phase) == ("j-a", Phase.RUNNING)
    assert (other.name, other.members[0].phase) == ("j-copy", Phase.FAILED)


@pytest.mark.parametrize(
    "owners",
    [[], [{"kind": "ReplicaSet", "name": "j-a", "controller": True}], [{"kind": "Job", "name": "j-a"}]],
    ids=["nobody's", "of something else", "owned, not controlled"],
)
def test_a_pod_with_our_labels_that_the_job_does_not_control_is_no_member(owners: list[dict[str, Any]]) -> None:
    stranger = pod(0, "Failed", state=ended(1), about={"creationTimestamp": at(5), "uid": "stranger"})
    stranger["metadata"]["ownerReferences"] = owners
    stranger["metadata"]["labels"][JOB_NAME] = "j-a"
    (member,) = seen(pod(0), stranger)
    assert (member.uid, member.phase) == ("uid-0", Phase.RUNNING)


def test_pods_that_were_left_when_their_job_was_deleted_are_still_of_it() -> None:
    left = pod(0)
    left["metadata"]["labels"][JOB_NAME] = "j-a"
    del left["metadata"]["ownerReferences"]
    (one,) = workloads_of([], [left], NOW)
    assert (one.name, one.members[0].phase) == ("j-a", Phase.RUNNING)


ODD_NUMBERS = ("9" * 5_000, "999999999", "100001", "-1", "1e9", "٣", "", "{}", " 2")
ODD_TIMES = ("0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59Z", "9" * 400, "2026-05-04", "null", "")


@pytest.mark.parametrize("key", ["members", "generation", "applied-at", "stop-asked-at", "index"])
@pytest.mark.parametrize("text", [*ODD_NUMBERS, *ODD_TIMES])
def test_what_others_wrote_into_annotations_blinds_nobody(key: str, text: str) -> None:
    odd_job, odd_pod = job(), pod(0, "Failed", state=ended(3), about=dict(TERMINATING))
    name = "batch.kubernetes.io/job-completion-index" if key == "index" else f"armillary/{key}"
    for one in (odd_job, odd_pod):
        one["metadata"]["annotations"][name] = text
    began = time.perf_counter()
    for jobs in ([odd_job], []):
        (seen_one,) = workloads_of(jobs, [odd_pod], NOW)
        assert len(seen_one.members) <= 1 and seen_one.generation < 10**9
    assert time.perf_counter() - began < 1


@pytest.mark.parametrize("seconds", [0, 2**31, 10**11, 2**63 - 1])
@pytest.mark.parametrize("finished", [at(9), "9999-12-31T23:59:59Z", "0001-01-01T00:00:00Z", None])
def test_no_grace_and_no_time_is_too_large_to_go_on_from(seconds: int, finished: str | None) -> None:
    about = {**TERMINATING, "deletionGracePeriodSeconds": seconds}
    (member,) = seen(pod(0, "Failed", state=ended(3, finishedAt=finished), about=about))
    assert member.phase is Phase.FAILED and member.finished_at is not None


def test_last_words_of_a_program_can_be_stored_whatever_bytes_they_were() -> None:
    said = "ok\n\x00\x1b[31mé\ud800" + "x" * 100_000
    (member,) = seen(pod(0, "Failed", state=ended(1, message=said)))
    assert member.message.startswith("ok\n\ufffd\ufffd[31mé\ufffdx") and len(member.message) < 5_000
    member.message.encode()
