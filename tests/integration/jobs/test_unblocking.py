"""A person reads what would start a waiting job, presses it, and it starts; more quota becomes a draft."""

from datetime import timedelta

import pytest
import time_machine
from django.test import Client

from jobs.models import Job, JobEvent
from jobs.selectors.unblocking import offers_for
from jobs.services.run_cycle import run_cycle
from jobs.services.unblock_job import unblock_job
from jobs.states import JobState
from portal.lib.errors import Conflict, Denied, Invalid
from resources.models import ClassEquivalence, Node, ResourceClass
from resources.models.catalogue import Kind
from tenants.models import AuditEvent, Request
from tests import builders as make
from tests.cast import Cast, make_cast


@pytest.fixture
def cast(db: None) -> Cast:
    return make_cast()


def says(job: Job) -> dict[str, str]:
    return {offer.change.value: offer.say for offer in offers_for(job, make.NOW)}


def waiting(cast: Cast, cpu: int = 4_000, *, busy: int = 6_000, count: int = 1, **fields: object) -> Job:
    """A job that waits beside one that runs, on one node of eight cores."""
    node = Node.objects.get(cluster=cast.cluster, name="n1")
    begun = make.ago(hours=1)
    running = make.make_job(cast.alpha, cast.owner, state=JobState.RUNNING, time_limit_ms=2 * 3_600_000)
    make.make_allocation(running, node, (("cpu", "cpu", busy),), reserved=begun, bound=begun, started=begun)
    job = make.make_job(cast.alpha, cast.member, pool_keys=["shared"], **fields)
    pods = {"name": "main", "count": count, "lines": [["cpu", "cpu", cpu]]}
    Job.objects.filter(pk=job.pk).update(alternatives=[{"key": "main", "pod_sets": [pods]}])
    run_cycle(now=make.NOW)
    job.refresh_from_db()
    assert job.state == JobState.QUEUED
    return job


def test_a_smaller_size_is_taken_and_the_job_starts(cast: Cast) -> None:
    job = waiting(cast, 1_000, count=4)
    assert says(job)["shrink"] == "2 replicas instead of 4."
    unblock_job(actor=cast.member, job=job, change="shrink", now=make.NOW)
    run_cycle(now=make.NOW + timedelta(seconds=5))
    job.refresh_from_db()
    assert job.state == JobState.ADMITTED
    assert JobEvent.objects.get(job=job, kind="change").facts["cause"] == "NewSize"
    audit = AuditEvent.objects.get(verb="job.changed")
    assert [way["pod_sets"][0]["count"] for way in audit.before["alternatives"]] == [4]
    assert [way["pod_sets"][0]["count"] for way in audit.after["alternatives"]] == [2]


def test_more_quota_is_drafted_once(cast: Cast) -> None:
    make.set_cell(cast.alpha, "shared", "cpu", "cpu", nominal=8_000, ceiling=8_000)
    make.make_node("n2-more", cast.cluster, cast.shared)
    job = waiting(cast, 4_000)
    assert job.reason in {"CeilingReached", "QuotaFull"}
    assert "10 cores" in says(job)["quota"]
    first = unblock_job(actor=cast.member, job=job, change="quota", now=make.NOW)
    again = unblock_job(actor=cast.member, job=job, change="quota", now=make.NOW)
    assert isinstance(first, Request) and first == again
    assert first.asked["cells"][0]["nominal"] == 10_000
    job.refresh_from_db()
    assert job.state == JobState.QUEUED
    assert AuditEvent.objects.filter(verb="request.drafted").count() == 1


def test_an_equal_class_is_offered_where_one_is_declared_for_its_type(cast: Cast) -> None:
    old, new = make.make_class("old-card", Kind.GPU), make.make_class("fresh-card", Kind.GPU)
    make.make_node("cards", cast.cluster, cast.shared, cards=1, card_class=new)
    make.make_node("others", cast.cluster, cast.shared, cards=1, card_class=old, stage="cordoned")
    lines = (("old-card", "device", make.CARD),)
    job = make.make_job(cast.alpha, cast.member, pool_keys=["shared"], lines=lines)
    assert "other" not in says(job)
    declare(old, new)
    job.refresh_from_db()
    assert "other" in says(job)
    unblock_job(actor=cast.member, job=job, change="other", now=make.NOW)
    run_cycle(now=make.NOW)
    job.refresh_from_db()
    assert job.state == JobState.ADMITTED


def declare(of: ResourceClass, by: ResourceClass) -> None:
    ClassEquivalence.objects.create(
        of=of, by=by, task_type="batch", evidence="Measured.", declared_at=make.ago(hours=1),
        valid_to=make.NOW + timedelta(days=1),
    )  # fmt: skip


def test_what_no_longer_helps_is_refused_and_changes_nothing(cast: Cast) -> None:
    job = waiting(cast, 1_000, count=4)
    Job.objects.filter(state=JobState.RUNNING).delete()
    with pytest.raises(Conflict):
        unblock_job(actor=cast.member, job=job, change="shrink", now=make.NOW)
    with pytest.raises(Invalid):
        unblock_job(actor=cast.member, job=job, change="node", now=make.NOW)
    assert not AuditEvent.objects.filter(verb="job.changed").exists()


def test_only_who_may_cancel_it_may_change_it(cast: Cast) -> None:
    job = waiting(cast, 1_000, count=4)
    with pytest.raises(Denied):
        unblock_job(actor=cast.viewer, job=job, change="shrink", now=make.NOW)


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@time_machine.travel(make.NOW, tick=False)
def test_the_page_shows_them_with_their_buttons(cast: Cast, client: Client, language: str) -> None:
    job = waiting(cast, 1_000, count=4)
    client.force_login(cast.member)
    client.cookies["django_language"] = language
    page = client.get(f"/jobs/{job.pk}/unblock").content.decode()
    assert 'name="change" value="shrink"' in page
    assert ("2 replicas instead of 4." in page) == (language == "en")
    answer = client.post(f"/jobs/{job.pk}/unblock", {"change": "shrink"}, follow=True)
    assert answer.status_code == 200
    job.refresh_from_db()
    assert job.alternatives[0]["pod_sets"][0]["count"] == 2
    assert client.get(f"/jobs/{job.pk}?tab=history").status_code == 200


@time_machine.travel(make.NOW, tick=False)
def test_the_api_offers_and_does_the_same(cast: Cast, client: Client) -> None:
    job = waiting(cast, 1_000, count=4)
    client.force_login(cast.member)
    offers = client.get(f"/api/v1/jobs/{job.pk}/unblockers").json()["unblockers"]
    assert {offer["change"]: offer["can_be_done"] for offer in offers} == {"shrink": True, "end": False, "more": False}
    done = client.post(
        f"/api/v1/jobs/{job.pk}/unblockers", {"change": "shrink"}, content_type="application/json"
    )  # fmt: skip
    assert (done.status_code, done.json()) == (200, {"changed": True, "request": None})
