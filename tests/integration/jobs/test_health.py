"""Nodes leave service for what the platform did to jobs there, and come back by rule or by a person's word."""

from datetime import timedelta

import pytest

from jobs.models import Attempt
from jobs.services.judge_health import judge_health
from jobs.states import JobState
from resources.models import Node, NodeEvent
from resources.services.admit_node import admit_node
from tenants.models import AuditEvent
from tests import builders as make
from tests.builders import NOW, ago
from tests.cast import cast, cast_rows

__all__ = ["cast", "cast_rows"]
HOUR = timedelta(hours=1)


def failed(cast, reason: str, *, hours: float = 1, node: Node | None = None, facts=None, job=None) -> Attempt:
    """An attempt on the node that ended so, that long ago."""
    node = node or cast.node
    job = job or make.make_job(cast.alpha, cast.member, state=JobState.FAILED, reason=reason)
    at = NOW - hours * HOUR
    attempt = make.make_allocation(job, node, reserved=at, stopped=at, released=at).attempt
    attempt.end_reason, attempt.end_facts = reason, facts or {}
    attempt.placement = [{"index": 0, "node": node.name}]
    attempt.save()
    return attempt


def stage(cast) -> tuple[str, str]:
    node = Node.objects.get(pk=cast.node.pk)
    return node.stage, node.standing


def test_three_different_jobs_that_the_platform_failed_put_it_in_quarantine(cast):
    for _ in range(2):
        failed(cast, "PlatformFault")
    failed(cast, "Requeued", facts={"cause": "NodeLost", "node": cast.node.name})
    assert judge_health(now=NOW) == 1
    node = Node.objects.get(pk=cast.node.pk)
    assert stage(cast) == ("cordoned", "Quarantined")
    assert (node.quarantine["cause"], node.quarantine["count"]) == ("RepeatedFailures", 3)
    assert AuditEvent.objects.get(verb="node.quarantined").target_id == str(node.pk)
    (event,) = NodeEvent.objects.filter(node=node)
    assert (event.at, event.old, event.new, event.cause) == (NOW, "schedulable", "cordoned", "Quarantined")
    assert judge_health(now=NOW) == 0 and AuditEvent.objects.filter(verb="node.quarantined").count() == 1


def test_what_the_application_did_never_counts(cast):
    for reason in ("ApplicationFailed", "MemoryLimit", "TimeLimitReached", "ImageUnavailable", "CancelledByUser") * 2:
        failed(cast, reason)
    assert judge_health(now=NOW) == 0 and stage(cast)[0] == "schedulable"


def test_one_job_that_fails_again_and_again_is_one(cast):
    job = make.make_job(cast.alpha, cast.member, state=JobState.FAILED)
    for _ in range(5):
        failed(cast, "PlatformFault", job=job)
    assert judge_health(now=NOW) == 0


def test_old_failures_are_forgotten(cast):
    for hours in (1, 2, 25):
        failed(cast, "PlatformFault", hours=hours)
    assert judge_health(now=NOW) == 0


def test_a_fault_of_a_device_is_fatal_at_once(cast):
    failed(cast, "DeviceFault", facts={"node": cast.node.name})
    assert judge_health(now=NOW) == 1
    assert Node.objects.get(pk=cast.node.pk).quarantine["cause"] == "DeviceFault"


def test_a_failure_on_several_nodes_is_laid_to_the_one_that_is_named(cast):
    other = make.make_node("n9", cast.cluster, cast.node.pool)
    for name in ("", "", "", cast.node.name, cast.node.name, cast.node.name):
        attempt = failed(cast, "NodeLost", facts={"node": name} if name else {})
        attempt.placement = [{"index": 0, "node": cast.node.name}, {"index": 1, "node": other.name}]
        attempt.save()
    assert judge_health(now=NOW) == 1
    assert (stage(cast)[1], Node.objects.get(pk=other.pk).standing) == ("Quarantined", "")


def test_a_person_lifts_it_with_a_reason_and_the_old_failures_count_no_more(cast):
    for _ in range(3):
        failed(cast, "PlatformFault")
    judge_health(now=NOW)
    admit_node(actor=cast.platform_admin, node=cast.node, now=NOW, note="New cable.")
    assert stage(cast) == ("schedulable", "") and judge_health(now=NOW) == 0
    assert AuditEvent.objects.get(verb="node.admitted").before == {
        "stage": "cordoned",
        "standing": "Quarantined",
        "quarantine": "RepeatedFailures",
    }
    later = NOW + 3 * HOUR
    for _ in range(2):
        failed(cast, "PlatformFault", hours=-2)
    assert judge_health(now=later) == 0
    failed(cast, "PlatformFault", hours=-2.5)
    assert judge_health(now=later) == 1


@pytest.mark.parametrize("at", [ago(hours=1)])
def test_a_failure_that_is_older_than_its_return_changes_nothing(cast, at):
    for _ in range(3):
        failed(cast, "PlatformFault", hours=2)
    Node.objects.filter(pk=cast.node.pk).update(health_since=at)
    assert judge_health(now=NOW) == 0
