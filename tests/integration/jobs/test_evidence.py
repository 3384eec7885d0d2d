"""Logs that cannot be had, and passes that run out of time: what is concluded, and what the job's page says."""

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from jobs.keeping import LOG_PAUSE, TOO_LONG
from jobs.models import Artifact, Attempt
from jobs.selectors.logs import LONGER
from jobs.services import reconcile_cluster as module
from jobs.services.reconcile_cluster import reconcile_cluster
from jobs.states import JobState
from portal.lib.clock import utc_now
from resources.drivers.base import DriverUnavailable
from resources.models import Cluster
from resources.selectors.drivers import driver_for

SHORT = {"duration": "1s", "size_mib": 1}


@pytest.fixture
def silent(machine, monkeypatch):
    """The node gives no log; how often it was asked."""
    driver, asked = driver_for(machine.cluster), []

    def logs(name, *, member, offset, limit):
        asked.append(name)
        raise DriverUnavailable("no route to host", reason="Unreachable")

    with monkeypatch.context() as patch:
        patch.setattr(driver, "logs", logs)
        yield asked, patch


def ended(machine, **more):
    job = machine.submit(params=SHORT, **more)
    machine.until(lambda: Attempt.objects.filter(job=job, released_at__isnull=False).exists())
    job.refresh_from_db()
    return job, machine.attempt(job)


def later(machine, seconds: float) -> None:
    reconcile_cluster(cluster=machine.cluster, now=utc_now() + timedelta(seconds=seconds))


def test_a_log_that_never_comes_is_given_up_after_its_time_and_the_attempt_is_closed(machine, silent, settings, client):
    asked, _patch = silent
    job, attempt = ended(machine)
    assert job.state == JobState.SUCCEEDED and not attempt.closed
    asked.clear()
    later(machine, 1)
    later(machine, 2)
    assert not asked, "asked again on every pass"
    later(machine, LOG_PAUSE.total_seconds() + 5)
    assert len(asked) == 1
    attempt.refresh_from_db()
    job.refresh_from_db()
    assert not attempt.closed and job.archived_at is None and "given_up" not in attempt.log_trouble
    client.force_login(machine.member)
    page = client.get(f"/jobs/{job.pk}?tab=log").content.decode()
    node = attempt.placement[0]["node"]
    assert f"Log of member 0 not available: node {node} has given none since" in page and "asked for until" in page
    later(machine, settings.LOG_DEADLINE_MINUTES * 60 + 5)
    attempt.refresh_from_db()
    job.refresh_from_db()
    assert attempt.closed and (job.archived_at is not None, job.archive_note) == (True, "LogNotAvailable")
    assert not Artifact.objects.filter(attempt=attempt, kind="log").exists(), "an empty log would be a lie"
    count = len(asked)
    later(machine, settings.LOG_DEADLINE_MINUTES * 60 + 60)
    later(machine, 86_400)
    assert len(asked) == count, "no more calls are spent"
    page = client.get(f"/jobs/{job.pk}?tab=log").content.decode()
    assert "It is no longer asked for." in page
    (shown,) = client.get(f"/api/v1/jobs/{job.pk}").json()["attempts"]
    assert shown["log_trouble"]["logs"][0]["cause"] == "Unreachable"


def test_a_log_that_comes_back_in_time_is_kept_and_nothing_is_said(machine, silent):
    _asked, patch = silent
    job, attempt = ended(machine)
    assert attempt.log_trouble
    patch.undo()
    later(machine, LOG_PAUSE.total_seconds() + 5)
    attempt.refresh_from_db()
    job.refresh_from_db()
    assert attempt.closed and attempt.log_trouble == {} and job.archive_note == ""
    assert Artifact.objects.get(attempt=attempt, kind="log").bytes > 0


def test_a_breaker_that_is_open_says_nothing_about_a_log(machine, monkeypatch):
    driver = driver_for(machine.cluster)

    def logs(name, *, member, offset, limit):
        raise DriverUnavailable("left alone", reason="CircuitOpen")

    with monkeypatch.context() as patch:
        patch.setattr(driver, "logs", logs)
        job, attempt = ended(machine)
        assert attempt.log_trouble == {} and not attempt.closed
    machine.settle(job)


def test_a_log_that_takes_long_is_copied_over_several_passes(machine, monkeypatch):
    driver = driver_for(machine.cluster)
    text = b"".join(b"line %d\n" % n for n in range(40))

    def logs(name, *, member, offset, limit):
        return text[offset : offset + 100], min(offset + 100, len(text))

    monkeypatch.setattr("jobs.keeping.LOG_S", 0.0)
    with monkeypatch.context() as patch:
        patch.setattr(driver, "logs", logs)
        job = machine.submit(params=SHORT)
        machine.settle(job)
    kept = Artifact.objects.get(job=job, kind="log")
    assert Path(kept.location).read_bytes() == text


def test_of_a_log_without_end_so_much_is_kept_and_a_line_says_that_there_was_more(machine, client, monkeypatch):
    driver = driver_for(machine.cluster)
    monkeypatch.setattr("jobs.keeping.MOST_KEPT", 1_000)
    monkeypatch.setattr("jobs.selectors.logs.MOST_LIVE", 500)
    monkeypatch.setattr("jobs.selectors.logs.CHUNK", 100)
    with monkeypatch.context() as patch:
        patch.setattr(driver, "logs", lambda name, *, member, offset, limit: (b"x" * 100, offset + 100))
        job = machine.submit(params=SHORT)
        machine.until(lambda: Attempt.objects.filter(job=job).exists())
        client.force_login(machine.member)
        live = client.get(f"/jobs/{job.pk}/log/download").content
        machine.settle(job)
    assert live == b"x" * 500 + LONGER
    kept = Artifact.objects.get(job=job, kind="log")
    assert Path(kept.location).read_bytes() == b"x" * 1_000 + TOO_LONG


def test_a_pass_without_time_visits_each_in_turn_and_the_mark_is_kept(machine, monkeypatch):
    """Every pass has time for one visit of a kind."""
    for name in ("STEP_S", "RELEASE_S", "KEEP_S", "PASS_S"):
        monkeypatch.setattr(module, name, 0.0)
    jobs = [machine.submit(params=SHORT, name=f"job {n}") for n in range(4)]
    visited = []
    real = module.archive_attempt

    def archive(*, driver, attempt, now):
        visited.append(attempt.job_id)
        if len(visited) > len(jobs):
            real(driver=driver, attempt=attempt, now=now)

    monkeypatch.setattr(module, "archive_attempt", archive)
    machine.settle(*jobs, seconds=60)
    assert set(visited[: len(jobs)]) <= {job.pk for job in jobs}
    assert [job.state for job in jobs] == [JobState.SUCCEEDED] * 4
    assert Attempt.objects.filter(closed=True).count() == 4
    assert Cluster.objects.get(pk=machine.cluster.pk).pass_marks.keys() <= {"step", "release", "keep", "clear"}


def test_an_end_from_the_future_is_when_the_portal_saw_it_and_the_page_says_what_was_said(machine, client, monkeypatch):
    driver = driver_for(machine.cluster)
    honest = driver.observe

    def observe():
        """As of a node whose clock is an hour ahead."""
        told = honest()
        hour = timedelta(hours=1)
        workloads = tuple(
            replace(
                one, members=tuple(replace(m, finished_at=m.finished_at and m.finished_at + hour) for m in one.members)
            )
            for one in told.workloads
        )
        return replace(told, workloads=workloads)

    monkeypatch.setattr(driver, "observe", observe)
    job = machine.submit(params=SHORT)
    machine.settle(job)
    attempt = machine.attempt(job)
    assert attempt.started_at <= attempt.stopped_at <= utc_now() and job.finished_at <= utc_now()
    assert attempt.corrected_times.keys() == {"stopped_at"}
    assert datetime.fromisoformat(attempt.corrected_times["stopped_at"]) > utc_now() + timedelta(minutes=50)
    client.force_login(machine.member)
    page = client.get(f"/jobs/{job.pk}?tab=history").content.decode()
    assert "Times that cannot have been" in page and "Attempt 1, stopped: the cluster says" in page
    (shown,) = client.get(f"/api/v1/jobs/{job.pk}").json()["attempts"]
    assert shown["corrected_times"] == attempt.corrected_times
