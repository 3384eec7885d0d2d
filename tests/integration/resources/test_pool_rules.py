"""Pools: whose they are and what for, which jobs they take, how their pods are written, and what they can do."""

import pytest

from jobs.models import DeviceHold, Job
from jobs.reasons import Reason
from jobs.request import JobRequest
from jobs.selectors.reach import load_reach
from jobs.selectors.snapshot import load_snapshot
from jobs.selectors.startable import startable_in
from jobs.selectors.workload import workload_of
from jobs.services.run_cycle import run_cycle
from jobs.services.submit_job import submit_job
from jobs.states import JobState
from portal.lib.errors import Denied, Invalid
from resources.driver_fit import DriverFit, driver_fit
from resources.drivers.base import Toleration
from resources.models import Device, Node, Pool
from resources.selectors.driver_versions import driver_ranges, drivers_by_class, pools_of_known_drivers
from resources.selectors.fleet import nodes_of_pools
from resources.services.change_pool import change_pool
from resources.services.set_pool_rules import set_pool_rules
from tenants.models import AuditEvent
from tenants.services.grant_pool import grant_pool
from tenants.services.set_quota import set_quota
from tests import builders as make
from tests.builders import NOW
from tests.declared import make_runtime

RULES = {"task_types": [], "runtimes": [], "scheduler_name": "", "tolerations": "", "relaxation": ""}


def rule(pool: Pool, **rules) -> None:
    set_pool_rules(actor=None, pool=pool, note="", now=NOW, **rules)


def submit(cast, **fields) -> Job:
    version = make.make_template()
    request = JobRequest(**{"name": "work", "params": {}} | fields)
    return submit_job(actor=cast.member, project=cast.alpha, version=version, request=request, now=NOW)


# --- whose and what for -------------------------------------------------------------------------------


def test_a_pool_says_what_it_is_for_and_whose_it_is(cast, as_user):
    admin = as_user(cast.platform_admin)
    given = {
        "name_en": "Shared", "name_zh": "", "selector": "", "maintainer": "Rosa Adeyemi",
        "purpose": "Training of the models team", "labels": "cost=low\nuse=training", "owner": "models",
    }  # fmt: skip
    admin.save("/pools/shared/edit", **given, reason="Agreed.")
    page = as_user(cast.member).page("/pools/shared")
    assert "Training of the models team" in page and "cost=low" in page and "Models" in page
    event = AuditEvent.objects.get(verb="pool.changed")
    assert (event.before["owner"], event.after["owner"]) == ("", "models")


def test_who_looks_after_a_pool_does_not_give_it_away(cast, as_user):
    page = as_user(cast.pool_admin).page("/pools/shared/edit")
    assert "Vision" not in page  # nor learns which teams there are
    with pytest.raises(Denied):
        change_pool(actor=cast.pool_admin, pool=cast.shared, owner="vision", note="", now=NOW)
    change_pool(actor=cast.pool_admin, pool=cast.shared, purpose="Tests", note="", now=NOW)
    assert Pool.objects.get(key="shared").purpose == "Tests"


@pytest.mark.parametrize(
    "changed", [{"labels": {f"l{n}": "x" for n in range(6)}}, {"owner": "nobody-here"}, {"purpose": "x" * 301}]
)
def test_what_a_pool_cannot_be_is_refused(cast, changed):
    with pytest.raises(Invalid):
        change_pool(actor=None, pool=cast.shared, note="", now=NOW, **changed)


# --- which jobs it takes ------------------------------------------------------------------------------


def test_rules_are_set_in_two_steps_and_name_the_jobs_they_shut_out(cast, as_user):
    submit(cast)
    admin = as_user(cast.pool_admin)
    given = RULES | {"task_types": ["training", "evaluation"]}
    assert "1 job that waits could no longer run here" in admin.preview("/pools/shared/rules", **given)
    admin.save("/pools/shared/rules", **given, reason="For training only.")
    assert Pool.objects.get(key="shared").task_types == ["training", "evaluation"]
    page = as_user(cast.member).page("/pools/shared")
    assert "Training job · Evaluation job" in page and "every runtime" in page
    event = AuditEvent.objects.get(verb="pool.rules_set")
    assert (event.before, event.after) == ({"task_types": []}, {"task_types": ["training", "evaluation"]})


def test_a_job_no_pool_takes_is_refused_with_the_pools_and_the_next_step(cast, as_user):
    rule(cast.shared, task_types=["training"])
    with pytest.raises(Invalid) as refused:
        submit(cast)
    assert refused.value.reason == "PoolRefusesTask"
    assert "Shared" in refused.value.text() and "Ask for a grant of another pool" in refused.value.text()
    with pytest.raises(Invalid) as refused:
        submit(cast, pool="shared")
    assert [field.field for field in refused.value.fields] == ["pool"]
    assert not Job.objects.exists()


def test_a_job_that_waits_when_its_pool_is_shut_to_it_waits_with_that_reason(cast):
    job = submit(cast)
    rule(cast.shared, task_types=["training"])
    run_cycle(now=NOW)
    job.refresh_from_db()
    assert (job.state, job.reason, job.facts["list"]) == (JobState.QUEUED, Reason.POOL_REFUSES, ["shared"])
    rule(cast.shared, task_types=["training", "batch"])
    run_cycle(now=NOW)
    job.refresh_from_db()
    assert job.state == JobState.ADMITTED


def test_of_several_pools_only_those_that_take_it_are_used(cast):
    grant_pool(actor=None, tenant=cast.alpha, pool_key="other", now=NOW, valid_from=make.ago(days=1))
    make.make_node("n2", cast.cluster, cast.other)
    rule(cast.shared, task_types=["training"])
    job = submit(cast)
    assert load_reach().pools_for(job) == ("other",)
    run_cycle(now=NOW)
    assert job.attempts.get().pool_key == "other"


def test_a_pool_takes_jobs_in_the_runtimes_it_names(cast):
    make_runtime("plain", driver_kind="local", kinds=["CPU"])
    make_runtime("proven", driver_kind="local", kinds=["CPU"])
    rule(cast.shared, runtimes=["proven"])
    assert submit(cast, pool="shared").runtime_key == "proven"
    make_runtime("third", driver_kind="local", kinds=["GPU"])
    rule(cast.shared, runtimes=["third"])
    with pytest.raises(Invalid) as refused:
        submit(cast, pool="shared", name="another")
    (field,) = refused.value.fields
    assert (field.field, field.reason) == ("pool", "PoolRefusesRuntime")
    assert "plain" in field.text() and "proven" in field.text()
    with pytest.raises(Invalid) as refused:
        rule(cast.shared, runtimes=["nowhere"])
    assert "nowhere" in refused.value.fields[0].text()


# --- how its pods are written -------------------------------------------------------------------------


def test_an_attempt_keeps_the_rules_it_was_admitted_with(cast):
    rule(
        cast.shared,
        scheduler_name="second",
        tolerations=[{"key": "gpu", "value": "yes", "effect": "NoSchedule"}, {"key": "a", "effect": "NoExecute"}],
        relaxation="image_user",
    )
    job = submit(cast)
    run_cycle(now=NOW)
    rule(cast.shared, scheduler_name="", tolerations=[], relaxation="")
    job.refresh_from_db()
    made = workload_of(job, job.attempts.get())
    assert (made.scheduler_name, made.image_user) == ("second", True)
    assert made.tolerations == (Toleration("gpu", "NoSchedule", "yes"), Toleration("a", "NoExecute"))


def test_a_relaxed_control_is_for_who_sets_policy_and_stands_on_the_job(cast, as_user):
    with pytest.raises(Denied):
        set_pool_rules(actor=cast.pool_admin, pool=cast.shared, relaxation="image_user", note="", now=NOW)
    admin = as_user(cast.platform_admin)
    given = RULES | {"relaxation": "image_user", "tolerations": "gpu=yes:NoSchedule"}
    assert "Pods here no longer run as the portal's own user" in admin.preview("/pools/shared/rules", **given)
    admin.save("/pools/shared/rules", **given, reason="A vendor's image insists.")
    assert "gpu=yes:NoSchedule" in as_user(cast.member).page("/pools/shared")
    job = submit(cast)
    run_cycle(now=NOW)
    page = as_user(cast.member).page(f"/jobs/{job.pk}")
    assert "its pods run as the user their image names, never as root" in page
    assert AuditEvent.objects.get(verb="pool.rules_set").note == "A vendor's image insists."


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"tolerations": "gpu"}, "is no toleration"),
        ({"tolerations": "gpu:Always"}, "is no effect"),
        ({"scheduler_name": "A B"}, "lower-case letters"),
        ({"relaxation": "root"}, "Select a valid choice"),
        ({"task_types": ["gaming"]}, "Select a valid choice"),
    ],
)
def test_what_is_no_rule_is_refused(cast, as_user, changed, said):
    page = as_user(cast.platform_admin).send("/pools/shared/rules", 422, step="preview", **RULES | changed)
    assert said in page


# --- what it can do -----------------------------------------------------------------------------------


@pytest.fixture
def cards(cast):
    """Three nodes of cards: 8, 8 and 4, of which 2 are held, one is sick and the last node takes nothing."""
    card = make.make_class("a80", "GPU")
    nodes = [
        make.make_node(f"g{n}", cast.cluster, cast.other, cards=c, card_class=card) for n, c in enumerate((8, 8, 4))
    ]
    nodes[0].groups.update(driver_version="550.54")
    nodes[1].groups.update(driver_version="535.1")
    sick = Device.objects.filter(group__node=nodes[1]).first()
    Device.objects.filter(pk=sick.pk).update(healthy=False)
    job = make.make_job(cast.alpha, cast.member, state=JobState.RUNNING, lines=[("a80", "device", 2 * make.CARD)])
    held = make.make_allocation(job, nodes[0], [("a80", "device", 2 * make.CARD)], reserved=NOW)
    for device in Device.objects.filter(group__node=nodes[0])[:2]:
        DeviceHold.objects.create(line=held.lines.get(), device=device, parts=make.CARD, exclusive=True)
    return cast, nodes


def largest(cast):
    return startable_in(cast.other, list(nodes_of_pools([cast.other])), NOW)


def test_the_largest_job_is_what_the_scheduler_would_start(cards):
    cast, nodes = cards
    (found,) = largest(cast)
    assert (found.single, found.members, found.each, found.total) == (7, 2, 6, 12)
    nodes[2].stage = "cordoned"
    nodes[2].save()
    nodes[1].stage = "cordoned"
    nodes[1].save()
    (found,) = largest(cast)
    assert (found.single, found.members) == (6, 0)


def test_a_profile_is_told_by_what_is_in_the_pool(cards, as_user, client):
    cast, _nodes = cards
    page = as_user(cast.platform_admin).page("/pools/other")
    panel = page[page.index('data-panel="profile"') :].partition("</section>")[0]
    assert "535.1" in panel and "550.54" in panel
    client.force_login(cast.platform_admin)
    (shown,) = client.get("/api/v1/pools/other/profile").json()["classes"]
    assert (shown["devices"], shown["nodes"], shown["most_on_one"]) == (20, 3, 8)
    assert (shown["largest_single"], shown["largest_members"], shown["largest_each"]) == (7, 2, 6)
    assert shown["drivers"] == ["535.1", "550.54"]


def test_the_map_shows_each_node_once_with_words_and_its_filters(cards, as_user):
    cast, nodes = cards
    nodes[2].stage = "cordoned"
    nodes[2].save()
    admin = as_user(cast.platform_admin)
    page = admin.page("/nodes?view=map&pool=other")
    for node in nodes:
        assert page.count(f'href="/nodes/{node.pk}"') == 1
    assert "g0: A80: 2 of 8 cards held" in page and "g2: A80: 0 of 4 cards held; takes no new jobs" in page
    assert str(cast.node.pk) not in page and "pool=other" in page
    assert f'href="/nodes/{cast.node.pk}"' in admin.page("/nodes?view=map")


def make_cards(node: Node) -> None:
    """Two devices of a class, of whose driver nothing is reported."""
    node.groups.create(
        resource_class=make.make_class("card", "GPU"), resource_name="vendor.example/card", kind="GPU",
        capacity_parts=2 * make.CARD, allocatable_parts=2 * make.CARD,
    )  # fmt: skip


# --- borrowing, and drivers nobody knows -----------------------------------------------------------------


def test_a_pool_lends_only_once_somebody_says_so_and_whom_it_concerns_is_shown(cast, as_user):
    assert Pool.objects.get(key="shared").borrowing is False
    for project, ceiling in ((cast.alpha, 16_000), (cast.beta, 8_000)):
        set_quota(
            actor=None, tenant=project, pool_key="shared", class_key="cpu", resource="cpu", guarantee=None,
            nominal=8_000, ceiling=ceiling, now=NOW,
        )  # fmt: skip
    admin = as_user(cast.pool_admin)
    page = admin.preview("/pools/shared/rules", **RULES, borrowing="on")
    assert "1 quota here lets its owner hold more than its nominal quota while others leave it idle." in page
    admin.save("/pools/shared/rules", **RULES, borrowing="on", reason="Agreed by both.")
    assert {pool.key: pool.borrowing for pool in load_snapshot(now=NOW).pools}["shared"] is True
    event = AuditEvent.objects.get(verb="pool.rules_set")
    assert (event.before, event.after, event.note) == ({"borrowing": False}, {"borrowing": True}, "Agreed by both.")
    assert "on: what others leave idle may be held" in admin.page("/pools/shared")
    page = admin.preview("/pools/shared/rules", **RULES)
    assert "1 quota here is bound to its nominal quota from now on." in page
    with pytest.raises(Denied):
        set_pool_rules(actor=cast.owner, pool=cast.shared, note="", now=NOW, borrowing=False)


def test_unknown_drivers_are_warned_of_or_refused_by_rule(cast, as_user):
    make_cards(cast.node)
    api = as_user(cast.pool_admin).client
    path = "/api/v1/pools/shared/rules"
    said = api.post(f"{path}/preview", {"known_driver_only": True}, content_type="application/json").json()
    assert [(one["name"], one["old"], one["new"]) for one in said["changes"]] == [("known_driver_only", "no", "yes")]
    assert any("1 node with devices reports no driver" in effect["text"] for effect in said["effects"])
    assert pools_of_known_drivers() == frozenset()
    body = {"known_driver_only": True, "reason": "Runs must be repeatable."}
    assert api.patch(path, body, content_type="application/json").json()["known_driver_only"] is True
    assert pools_of_known_drivers() == {"shared"}
    assert api.patch(path, {"borrowing": "yes", "reason": "x"}, content_type="application/json").status_code == 422


def test_the_facts_that_the_scheduler_needs_of_drivers(cast):
    make_cards(cast.node)
    make_runtime("bounded", driver_range=">=535,<560")
    make_runtime("free")
    (node,) = nodes_of_pools([cast.shared])
    assert drivers_by_class(node) == {"card": ("",)}
    cast.node.groups.update(driver_version="550.54.15")
    (node,) = nodes_of_pools([cast.shared])
    assert drivers_by_class(node) == {"card": ("550.54.15",)}
    assert driver_ranges() == {"bounded": ">=535, <560"}
    fit = driver_fit(drivers_by_class(node)["card"], driver_ranges()["bounded"])
    assert fit is DriverFit.WITHIN


def test_the_profile_tells_how_cards_are_shared(cast, as_user):
    make_cards(cast.node)
    cast.node.groups.update(sharing="mps", unit="slot")
    page = as_user(cast.member).page("/pools/shared")
    assert "shared by MPS" in page and "2 slots" in page
    (shown,) = as_user(cast.member).client.get("/api/v1/pools/shared/profile").json()["classes"]
    assert shown["sharing"] == [{"sharing": "mps", "unit": "slot", "slots": 2, "nodes": 1}]
