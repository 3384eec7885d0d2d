"""Two at once: two schedulers, two writers, two clicks. The database decides, and nothing is promised twice."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from itertools import pairwise
from typing import Any

import pytest
from django.db import connection, connections
from django.db.models import Sum

from jobs.models import Allocation, AllocationLine, Attempt, Job, JobEvent, JobTemplate, TemplateVersion
from jobs.reasons import Reason
from jobs.services import run_cycle as cycle_module
from jobs.services.copy_template import copy_template
from jobs.services.publish_shipped_templates import publish_shipped_templates
from jobs.services.publish_version import publish_version
from jobs.services.run_cycle import run_cycle
from jobs.services.submit_job import submit_job
from jobs.services.transition import transition
from jobs.states import JobState
from portal.lib.clock import utc_now
from portal.lib.errors import Invalid
from tenants import access
from tenants.models import AuditEvent
from tenants.roles import Role
from tenants.services.create_team import create_team
from tenants.services.create_user import create_user
from tenants.services.grant_role import grant_role
from tenants.services.record_audit import record_audit
from tenants.services.revoke_role import revoke_role
from tests import builders as make
from tests.cast import make_cast

pytestmark = pytest.mark.django_db(transaction=True)


def at_once(*acts: Callable[[], Any]) -> list[Any]:
    """Results of all acts, started together, each on a connection of its own; an error is its result."""
    barrier = threading.Barrier(len(acts))
    results: list[Any] = [None] * len(acts)

    def run(index: int) -> None:
        try:
            barrier.wait(10)
            results[index] = acts[index]()
        except Exception as error:
            results[index] = error
        finally:
            connections.close_all()

    threads = [threading.Thread(target=run, args=(i,)) for i in range(len(acts))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    return results


@contextmanager
def _no_lock(name: str) -> Iterator[bool]:
    yield True


@pytest.fixture
def cast():
    return make_cast()


def _queue(cast, count: int, milli: int) -> list[Job]:
    make.make_node("big", cast.cluster, cast.shared, cpu=20_000)
    return [
        make.make_job(
            cast.alpha, cast.member, pool_keys=["shared"], lines=(("cpu", "cpu", milli),), submitted=make.ago(minutes=i)
        )
        for i in range(count)
    ]


@pytest.mark.parametrize("limit", [1_000, 3_500, 10_000])
def test_four_schedulers_without_their_lock_never_pass_a_quota(cast, limit, monkeypatch):
    monkeypatch.setattr(cycle_module, "try_session_lock", _no_lock)
    jobs = _queue(cast, 14, 1_000)
    make.set_cell(cast.alpha, "shared", "cpu", "cpu", nominal=limit, ceiling=limit)
    results = at_once(*[lambda: run_cycle(now=make.NOW)] * 4)
    assert all(isinstance(r, int) for r in results), results
    held = AllocationLine.objects.aggregate(total=Sum("quantity"))["total"]
    assert held == limit // 1_000 * 1_000
    assert Job.objects.filter(state=JobState.ADMITTED).count() == limit // 1_000
    assert Attempt.objects.count() == Allocation.objects.count() == limit // 1_000 <= len(jobs)


def test_four_schedulers_without_their_lock_never_promise_a_device_twice(cast, monkeypatch):
    monkeypatch.setattr(cycle_module, "try_session_lock", _no_lock)
    card = make.make_class("card", "GPU")
    make.make_node("gpu", cast.cluster, cast.shared, cpu=64_000, cards=4, card_class=card)
    for i in range(9):
        lines = (("cpu", "cpu", 100), ("card", "device", make.CARD))
        make.make_job(cast.alpha, cast.member, pool_keys=["shared"], lines=lines, submitted=make.ago(minutes=i))
    results = at_once(*[lambda: run_cycle(now=make.NOW)] * 4)
    assert all(isinstance(r, int) for r in results), results
    run_cycle(now=make.NOW)
    assert Job.objects.filter(state=JobState.ADMITTED).count() == 4
    holds = list(AllocationLine.objects.filter(resource="device").values_list("holds__device", flat=True))
    assert len(holds) == len(set(holds)) == 4


def test_four_schedulers_with_their_lock_admit_each_job_once(cast):
    _queue(cast, 10, 1_000)
    at_once(*[lambda: run_cycle(now=make.NOW)] * 4)
    run_cycle(now=make.NOW)
    assert Job.objects.filter(state=JobState.ADMITTED).count() == Attempt.objects.count() == 10


def test_of_racing_moves_one_wins_and_one_event_is_written(cast):
    job = make.make_job(cast.alpha, cast.member)

    def cancel() -> bool:
        mine = Job.objects.get(pk=job.pk)
        return transition(job=mine, to=JobState.CANCELLED, reason=Reason.CANCELLED_BY_USER, now=make.NOW)

    results = at_once(*[cancel] * 6)
    won = [r for r in results if r is True]
    # The losers either saw the old state and changed no row, or saw the new one, from which there is no move.
    assert len(won) == 1 and all(r is False or isinstance(r, ValueError) for r in results if r is not True)
    assert JobEvent.objects.filter(job=job, new="CANCELLED").count() == 1


def test_two_clicks_with_one_key_give_one_job(cast):
    from jobs.models import TemplateVersion
    from jobs.request import JobRequest
    from jobs.services.publish_shipped_templates import publish_shipped_templates

    publish_shipped_templates(now=make.NOW)
    version = TemplateVersion.objects.get(template__slug="run-operation")
    request = JobRequest(params={}, cpu="100m", memory="256Mi")

    def click() -> Job:
        return submit_job(
            actor=cast.member,
            project=cast.alpha,
            version=version,
            request=request,
            now=make.NOW,
            idempotency_key="click",
        )

    results = at_once(*[click] * 4)
    assert len({job.pk for job in results}) == 1 and Job.objects.count() == 1
    assert JobEvent.objects.filter(reason="Submitted").count() == 1


def test_the_audit_chain_has_no_fork_under_parallel_writers(cast):
    before = AuditEvent.objects.count()
    at_once(*[lambda: [record_audit(actor=None, verb="test.act", now=utc_now()) for _ in range(5)]] * 4)
    rows = list(AuditEvent.objects.order_by("seq").values_list("seq", "prev_hash", "hash"))
    assert len(rows) == before + 20
    assert all(b[0] == a[0] + 1 and b[1] == a[2] for a, b in pairwise(rows))


def test_the_restricted_role_may_run_the_whole_cycle(cast):
    jobs = _queue(cast, 1, 1_000)
    with connection.cursor() as cursor:
        cursor.execute("SET ROLE portal_app")
    try:
        assert run_cycle(now=make.NOW) == 1
    finally:
        with connection.cursor() as cursor:
            cursor.execute("RESET ROLE")
    assert Job.objects.get(pk=jobs[0].pk).state == JobState.ADMITTED


def test_two_next_versions_at_once_are_one_and_a_refusal(cast):
    publish_shipped_templates(now=make.NOW)
    source = TemplateVersion.objects.get(template__slug="run-operation")

    def copied():
        return copy_template(
            actor=cast.owner, source=source, project=cast.alpha, slug="ours", title="Ours", now=make.NOW
        )

    made = at_once(copied, copied)
    assert sorted(type(result).__name__ for result in made) == ["Invalid", "TemplateVersion"]
    template = JobTemplate.objects.get(slug="ours")

    def published(title: str):
        return publish_version(
            actor=cast.owner, template=template, base=1, parts={"title": {"en": title}}, now=make.NOW
        )

    results = at_once(*(lambda title=title: published(title) for title in "ABC"))
    assert sorted(getattr(result, "reason", "") for result in results) == ["", "VersionOutdated", "VersionOutdated"]
    assert template.versions.count() == 2
    assert AuditEvent.objects.filter(verb="template.published", target_id=str(template.pk)).count() == 1


def test_two_roles_taken_at_once_leave_nothing_behind(cast):
    """What a role leaves depends on the others that remain: each must see the other gone."""
    for _round in range(4):
        rows = [
            grant_role(actor=None, user=cast.stranger, role=role, scope=cast.alpha, now=make.NOW)
            for role in (Role.OWNER, Role.MEMBER)
        ]
        at_once(*(lambda row=row: revoke_role(actor=None, membership=row, now=make.NOW) for row in rows))
        assert not cast.stranger.memberships.exists()
        assert not access.can(cast.stranger, "project.see", cast.alpha)


def test_a_role_given_while_another_is_taken_works(cast):
    for _round in range(4):
        owner = grant_role(actor=None, user=cast.stranger, role=Role.OWNER, scope=cast.alpha, now=make.NOW)
        given, _taken = at_once(
            lambda: grant_role(actor=None, user=cast.stranger, role=Role.MEMBER, scope=cast.alpha, now=make.NOW),
            lambda row=owner: revoke_role(actor=None, membership=row, now=make.NOW),
        )
        assert access.can(cast.stranger, "job.ask", cast.alpha)
        assert not access.can(cast.stranger, "member.change", cast.alpha)
        revoke_role(actor=None, membership=given, now=make.NOW)
        assert not access.can(cast.stranger, "project.see", cast.alpha)


def test_a_name_is_given_once_however_many_ask_for_it_at_once(cast):
    made = at_once(
        *(lambda: create_user(actor=None, username="twin", display_name="Twin", now=make.NOW) for _ in range(4))
    )
    assert sum(isinstance(one, tuple) for one in made) == 1 and sum(isinstance(one, Invalid) for one in made) == 3
    parents = (cast.models, cast.vision)
    made = at_once(
        *(
            lambda p=parent: create_team(actor=None, name=f"Twin of {p}", slug="twin", parent=p, now=make.NOW)
            for parent in parents
        )
    )
    assert sorted(type(one).__name__ for one in made) == ["Invalid", "Team"]
