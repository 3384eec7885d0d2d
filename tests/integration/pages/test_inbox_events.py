"""What is announced, to whom, and that each person is told exactly once."""

from datetime import timedelta

import pytest
from django.contrib.auth.models import Group
from django.db import connection, transaction

from jobs.services.announce_job import announce_job
from jobs.services.retire_template import retire_template
from jobs.services.run_cycle import run_cycle
from jobs.services.transition import transition
from jobs.states import JobState
from portal.lib.failpoints import FailpointError
from resources.drivers.base import DriverUnavailable
from resources.models import Cluster, Node
from resources.services import sync_inventory as sync_module
from resources.services.announce_losses import announce_losses
from resources.services.publish_rate import publish_rate
from resources.services.record_capacity import record_capacity
from resources.services.sync_inventory import sync_inventory
from tenants.models import Membership, Notice, Outbox
from tenants.notify.events import Event
from tenants.notify.recipients import holders, in_roles, people, read_recipients
from tenants.roles import Role
from tenants.selectors.recipients import people_meant
from tenants.services.announce import announce
from tenants.services.delete_quota import delete_quota
from tenants.services.fan_out import fan_out
from tenants.services.grant_pool import grant_pool
from tenants.services.grant_role import grant_role
from tenants.services.prune_notices import prune_notices
from tenants.services.revoke_role import revoke_role
from tenants.services.set_quota import set_quota
from tests import builders as make
from tests.builders import NOW, ago


@pytest.fixture(autouse=True)
def nothing_before(request):
    """What making the cast announced is no part of a test."""
    if "cast" in request.fixturenames:
        request.getfixturevalue("cast")
        Outbox.objects.all().delete()


def told(event: Event) -> list[str]:
    fan_out(now=NOW)
    return sorted(Notice.objects.filter(event=event).values_list("recipient__username", flat=True))


def quota(cast, actor, tenant):
    keys = {"pool_key": "shared", "class_key": "cpu", "resource": "cpu"}
    return set_quota(actor=actor, tenant=tenant, guarantee=None, nominal=4_000, ceiling=None, now=NOW, **keys)


def test_a_role_given_and_taken_is_told_to_the_person(cast):
    member = grant_role(actor=cast.lead, user=cast.stranger, role=Role.MEMBER, scope=cast.alpha, now=NOW)
    assert told(Event.ROLE_GRANTED) == ["stranger"]
    revoke_role(actor=cast.lead, membership=member, now=NOW)
    assert told(Event.ROLE_REMOVED) == ["stranger"]
    assert Notice.objects.get(event=Event.ROLE_REMOVED).facts == {"role": "member", "scope": "Alpha"}


def test_a_role_that_is_held_already_is_no_event(cast):
    grant_role(actor=cast.lead, user=cast.member, role=Role.MEMBER, scope=cast.alpha, now=NOW)
    assert told(Event.ROLE_GRANTED) == []


def test_a_quota_of_a_project_concerns_its_owners_and_the_leads_above(cast):
    quota(cast, cast.platform_admin, cast.alpha)
    assert told(Event.QUOTA_CHANGED) == ["lead", "owner"]


def test_a_quota_of_a_team_also_concerns_the_owners_below_but_not_who_set_it(cast):
    quota(cast, None, cast.models)
    assert told(Event.QUOTA_CHANGED) == ["lead", "owner"]


def test_who_did_it_is_not_told(cast):
    rule = in_roles([Role.LEAD, Role.OWNER], project=cast.alpha.pk, but=cast.lead.pk)
    assert [p.username for p in people_meant(rule)] == ["owner"]


def test_a_grant_concerns_owners_and_leads(cast):
    grant_pool(actor=None, tenant=cast.alpha, pool_key="other", now=NOW, valid_from=NOW)
    assert told(Event.GRANT_CHANGED) == ["lead", "owner"]


def test_a_quota_set_to_what_it_is_is_no_event_and_one_taken_away_is(cast):
    cell = quota(cast, None, cast.alpha)
    Outbox.objects.all().delete()
    quota(cast, None, cast.alpha)
    assert not Outbox.objects.exists()
    delete_quota(actor=None, cell=cell, now=NOW)
    assert told(Event.QUOTA_CHANGED) == ["lead", "owner"]


def test_how_a_job_ends_is_told_to_its_submitter_once(cast):
    failing = make.make_job(cast.alpha, cast.member, state="STARTING")
    facts = {"cluster": "Site", "detail": "Forbidden"}
    for _ in range(2):
        transition(job=failing, to=JobState.FAILED, reason="RejectedByCluster", facts=facts, now=NOW)
        failing.state = "STARTING"
    running = make.make_job(cast.alpha, cast.owner, state="RUNNING")
    transition(job=running, to=JobState.SUCCEEDED, reason="Succeeded", facts={"ran": 1_000}, now=NOW)
    assert told(Event.JOB_FAILED) == ["member"]
    assert told(Event.JOB_SUCCEEDED) == ["owner"]


def test_a_job_that_can_never_start_is_told_once_for_each_reason(cast):
    make.make_job(cast.alpha, cast.member, pool_keys=["shared"], lines=(("cpu", "cpu", 64_000),))
    for _ in range(2):
        run_cycle(now=NOW)
    assert told(Event.JOB_NEVER) == ["member"]
    notice = Notice.objects.get(event=Event.JOB_NEVER)
    assert notice.facts["reason"] == "AboveLargestNode" and notice.facts["reason_facts"]["need"] == 64_000


def test_a_leak_is_told_to_those_who_look_after_the_pool(cast):
    job = make.make_job(cast.alpha, cast.member)
    call = {"event": Event.ALLOCATION_LEAKED, "reason": "Leaked", "facts": {}, "cluster": "Site", "pool": "shared"}
    announce_job(job=job, now=NOW, **call)
    assert told(Event.ALLOCATION_LEAKED) == ["admin", "pooler"]


def test_a_template_taken_out_of_use_is_told_to_those_who_may_start_from_it(cast):
    retire_template(actor=None, template=make.make_template("own", project=cast.alpha).template, now=NOW)
    assert told(Event.TEMPLATE_RETIRED) == ["admin", "lead", "member", "owner"]


def test_a_rate_concerns_leads_and_managers_wherever_they_are(cast):
    publish_rate(actor=None, resource_class=cast.cpu, price_micro=2_000_000, weight_micro=1, valid_from=NOW, now=NOW)
    assert told(Event.RATE_PUBLISHED) == ["lead", "manager"]


def test_rules_reach_groups_and_the_organisation_above_a_pool_but_nobody_inactive(cast):
    rule = holders("pool.change", pool="shared")
    assert {p.username for p in people_meant(rule)} == {"pooler", "admin"}
    group = Group.objects.create(name="night shift")
    cast.stranger.groups.add(group)
    Membership.objects.create(role=Role.POOL_ADMIN, group=group, pool_key="shared", created_at=NOW)
    cast.pool_admin.is_active = False
    cast.pool_admin.save()
    assert {p.username for p in people_meant(rule)} == {"stranger", "admin"}
    assert read_recipients(rule.stored()) == rule


def test_nodes_lost_in_one_pass_are_one_notice_for_each_pool(cast):
    Node.objects.filter(pk=cast.node.pk).update(created_at=ago(days=1))
    record_capacity(cluster=cast.cluster, now=ago(minutes=1))
    Node.objects.filter(pk=cast.node.pk).update(stage=Node.Stage.UNREACHABLE)
    for _ in range(2):
        record_capacity(cluster=cast.cluster, now=NOW)
        announce_losses(cluster=cast.cluster, now=NOW)
    later = NOW + timedelta(seconds=15)
    record_capacity(cluster=cast.cluster, now=later)
    announce_losses(cluster=cast.cluster, now=later)
    assert told(Event.NODE_LOST) == ["admin", "pooler"]
    assert Notice.objects.filter(event=Event.NODE_LOST).first().facts["names"] == ["n1"]


def test_a_silent_cluster_is_told_once_for_each_silence(cast, monkeypatch):
    class Away:
        def capability(self):
            raise DriverUnavailable("no answer", reason="NoAnswer")

    monkeypatch.setattr(sync_module, "driver_for", lambda cluster: Away())
    for age in (30, 75, 90):
        Cluster.objects.update(last_seen_at=NOW)
        moment = NOW + timedelta(seconds=age)
        sync_inventory(cluster=Cluster.objects.get(), now=moment)
        assert Outbox.objects.filter(event=Event.CLUSTER_UNREACHABLE).count() == (0 if age == 30 else 1)
    assert told(Event.CLUSTER_UNREACHABLE) == ["admin"]


def test_an_event_announced_twice_is_told_once_and_a_later_one_again(cast):
    def say(once: str) -> None:
        facts = {"role": "member", "scope": "Alpha"}
        announce(
            event=Event.ROLE_GRANTED,
            subject=cast.alpha,
            facts=facts,
            recipients=people(cast.member.pk),
            once=once,
            now=NOW,
        )

    say("1")
    say("1")
    assert told(Event.ROLE_GRANTED) == ["member"]
    say("1")
    say("2")
    assert told(Event.ROLE_GRANTED) == ["member", "member"]


def test_what_is_rolled_back_is_not_announced(cast):
    with pytest.raises(ZeroDivisionError), transaction.atomic():
        quota(cast, None, cast.alpha)
        raise ZeroDivisionError
    assert told(Event.QUOTA_CHANGED) == []


def test_a_kill_between_any_two_statements_neither_loses_nor_doubles(cast):
    for number in range(3):
        rule = in_roles([Role.LEAD, Role.OWNER, Role.MEMBER], project=cast.alpha.pk)
        announce(event=Event.ROLE_GRANTED, subject=cast.alpha, facts={}, recipients=rule, once=str(number), now=NOW)

    def fails_at(place: int):
        seen = iter(range(10_000))

        def wrapper(execute, sql, params, many, context):
            if next(seen) == place:
                raise FailpointError(sql)
            return execute(sql, params, many, context)

        return wrapper

    place = finished = 0
    while not finished:
        try:
            with transaction.atomic(), connection.execute_wrapper(fails_at(place)):
                fan_out(now=NOW)
            finished = 1
        except FailpointError:
            place += 1
    assert place > 6, "it was stopped at every statement it makes"
    assert told(Event.ROLE_GRANTED) == ["lead"] * 3 + ["member"] * 3 + ["owner"] * 3


def test_inboxes_stay_bounded(cast, monkeypatch):
    monkeypatch.setattr("tenants.services.prune_notices.MOST_KEPT", 3)
    for days in (0, 1, 2, 3, 100):
        rule = people(cast.member.pk, cast.owner.pk) if days in (0, 100) else people(cast.member.pk)
        announce(event=Event.ROLE_GRANTED, subject=cast.alpha, facts={}, recipients=rule, now=ago(days=days))
    fan_out(now=NOW)
    assert prune_notices(now=NOW) == 3
    kept = Notice.objects.filter(recipient=cast.member).order_by("-at")
    assert [(NOW - n.at).days for n in kept] == [0, 1, 2]
    assert Notice.objects.filter(recipient=cast.owner).count() == 1
    assert prune_notices(now=NOW) == 0
    assert not Outbox.objects.filter(at__lt=ago(days=90)).exists()
