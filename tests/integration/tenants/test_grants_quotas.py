"""Grants and quotas with their previews: what is used, what all sum up to, and over-commit only on purpose."""

from datetime import timedelta

import pytest

from portal.lib.errors import Conflict, Denied, Invalid
from tenants.models import AuditEvent, Grant, QuotaCell
from tenants.services.change_grant import change_grant
from tenants.services.end_grant import end_grant
from tenants.services.grant_pool import grant_pool
from tenants.services.set_quota import set_quota
from tests import builders as make
from tests.builders import NOW, ago
from tests.integration.tenants.steps import change, preview, save

CPU = {"pool_key": "shared", "class_key": "cpu", "resource": "cpu"}
FORM = {"pool_key": "shared", "class_axis": "cpu:cpu"}


def said(page) -> str:
    return " | ".join(effect.text for effect in page.context["preview"].effects)


def last(verb: str) -> AuditEvent:
    return AuditEvent.objects.filter(verb=verb).order_by("-seq").first()


def test_a_pool_is_granted_with_its_bounds_and_a_reason(cast, as_user):
    answer = change(
        as_user(cast.platform_admin), "/teams/vision/grants/new", pool_key="other", valid_from="2026-12-01T08:00",
        valid_to="2027-01-01T08:00", class_ceiling="standard", largest_job_parts="0.5", longest_limit_ms="8h",
        most_at_once="0", reason="Winter round",
    )  # fmt: skip
    assert answer["Location"] == "/teams/vision"
    grant = Grant.objects.get(team=cast.vision)
    assert (grant.largest_job_parts, grant.longest_limit_ms, grant.most_at_once) == (21_000, 28_800_000, 0)
    assert (grant.class_ceiling, grant.valid_to - grant.valid_from) == ("standard", timedelta(days=31))
    assert last("pool.granted").note == "Winter round"


def test_the_preview_says_whom_a_grant_reaches(cast, as_user):
    page = preview(as_user(cast.platform_admin), "/teams/models/grants/new", pool_key="other", valid_from="2027-01-01")
    assert "1 project below may use the pool" in said(page) and "It has not begun" in said(page)
    assert "without end" in said(page)


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"valid_from": "2026-12-01", "valid_to": "2026-11-01"}, "valid_to"),
        ({"valid_from": "2026-12-01", "pool_key": "nowhere"}, "pool_key"),
        ({"valid_from": "9999-12-31"}, "valid_from"),
        ({"valid_from": "2026-12-01", "largest_job_parts": "-1"}, "largest_job_parts"),
        ({"valid_from": "2026-12-01", "longest_limit_ms": "soon"}, "longest_limit_ms"),
        ({"valid_from": "2026-12-01", "most_at_once": "1.5"}, "most_at_once"),
        ({"valid_from": "2026-12-01", "class_ceiling": "best"}, "class_ceiling"),
    ],
)
def test_what_makes_no_grant_is_refused_beside_its_field(cast, as_user, values, field):
    values = {"pool_key": "other"} | values
    answer = change(as_user(cast.platform_admin), "/teams/vision/grants/new", **values)
    assert answer.status_code == 422 and f'id="id_{field}_error"' in answer.content.decode()
    assert not Grant.objects.filter(team=cast.vision).exists()


def test_an_overlap_is_refused_in_words(cast, as_user):
    path = "/projects/alpha/grants/new"
    answer = change(as_user(cast.platform_admin), path, pool_key="shared", valid_from="2027-01-01T00:00")
    assert answer.status_code == 422 and "Another grant of pool shared holds for Alpha" in answer.content.decode()
    with pytest.raises(Invalid):
        grant_pool(actor=None, tenant=cast.alpha, pool_key="shared", valid_from=NOW, now=NOW)


def test_a_grant_is_changed_and_what_was_not_touched_keeps_its_seconds(cast, as_user):
    grant = Grant.objects.get(project=cast.alpha)
    begun = ago(days=3, seconds=17)
    Grant.objects.filter(pk=grant.pk).update(valid_from=begun)
    page = as_user(cast.platform_admin).get(f"/grants/{grant.pk}")
    local = page.context["form"]["valid_from"].as_widget()
    value = local.partition('value="')[2].partition('"')[0]
    answer = change(as_user(cast.platform_admin), f"/grants/{grant.pk}", valid_from=value, most_at_once="3")
    assert answer.status_code == 302
    grant.refresh_from_db()
    assert (grant.valid_from, grant.most_at_once) == (begun, 3)
    record = last("grant.changed")
    assert record.before == {"pool": "shared", "most_at_once": None} and record.after["most_at_once"] == 3


def test_a_grant_ends_at_once_and_what_runs_goes_on(cast, as_user):
    job = make.make_job(cast.alpha, cast.member, state="RUNNING")
    make.make_allocation(job, cast.node, reserved=NOW, bound=NOW, started=NOW)
    grant = Grant.objects.get(project=cast.alpha)
    page = as_user(cast.platform_admin).get(f"/grants/{grant.pk}/end")
    assert "1 job runs in the pool now: it goes on" in page.content.decode()
    assert save(as_user(cast.platform_admin), f"/grants/{grant.pk}/end", page).status_code == 302
    grant.refresh_from_db()
    assert grant.valid_to == NOW
    with pytest.raises(Conflict):
        end_grant(actor=None, grant=grant, now=NOW)


def test_a_grant_that_has_not_begun_is_withdrawn(cast):
    grant = grant_pool(actor=None, tenant=cast.beta, pool_key="other", valid_from=NOW + timedelta(days=1), now=NOW)
    end_grant(actor=None, grant=grant, now=NOW)
    assert not Grant.objects.filter(pk=grant.pk).exists() and last("grant.ended").before["pool"] == "other"


@pytest.mark.parametrize("role", ["lead", "owner", "manager", "auditor"])
def test_only_the_platform_changes_grants_and_quotas(cast, as_user, role):
    grant = Grant.objects.get(project=cast.alpha)
    assert as_user(cast.person(role)).get(f"/grants/{grant.pk}").status_code == 403
    assert as_user(cast.person(role)).get("/projects/alpha/quotas/new").status_code == 403
    with pytest.raises(Denied):
        end_grant(actor=cast.person(role), grant=grant, now=NOW)
    with pytest.raises(Denied):
        set_quota(actor=cast.person(role), tenant=cast.alpha, **CPU, guarantee=0, nominal=0, ceiling=0, now=NOW)


def test_a_quota_is_set_in_base_units_and_empty_is_no_rule(cast, as_user):
    values = {"guarantee": "500m", "nominal": "2", "ceiling": "", "reason": "Their share"}
    assert change(as_user(cast.platform_admin), "/projects/alpha/quotas/new", **FORM, **values).status_code == 302
    cell = QuotaCell.objects.get(project=cast.alpha)
    assert (cell.guarantee, cell.nominal, cell.ceiling) == (500, 2_000, None)
    assert last("quota.set").note == "Their share"


def test_memory_and_cards_are_read_by_their_class(cast, as_user):
    make.make_class("card", "GPU")
    client = as_user(cast.platform_admin)
    memory = {"pool_key": "shared", "class_axis": "memory:memory", "nominal": "4Gi"}
    cards = {"pool_key": "shared", "class_axis": "card:device", "nominal": "1.5"}
    for values in (memory, cards):
        assert change(client, "/projects/alpha/quotas/new", **values).status_code == 302
    assert dict(QuotaCell.objects.values_list("class_key", "nominal")) == {"memory": 4 * make.GIB, "card": 63_000}


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"guarantee": "lots"}, "guarantee"),
        ({"nominal": "-1"}, "nominal"),
        ({"ceiling": "1e9"}, "ceiling"),
        ({"class_axis": "cpu:device"}, "class_axis"),
        ({"pool_key": "nowhere"}, "pool_key"),
    ],
)
def test_amounts_that_are_none_are_refused_beside_their_field(cast, as_user, values, field):
    answer = change(as_user(cast.platform_admin), "/projects/alpha/quotas/new", **(FORM | values))
    assert answer.status_code == 422 and f'id="id_{field}_error"' in answer.content.decode()
    assert not QuotaCell.objects.exists()


def test_limits_out_of_order_are_refused(cast, as_user):
    values = {"guarantee": "4", "nominal": "2"}
    answer = change(as_user(cast.platform_admin), "/projects/alpha/quotas/new", **FORM, **values)
    assert answer.status_code == 422 and "must rise in this order" in answer.content.decode()


def test_over_commit_needs_the_flag_and_the_numbers_are_said(cast, as_user):
    set_quota(actor=None, tenant=cast.beta, **CPU, guarantee=6_000, nominal=6_000, ceiling=None, now=NOW)
    client, path = as_user(cast.platform_admin), "/projects/alpha/quotas/new"
    values = {**FORM, "guarantee": "4", "nominal": "4"}
    page = preview(client, path, **values)
    assert "Over-commit: guarantees sum up to 10 cores, the pool has 8 cores." in said(page)
    answer = save(client, path, page)
    assert answer.status_code == 422 and 'id="id_overcommit_error"' in answer.content.decode()
    assert change(client, path, **values, overcommit="on", reason="They never run at once").status_code == 302


def test_a_guarantee_set_meanwhile_makes_the_preview_stale(cast, as_user):
    client, path = as_user(cast.platform_admin), "/projects/alpha/quotas/new"
    page = preview(client, path, **FORM, guarantee="4", nominal="4")
    set_quota(actor=None, tenant=cast.beta, **CPU, guarantee=6_000, nominal=6_000, ceiling=None, now=NOW)
    answer = save(client, path, page)
    assert answer.status_code == 409 and "Over-commit" in said(answer)
    assert not QuotaCell.objects.filter(project=cast.alpha).exists()


def test_children_beside_their_parent_are_summed(cast, as_user):
    set_quota(actor=None, tenant=cast.models, **CPU, guarantee=1_000, nominal=4_000, ceiling=None, now=NOW)
    page = preview(as_user(cast.platform_admin), "/projects/alpha/quotas/new", **FORM, guarantee="3", nominal="3")
    assert "Guarantees directly below Models sum up to 3 cores of 1 core." in said(page)


def test_lowering_below_what_is_used_says_that_nothing_is_stopped(cast, as_user):
    job = make.make_job(cast.alpha, cast.member, state="RUNNING")
    make.make_allocation(job, cast.node, [("cpu", "cpu", 3_000)], reserved=NOW, bound=NOW, started=NOW)
    cell = make.set_cell(cast.alpha, "shared", "cpu", "cpu", nominal=4_000, ceiling=None)
    page = preview(as_user(cast.platform_admin), f"/quotas/{cell.pk}", guarantee="", nominal="2", ceiling="")
    text = said(page)
    assert "Used now: 3 cores" in text and "1 core more than 2 cores" in text and "nothing is stopped" in text
    changes = [(c.old, c.new) for c in page.context["preview"].changes]
    assert changes == [("4 cores", "2 cores")]


def test_a_quota_is_deleted_with_a_reason(cast, as_user):
    cell = make.set_cell(cast.alpha, "shared", "cpu", "cpu", nominal=4_000, ceiling=None)
    answer = change(as_user(cast.platform_admin), f"/quotas/{cell.pk}/delete", reason="No longer needed")
    assert answer["Location"] == "/projects/alpha" and not QuotaCell.objects.exists()
    assert last("quota.deleted").before["nominal"] == 4_000


def test_a_quota_that_is_there_is_not_overwritten_by_a_new_one(cast, as_user):
    make.set_cell(cast.alpha, "shared", "cpu", "cpu", nominal=4_000, ceiling=None)
    page = preview(as_user(cast.platform_admin), "/projects/alpha/quotas/new", **FORM, nominal="1")
    assert "There is a quota for this already" in page.content.decode() and b'value="save"' not in page.content


def test_unchanged_bounds_leave_no_record(cast):
    grant = Grant.objects.get(project=cast.alpha)
    change_grant(
        actor=None, grant=grant, valid_from=grant.valid_from, valid_to=None, class_ceiling="", largest_job_parts=None,
        longest_limit_ms=None, most_at_once=None, now=NOW,
    )  # fmt: skip
    assert last("grant.changed") is None


def test_the_pages_of_team_and_project_lead_to_the_forms(cast, as_user):
    cell = make.set_cell(cast.alpha, "shared", "cpu", "cpu", nominal=4_000, ceiling=None)
    page = as_user(cast.platform_admin).get("/projects/alpha").content.decode()
    grant = Grant.objects.get(project=cast.alpha)
    for path in ("/projects/alpha/grants/new", "/projects/alpha/quotas/new", f"/grants/{grant.pk}/end"):
        assert f'href="{path}"' in page
    assert f'href="/quotas/{cell.pk}"' in page
    assert "/grants/new" not in as_user(cast.lead).get("/projects/alpha").content.decode()


@pytest.mark.parametrize(
    ("pool", "axis", "why"),
    [
        ("other", "cpu:cpu", "No node of pool Other has CPU. Choose another class or pool. It has no node."),
        (
            "shared",
            "gpu-a:device",
            "No node of pool Shared has GPU-A. Choose another class or pool. It has: CPU, MEMORY.",
        ),
    ],
)
def test_a_quota_of_a_class_that_is_not_in_the_pool_says_so_loudly(cast, as_user, pool, axis, why):
    make.make_class("gpu-a", "GPU")
    page = preview(
        as_user(cast.platform_admin), "/projects/alpha/quotas/new", pool_key=pool, class_axis=axis, nominal="1"
    )
    found = [effect for effect in page.context["preview"].effects if effect.tone == "bad"]
    assert [effect.text for effect in found] == [f"No job can use this quota today. {why}"]


def test_a_cell_of_a_class_or_pool_that_is_gone_says_which(cast, as_user):
    client = as_user(cast.platform_admin)
    gone = make.set_cell(cast.alpha, "shared", "no-class", "cpu", nominal=1_000, ceiling=None)
    page = preview(client, f"/quotas/{gone.pk}", nominal="2")
    assert "Resource class no-class does not exist." in said(page)
    lost = make.set_cell(cast.alpha, "no-pool", "cpu", "cpu", nominal=1_000, ceiling=None)
    assert "Pool no-pool does not exist." in said(preview(client, f"/quotas/{lost.pk}", nominal="2"))
    assert "Pool no-pool does not exist." in said(client.get(f"/quotas/{lost.pk}/delete"))


def test_a_grant_says_what_of_it_means_nothing_in_its_pool(cast, as_user):
    client, path = as_user(cast.platform_admin), "/teams/vision/grants/new"
    empty = preview(client, path, pool_key="other", valid_from="2027-01-01")
    assert "No node is in this pool: no job can start by the grant today." in said(empty)
    cards = preview(client, path, pool_key="shared", valid_from="2027-01-01", largest_job_parts="2")
    assert "This pool has no cards: a largest job in cards bounds nothing here." in said(cards)
    assert "bounds nothing" not in said(preview(client, path, pool_key="shared", valid_from="2027-01-01"))
