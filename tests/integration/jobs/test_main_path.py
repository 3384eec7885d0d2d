"""Submit, schedule, run, release, archive, account: on real processes."""

from decimal import Decimal
from hashlib import sha256
from itertools import pairwise
from pathlib import Path

import pytest
from django.urls import reverse

from jobs.models import Allocation, Artifact, Attempt, Job, JobEvent, ReleaseRecord
from jobs.services.cancel_job import cancel_job
from jobs.states import AllocationState, JobState
from metering.models import LedgerEntry, Segment
from metering.services.record_usage import record_usage
from portal.lib.clock import utc_now
from portal.lib.errors import Conflict, Denied, Invalid
from tenants.models import AuditEvent
from tenants.roles import Role
from tenants.services.grant_pool import grant_pool
from tenants.services.set_quota import set_quota
from tests import builders as make

SHORT = {"duration": "1s", "size_mib": 1}


def test_a_job_goes_the_whole_way_and_leaves_its_evidence(machine):
    job = machine.submit(params=SHORT)
    machine.settle(job)
    assert job.state == JobState.SUCCEEDED
    moves = [(e.old, e.new) for e in JobEvent.objects.filter(job=job, kind="state").order_by("at", "recorded_at")]
    states = ["", "QUEUED", "ADMITTED", "STARTING", "RUNNING", "SUCCEEDED"]
    assert moves == list(pairwise(states))
    attempt = machine.attempt(job)
    times = [attempt.reserved_at, attempt.admitted_at, attempt.bound_at, attempt.started_at, attempt.stopped_at]
    assert None not in times and times == sorted(times) and attempt.released_at >= attempt.stopped_at


def test_release_is_proved_on_three_levels_by_reading_the_machine(machine):
    job = machine.submit(params=SHORT)
    machine.settle(job)
    record = ReleaseRecord.objects.get(allocation__attempt__job=job)
    assert record.objects_evidence["left"] == 0 and record.objects_gone_at >= record.stopped_at
    assert record.capacity_evidence["used"] == {"cpu": 0, "memory": 0}
    assert record.device_state == "idle" and record.temporary_files >= 1
    assert Allocation.objects.get(attempt__job=job).state == AllocationState.RELEASED


def test_outputs_and_logs_are_kept_with_digests_of_the_real_bytes(machine, client):
    job = machine.submit(params=SHORT)
    machine.settle(job)
    rows = list(Artifact.objects.filter(job=job))
    assert {row.kind for row in rows} == {"log", "result"}
    for row in rows:
        data = Path(row.location).read_bytes()
        assert (row.bytes, row.sha256) == (len(data), sha256(data).hexdigest())
        client.force_login(machine.member)
        answer = client.get(reverse("job_file", args=[job.pk, row.pk]))
        assert b"".join(answer.streaming_content) == data and "attachment" in answer["Content-Disposition"]


def test_usage_is_entered_once_and_adds_up_to_the_millisecond(machine):
    job = machine.submit(params=SHORT, cpu="500m", memory="256Mi")
    machine.settle(job)
    assert record_usage(now=utc_now()) == 1 and record_usage(now=utc_now()) == 0
    attempt = machine.attempt(job)
    held = (attempt.released_at - attempt.bound_at).total_seconds() * 1000
    cpu = Segment.objects.filter(job_id=job.pk, resource="cpu")
    ms = sum((s.end - s.start).total_seconds() * 1000 for s in cpu)
    assert abs(ms - held) < 2 and {s.quantity for s in cpu} == {500}
    entries = LedgerEntry.objects.filter(segment_id__in=cpu.values("pk"))
    cost = sum(e.cost_micro for e in entries)
    assert cost == pytest.approx(Decimal(ms) * 500 * 1_000_000 / (1000 * 3_600_000), abs=Decimal("1E-9"))


def test_a_member_of_nothing_may_not_submit_and_nothing_is_stored(machine):
    stranger = make.make_user("stranger", (Role.VIEWER, machine.project))
    with pytest.raises(Denied) as caught:
        machine.submit(actor=stranger)
    assert caught.value.facts["permission"] == "job.ask" and not Job.objects.exists()


def test_every_refused_field_is_named_and_nothing_is_stored(machine):
    with pytest.raises(Invalid) as caught:
        machine.submit(cpu="-1", memory="1e309", members="0", name="a\x00b", params={"size_mib": True, "nope": 1})
    assert {f.field for f in caught.value.fields} == {"cpu", "memory", "members", "name", "size_mib", ""}
    assert not Job.objects.exists()


def test_what_can_never_start_is_refused_with_the_maximum(machine):
    with pytest.raises(Invalid) as caught:
        machine.submit(cpu="16", memory="16Gi")
    assert caught.value.reason in ("AboveLargestNode", "AbovePoolTotal")
    assert caught.value.facts["need"] > caught.value.facts["max"] and not Job.objects.exists()


def test_the_same_key_gives_the_same_job_and_another_body_is_a_conflict(machine):
    first = machine.submit(params=SHORT, key="k1")
    assert machine.submit(params=SHORT, key="k1").pk == first.pk and Job.objects.count() == 1
    with pytest.raises(Conflict):
        machine.submit(params={**SHORT, "seed": 7}, key="k1")


def test_a_quota_holds_a_second_job_back_and_says_by_how_much(machine):
    set_quota(
        actor=None,
        tenant=machine.project,
        pool_key="local",
        class_key="cpu",
        resource="cpu",
        guarantee=None,
        nominal=500,
        ceiling=500,
        now=utc_now(),
    )
    first, second = (machine.submit(params=SHORT, cpu="300m", name=name) for name in ("first", "second"))
    machine.tick()
    second.refresh_from_db()
    assert second.state == JobState.QUEUED and second.reason in ("QuotaFull", "CeilingReached")
    assert (second.facts["need"], second.facts["used"]) == (300, 300)
    machine.settle(first, second)
    assert second.state == JobState.SUCCEEDED


def test_a_queued_job_is_cancelled_at_once_and_holds_nothing(machine):
    job = machine.submit(params=SHORT)
    cancel_job(actor=machine.member, job=job, now=utc_now())
    job.refresh_from_db()
    assert job.state == JobState.CANCELLED and not Allocation.objects.filter(attempt__job=job).exists()


def test_a_running_job_is_cancelled_by_seeing_it_gone(machine):
    job = machine.submit("open-session", params={"time_to_live": "10m"})
    machine.until(lambda: Job.objects.filter(pk=job.pk, state=JobState.RUNNING).exists())
    cancel_job(actor=machine.member, job=job, now=utc_now())
    job.refresh_from_db()
    assert job.state == JobState.STOPPING
    assert Allocation.objects.get(attempt__job=job).state == AllocationState.BOUND
    machine.settle(job)
    assert job.state == JobState.CANCELLED and job.reason == "CancelledByUser"
    assert job.facts["who"] == str(machine.member)
    assert Allocation.objects.get(attempt__job=job).state == AllocationState.RELEASED


def test_another_member_may_not_cancel_but_the_owner_may(machine):
    other = make.make_user("other", (Role.MEMBER, machine.project))
    job = machine.submit(params=SHORT)
    with pytest.raises(Denied):
        cancel_job(actor=other, job=job, now=utc_now())
    assert cancel_job(actor=machine.owner, job=job, now=utc_now()).state == JobState.CANCELLED


def test_a_session_ends_by_itself_at_its_time_to_live(machine):
    job = machine.submit("open-session", params={"time_to_live": "1s"})
    machine.settle(job)
    assert job.state == JobState.SUCCEEDED


def test_a_run_limit_ends_a_job_as_a_failure_with_the_limit(machine):
    job = machine.submit(params={"duration": "5m"}, time_limit="1m")
    Job.objects.filter(pk=job.pk).update(time_limit_ms=1_000)
    machine.settle(job)
    assert job.state == JobState.FAILED and job.reason == "TimeLimitReached"
    assert job.facts["limit"] == 1_000


def test_a_killed_process_is_tried_again_as_a_new_attempt(machine):
    job = machine.submit(params={"duration": "30s", "size_mib": 1})
    machine.until(lambda: Job.objects.filter(pk=job.pk, state=JobState.RUNNING).exists())
    first = machine.attempt(job)
    _kill_program(job)
    machine.until(lambda: Attempt.objects.filter(job=job, number=2, started_at__isnull=False).exists())
    first.refresh_from_db()
    assert first.ended and first.end_reason == "Requeued"
    cancel_job(actor=machine.member, job=Job.objects.get(pk=job.pk), now=utc_now())
    machine.settle(job)
    assert Allocation.objects.filter(attempt__job=job).exclude(state=AllocationState.RELEASED).count() == 0


def test_every_privileged_act_is_in_the_chain(machine):
    job = machine.submit(params=SHORT)
    cancel_job(actor=machine.member, job=job, now=utc_now())
    verbs = list(
        AuditEvent.objects.filter(project_id=machine.project.pk).order_by("seq").values_list("verb", flat=True)
    )
    assert verbs[-2:] == ["job.submitted", "job.cancelled"]
    seqs = list(AuditEvent.objects.order_by("seq").values_list("seq", flat=True))
    assert seqs == list(range(seqs[0], seqs[0] + len(seqs)))


def _kill_program(job: Job) -> None:
    """KILL the job's own program, as the kernel would: found by the marker every member carries."""
    import os
    import signal

    import psutil

    marker = str(job.pk)
    for process in psutil.process_iter():
        try:
            ours = process.environ().get("PORTAL_JOB_ID") == marker and "batch.py" in " ".join(process.cmdline())
        except (psutil.Error, OSError):
            continue
        if ours:
            os.kill(process.pid, signal.SIGKILL)
            return
    pytest.fail("the program was not found")


def test_one_attempts_trouble_does_not_stop_the_others(machine, monkeypatch):
    from jobs.services import reconcile_cluster as module

    first, second = machine.submit(params=SHORT, name="first"), machine.submit(params=SHORT, name="second")
    real = module.archive_attempt

    def archive(*, driver, attempt, now):
        if attempt.job_id == first.pk:
            raise RuntimeError("something nobody thought of")
        real(driver=driver, attempt=attempt, now=now)

    monkeypatch.setattr(module, "archive_attempt", archive)
    machine.settle(second)
    assert second.state == JobState.SUCCEEDED
    monkeypatch.setattr(module, "archive_attempt", real)
    machine.settle(first)


def test_a_job_waits_for_a_pool_and_starts_once_one_is_granted(machine):
    machine.team.grants.all().delete()
    job = machine.submit(params=SHORT)
    machine.tick()
    job.refresh_from_db()
    assert job.state == JobState.QUEUED and job.reason == "NoPool"
    grant_pool(actor=None, tenant=machine.project, pool_key="local", now=utc_now(), valid_from=utc_now())
    machine.settle(job)
    assert job.state == JobState.SUCCEEDED
