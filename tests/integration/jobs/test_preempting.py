"""A job takes what it has a right to from those that run: they stop, wait again and come back; nothing is lost."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import transaction

from jobs.models import Allocation, Attempt, Job, JobEvent
from jobs.reasons import Reason
from jobs.scheduler.decision import Preemption
from jobs.selectors.snapshot import load_snapshot
from jobs.services.preempt_jobs import preempt_jobs
from jobs.services.run_cycle import run_cycle
from jobs.states import AllocationState, JobState
from portal.lib.failpoints import FailpointError
from tenants.models import AuditEvent, Outbox
from tests import builders as make
from tests.cast import Cast, make_cast
from tests.integration.drivers.test_simulated_clusters import Hall, hall

__all__ = ["hall"]


def until(hall: Hall, job: Job, state: JobState, *, minutes: int = 60) -> None:
    end = hall.now + timedelta(minutes=minutes)
    while hall.state(job) != state:
        assert hall.now < end, (job.state, job.reason, job.facts)
        hall.tick()


def fill(hall: Hall) -> list[Job]:
    """Sessions on every card of the class, running for a quarter of an hour."""
    jobs = [hall.submit(minutes=200, devices=8) for _ in range(7)]
    hall.tick()
    running = [job for job in jobs if hall.state(job) != JobState.QUEUED]
    for job in running:
        until(hall, job, JobState.RUNNING)
    for job in jobs:
        if job not in running:
            Job.objects.filter(pk=job.pk).delete()
    hall.tick(15 * 60)
    return running


def test_a_higher_priority_gets_room_and_who_gave_it_comes_back(hall: Hall) -> None:
    running = fill(hall)
    urgent = hall.submit(minutes=10, devices=8)
    Job.objects.filter(pk=urgent.pk).update(priority=5, priority_class="production")
    hall.tick(1)
    urgent.refresh_from_db()
    assert (urgent.reason, urgent.facts["count"]) == (Reason.MAKING_ROOM, 1)
    (victim,) = Job.objects.filter(stops_for=urgent)
    assert (victim.state, victim.reason, victim.facts["winner"]) == (JobState.STOPPING, Reason.PREEMPTED, urgent.name)
    audit = AuditEvent.objects.get(verb="jobs.preempted")
    assert audit.after["stopped"] == [str(victim.pk)] and audit.target_id == str(urgent.pk)
    assert Outbox.objects.filter(event="job.stopped_for").count() == 1
    later = hall.submit(minutes=10, devices=8)  # must not get what is given back for the other
    until(hall, urgent, JobState.RUNNING)
    assert hall.state(later) == JobState.QUEUED
    urgent.refresh_from_db()
    assert (urgent.claims_pool, urgent.claims_since) == ("", None)
    victim.refresh_from_db()
    assert (victim.state, victim.generation, victim.max_attempts) == (JobState.QUEUED, 2, 2)
    assert victim.stops_for is None
    assert JobEvent.objects.filter(job=victim, reason=Reason.PREEMPTED, new=JobState.QUEUED).exists()
    Job.objects.filter(pk=later.pk).delete()
    until(hall, victim, JobState.RUNNING)
    assert Attempt.objects.get(job=victim, number=2).resumed
    assert {hall.state(job) for job in running} == {JobState.RUNNING}
    assert not Allocation.objects.filter(state=AllocationState.LEAKED).exists()


@pytest.mark.parametrize("point", ["jobs.preempt.between_victims", "jobs.cycle.after_preempt"])
def test_a_pass_that_dies_while_it_stops_jobs_is_made_good_by_the_next(
    hall: Hall, point: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    fill(hall)
    urgent = hall.submit(minutes=10, devices=8)
    Job.objects.filter(pk=urgent.pk).update(priority=5, priority_class="production")
    monkeypatch.setenv("PORTAL_FAILPOINTS", f"{point}=raise")
    with pytest.raises(FailpointError), transaction.atomic():
        hall.tick(1)
    monkeypatch.delenv("PORTAL_FAILPOINTS")
    until(hall, urgent, JobState.RUNNING)
    assert AuditEvent.objects.filter(verb="jobs.preempted").count() == 1
    assert Attempt.objects.filter(end_reason=Reason.PREEMPTED).count() == 1


class TestService:
    """What may have changed since the snapshot."""

    @pytest.fixture
    def cast(self, db: None) -> Cast:
        return make_cast()

    def begun(self, cast: Cast) -> tuple[Job, Job, Preemption]:
        node = make.make_node("big", cast.cluster, cast.shared, cpu=64_000)
        victim = make.make_job(cast.alpha, cast.member, state=JobState.RUNNING)
        make.make_allocation(
            victim, node, reserved=make.ago(hours=1), bound=make.ago(hours=1), started=make.ago(hours=1)
        )
        winner = make.make_job(cast.alpha, cast.member, priority=5, pool_keys=["shared"])
        victims, hosts = (str(victim.pk),), (str(node.pk),)
        key, tenant = cast.cluster.key, str(cast.alpha.pk)
        plan = Preemption(str(winner.pk), 1, "shared", key, "priority", tenant, victims, hosts)
        return victim, winner, plan

    def test_a_job_that_ended_meanwhile_stops_the_whole_plan(self, cast: Cast) -> None:
        victim, winner, plan = self.begun(cast)
        other = make.make_job(cast.alpha, cast.member, state=JobState.SUCCEEDED)
        both = replace(plan, victims=(*plan.victims, str(other.pk)))
        assert preempt_jobs(preemption=both, now=make.NOW, cycle_id=other.pk) == 0
        victim.refresh_from_db()
        winner.refresh_from_db()
        assert (victim.state, victim.stops_for, winner.claims_pool) == (JobState.RUNNING, None, "")
        assert not AuditEvent.objects.filter(verb="jobs.preempted").exists()

    def test_nobody_is_stopped_for_a_job_that_no_longer_waits(self, cast: Cast) -> None:
        victim, winner, plan = self.begun(cast)
        Job.objects.filter(pk=winner.pk).update(state=JobState.CANCELLED)
        assert preempt_jobs(preemption=plan, now=make.NOW, cycle_id=winner.pk) == 0
        victim.refresh_from_db()
        assert victim.state == JobState.RUNNING

    def test_a_claim_lapses(self, cast: Cast) -> None:
        _victim, winner, plan = self.begun(cast)
        assert preempt_jobs(preemption=plan, now=make.NOW, cycle_id=winner.pk) == 1
        for minutes, claims in ((1, "shared"), (16, None)):
            snapshot = load_snapshot(now=make.NOW + timedelta(minutes=minutes))
            (job,) = [job for job in snapshot.waiting if job.key == str(winner.pk)]
            assert job.claims == claims
            (row,) = snapshot.running
            assert row.stopping_for == str(winner.pk)

    def test_a_cycle_stops_the_lower_one_and_says_so(self, cast: Cast) -> None:
        victim, winner, _plan = self.begun(cast)
        Job.objects.filter(pk=winner.pk).update(alternatives=[
            {"key": "main", "pod_sets": [{"name": "main", "count": 1, "lines": [["cpu", "cpu", 64_000]]}]}
        ])  # fmt: skip
        run_cycle(now=make.NOW)
        victim.refresh_from_db()
        winner.refresh_from_db()
        assert (victim.state, winner.reason) == (JobState.STOPPING, Reason.MAKING_ROOM)
        run_cycle(now=make.NOW + timedelta(seconds=5))
        assert AuditEvent.objects.filter(verb="jobs.preempted").count() == 1
