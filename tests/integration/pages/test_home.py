"""Home: what each role finds there, and where its tiles lead."""

import re
from datetime import timedelta

import pytest

from jobs.models import Cycle
from jobs.services.record_event import record_event
from jobs.states import JobState
from metering.services.record_usage import record_usage
from resources.models import Node
from tenants.models import AuditEvent
from tenants.roles import Role
from tenants.services.grant_role import grant_role
from tenants.services.record_audit import record_audit
from tenants.services.set_quota import set_quota
from tests import builders as make
from tests.builders import NOW, ago

PANELS = {
    "platform_admin": {"attention", "clusters", "capacity", "waiting", "failures", "health"},
    "pool_admin": {"pools"},
    "auditor": {"denials", "changes", "records"},
    "team_auditor": {"denials", "changes", "records"},
    "manager": {"cost", "rates", "projects"},
    "lead": {"projects", "waiting", "quota", "members"},
    "owner": {"jobs", "needs", "events", "templates", "quota"},
    "member": {"jobs", "needs", "events", "templates", "quota"},
    "viewer": {"followed", "usage"},
    "stranger": {"no-role"},
}


def panels(page: str) -> set[str]:
    return set(re.findall(r'data-panel="([\w-]+)"', page))


def panel(page: str, name: str) -> str:
    part = page[page.index(f'data-panel="{name}"') :]
    return part[: part.index("</section>")]


def tile(page: str, label: str) -> str:
    """The tile of that label."""
    part = page[page.index(f'<span class="label">{label}</span>') - 200 :]
    part = part[: part.index("</li>", 200)]
    return part[part.rindex("<li") :]


@pytest.mark.parametrize("role", PANELS)
@pytest.mark.parametrize("language", ["en", "zh-hans"])
def test_every_role_has_its_own_home_in_both_languages(cast, as_user, role, language):
    user = cast.person(role)
    user.language = language
    user.save()
    response = as_user(user).get("/")
    page = response.content.decode()
    assert response.status_code == 200
    assert panels(page) == PANELS[role]
    assert f'<html lang="{"zh-Hans" if language != "en" else "en"}">' in page


def test_anonymous_readers_are_sent_to_sign_in(client, db):
    assert client.get("/")["Location"] == "/login?next=/"


def test_a_person_without_a_role_is_told_whom_to_ask(cast, as_user):
    page = as_user(cast.stranger).get("/").content.decode()
    assert "Ask Mira Okafor of Organisation for a role" in page


def test_several_roles_give_several_sections_the_furthest_reaching_first(cast, as_user):
    grant_role(actor=None, user=cast.member, role=Role.MANAGER, scope=cast.organisation, now=NOW)
    page = as_user(cast.member).get("/").content.decode()
    assert panels(page) == PANELS["manager"] | PANELS["member"]
    assert page.index('data-panel="cost"') < page.index('data-panel="quota"')
    assert page.count("<h1>") == 1


def test_a_researcher_sees_own_jobs_with_state_and_reason(cast, as_user):
    make.make_job(
        cast.alpha,
        cast.member,
        name="waits",
        reason="InsufficientCapacity",
        facts={"pool": "shared", "free": 1_000, "total": 8_000, "need": 4_000, "res": "CPU", "resource": "cpu"},
        lines=(("cpu", "cpu", 4_000),),
    )
    make.make_job(cast.alpha, cast.member, name="runs", state=JobState.RUNNING, reason="Running")
    ended = {"state": JobState.FAILED, "reason": "MemoryLimit", "facts": {"max": make.GIB, "resource": "memory"}}
    make.make_job(cast.alpha, cast.member, name="just-failed", finished_at=ago(hours=2), **ended)
    make.make_job(cast.alpha, cast.member, name="failed-last-week", finished_at=ago(days=6), **ended)
    make.make_job(cast.alpha, cast.owner, name="of-the-owner", state=JobState.RUNNING)
    jobs = panel(as_user(cast.member).get("/").content.decode(), "jobs")
    assert "Pool Shared has 1 of 8 cores CPU free; 4 needed." in jobs
    assert "Memory use reached 1 GiB" in jobs
    for name, there in (("waits", 1), ("runs", 1), ("just-failed", 1), ("failed-last-week", 0), ("of-the-owner", 0)):
        assert (f">{name}</a>" in jobs) is bool(there), name
    assert 'href="/jobs?state=waiting&amp;mine=1"' in jobs


def test_counts_of_the_chips_match_the_lists_they_lead_to(cast, as_user):
    for state in (JobState.RUNNING, JobState.RUNNING, JobState.QUEUED):
        make.make_job(cast.alpha, cast.member, state=state)
    for hours in (1, 25):
        make.make_job(cast.alpha, cast.member, state=JobState.FAILED, finished_at=ago(hours=hours))
    make.make_job(cast.alpha, cast.owner, state=JobState.RUNNING)
    client = as_user(cast.member)
    jobs = panel(client.get("/").content.decode(), "jobs")
    chips = re.findall(r'<a class="fchip" href="([^"]+)">[\w ]+ (\d+)</a>', jobs)
    assert "Failed in 24 hours 1" in jobs and "Succeeded in 24 hours 0" in jobs
    assert [int(count) for _, count in chips] == [2, 1, 1, 0]
    for url, count in chips:
        found = client.get(url.replace("&amp;", "&")).context["page"].paginator.count
        assert found == int(count), url


def test_quota_is_what_allocations_hold_below_each_cell(cast, as_user):
    common = {"pool_key": "shared", "class_key": "cpu", "resource": "cpu", "actor": None, "now": NOW}
    set_quota(tenant=cast.alpha, guarantee=1_000, nominal=4_000, ceiling=8_000, **common)
    set_quota(tenant=cast.models, guarantee=None, nominal=16_000, ceiling=None, **common)
    gamma = make.make_project("gamma", cast.models)
    for project, amount, bound in ((cast.alpha, 5_000, True), (cast.alpha, 1_000, False), (gamma, 2_000, True)):
        job = make.make_job(project, cast.member, state=JobState.RUNNING)
        make.make_allocation(
            job, cast.node, [("cpu", "cpu", amount)], reserved=ago(hours=1), bound=ago(hours=1) if bound else None
        )
    leaked = make.make_job(cast.alpha, cast.member, state=JobState.FAILED)
    make.make_allocation(
        leaked, cast.node, [("cpu", "cpu", 7_000)], reserved=ago(hours=3), bound=ago(hours=3), leaked=ago(hours=1)
    )
    response = as_user(cast.member).get("/")
    cells = {c["owner"].slug: c for s in response.context["sections"] for c in s["cells"]}
    assert (cells["alpha"]["use"].used, cells["alpha"]["use"].reserved, cells["alpha"]["borrowed"]) == (
        5_000,
        1_000,
        1_000,
    )
    assert (cells["models"]["use"].used, cells["models"]["use"].reserved) == (7_000, 1_000)
    quota = panel(response.content.decode(), "quota")
    assert 'href="/pools/shared"' in quota
    assert "no rule" in quota or "none" in quota


def test_what_changed_are_my_events_as_sentences(cast, as_user):
    mine = make.make_job(cast.alpha, cast.member, name="mine")
    other = make.make_job(cast.alpha, cast.owner, name="not-mine")
    for job in (mine, other):
        record_event(job=job, at=ago(minutes=3), now=NOW, kind="state", reason="Submitted", old="", new="QUEUED")
    record_event(job=mine, at=ago(days=8), now=NOW, kind="state", reason="HoldLifted", facts={"who": "Old Times"})
    events = panel(as_user(cast.member).get("/").content.decode(), "events")
    assert "Submitted." in events
    assert "3 minutes ago" in events
    assert "not-mine" not in events
    assert "Old Times" not in events


def test_the_quick_start_offers_the_templates_one_may_use(cast, as_user):
    make.make_template("shipped-one")
    make.make_template("of-beta", project=cast.beta)
    templates = panel(as_user(cast.member).get("/").content.decode(), "templates")
    assert 'href="/templates/shipped-one/new"' in templates
    assert "of-beta" not in templates


def test_a_lead_sees_projects_with_counts_members_and_this_months_usage(cast, as_user):
    for state in (JobState.RUNNING, JobState.QUEUED, JobState.QUEUED):
        make.make_job(cast.alpha, cast.member, state=state)
    done = make.make_job(cast.alpha, cast.member, state=JobState.SUCCEEDED)
    make.make_allocation(
        done,
        cast.node,
        reserved=ago(hours=3),
        bound=ago(hours=3),
        started=ago(hours=3),
        stopped=ago(hours=1),
        released=ago(hours=1),
    )
    record_usage(now=NOW)
    page = as_user(cast.lead).get("/").content.decode()
    projects = panel(page, "projects")
    assert "Alpha" in projects
    assert "Beta" not in projects
    assert re.findall(r'state=(\w+)&amp;project=alpha">(\d+)<', projects) == [("active", "1"), ("waiting", "2")]
    assert "2.00 points" in projects
    members = panel(page, "members")
    for name in ("Owner", "Member", "Viewer", "Lead"):
        assert name in members
    assert "Outsider" not in members


def test_the_platform_sees_stale_clusters_stages_waiting_leaks_and_the_last_decision(cast, as_user):
    make.make_cluster("late", seen=ago(minutes=10))
    make.make_node("n2", cast.cluster, stage=Node.Stage.CORDONED)
    make.make_job(cast.beta, cast.outsider, submitted=ago(hours=5))
    stuck = make.make_job(cast.beta, cast.outsider, name="stuck", state=JobState.CANCELLED)
    make.make_allocation(
        stuck, cast.node, reserved=ago(hours=2), bound=ago(hours=2), stopped=ago(hours=1), leaked=ago(minutes=58)
    )
    Cycle.objects.create(at=ago(seconds=40), duration_ms=31, waiting=3, admitted=2, snapshot_sha256="0" * 64)
    page = as_user(cast.platform_admin).get("/").content.decode()
    assert 'data-state="stale"' in panel(page, "clusters")
    health = panel(page, "health")
    assert 'href="/nodes?stage=cordoned"' in health
    assert 'href="/jobs?state=waiting">1</a>' in health
    assert "5 hours ago" in health
    assert "40 seconds ago" in health
    leaks = panel(page, "leaks")
    assert "1 allocation was not seen free in time" in leaks
    assert f'href="/jobs/{stuck.pk}"' in leaks


def test_a_manager_sees_cost_with_its_unrated_part_and_the_median_wait(cast, as_user):
    card = make.make_class("gpu-a", "GPU")
    node = make.make_node("n2", cast.cluster, cast.shared, cards=1, card_class=card)
    for minutes in (1, 7, 31):
        job = make.make_job(cast.alpha, cast.member, state=JobState.SUCCEEDED, submitted=ago(hours=4))
        bound = ago(hours=4) + timedelta(minutes=minutes)
        lines = [("cpu", "cpu", 1_000), *([("gpu-a", "device", make.CARD)] if minutes == 7 else [])]
        end = bound + timedelta(hours=1)
        make.make_allocation(job, node, lines, reserved=bound, bound=bound, started=bound, stopped=end, released=end)
    record_usage(now=NOW)
    page = as_user(cast.manager).get("/").content.decode()
    assert "3.00 points" in panel(page, "cost")
    assert "unrated" in panel(page, "cost")
    wait = tile(page, "Median wait")
    assert "7 min 00 s" in wait and "of 3 starts this month" in wait
    assert 'href="/usage/projects?project=alpha"' in panel(page, "projects")


def test_an_auditor_sees_how_far_the_chain_was_verified(cast, as_user):
    page = as_user(cast.auditor).get("/").content.decode()
    last = AuditEvent.objects.order_by("-seq").values_list("seq", flat=True).first()
    assert f"Records 1 to {last} were computed again just now and hold together." in page


def test_an_auditor_sees_that_the_chain_is_broken(cast, as_user):
    from tests.integration.pages.test_verify_audit import as_the_owner

    with as_the_owner():
        AuditEvent.objects.filter(seq=3).update(verb="forged")
    page = as_user(cast.auditor).get("/").content.decode()
    assert "The audit chain is broken" in page
    assert "Record 3 does not hold (HashMismatch)" in page


def test_an_auditor_of_a_team_sees_its_records_only(cast, as_user):
    record_audit(actor=None, verb="test.alpha", target=cast.alpha, now=NOW)
    record_audit(actor=None, verb="test.beta", target=cast.beta, now=NOW)
    page = as_user(cast.team_auditor).get("/").content.decode()
    assert "test.alpha" in page
    assert "test.beta" not in page


def test_a_viewer_follows_the_jobs_of_others(cast, as_user):
    make.make_job(cast.alpha, cast.member, name="to-follow")
    make.make_job(cast.beta, cast.outsider, name="not-for-me")
    page = as_user(cast.viewer).get("/").content.decode()
    assert "to-follow" in page
    assert "not-for-me" not in page
