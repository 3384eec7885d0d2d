"""Pools: what a selector would take is said before it does, and what still uses a pool keeps it."""

from datetime import timedelta

import pytest

from jobs.states import JobState
from portal.lib.errors import Conflict, Denied, Invalid
from resources.models import Cluster, Node, Pool
from resources.services.change_pool import change_pool
from resources.services.create_pool import create_pool
from resources.services.delete_pool import delete_pool
from tenants.models import AuditEvent
from tenants.services.set_quota import set_quota
from tests import builders as make
from tests.builders import NOW

NEW = {"key": "east", "name_en": "East", "name_zh": "东区", "selector": "zone=east", "maintainer": "Rosa Adeyemi"}


@pytest.fixture
def zones(cast):
    """Two free nodes in the east, one of them on a detached cluster, and one of the shared pool."""
    make.make_node("hall-a", cast.cluster, labels={"zone": "east"})
    make.make_node("hall-b", cast.cluster, cast.shared, labels={"zone": "east"})
    gone = make.make_cluster("gone")
    Cluster.objects.filter(pk=gone.pk).update(state=Cluster.State.DETACHED)
    make.make_node("hall-gone", gone, labels={"zone": "east"})
    return cast


def members(key: str) -> list[str]:
    return sorted(Node.objects.filter(pool__key=key).values_list("name", flat=True))


def nobody(_place) -> int:
    return 0


def test_a_new_pool_takes_what_its_preview_said(zones, as_user):
    admin = as_user(zones.platform_admin)
    page = admin.preview("/pools/new", **NEW)
    assert "2 nodes join: hall-a, hall-b (shared)." in page
    assert "hall-gone" not in page
    assert not Pool.objects.filter(key="east").exists()
    admin.save("/pools/new", **NEW, reason="The new hall.")
    pool = Pool.objects.get(key="east")
    assert (pool.name, pool.selector) == ({"en": "East", "zh-hans": "东区"}, {"zone": "east"})
    assert members("east") == ["hall-a", "hall-b"]
    event = AuditEvent.objects.get(verb="pool.created", target_id=str(pool.pk))
    assert (event.note, event.actor_id, event.after["selector"]) == (
        "The new hall.",
        zones.platform_admin.pk,
        {"zone": "east"},
    )


def test_a_taken_key_is_said_beside_its_field(cast, as_user):
    page = as_user(cast.platform_admin).save("/pools/new", 422, **NEW | {"key": "shared"})
    assert "shared is taken" in page
    assert Pool.objects.count() == 2


@pytest.mark.parametrize("key", ["new", "Upper", "a b", "", "é"])
def test_a_key_that_cannot_be_in_an_address_is_refused(cast, as_user, key):
    as_user(cast.platform_admin).send("/pools/new", 422, step="preview", **NEW | {"key": key})


@pytest.mark.parametrize("selector", ["zone", "=east", "zone=", "zone=a\nzone=b", "zone=\u202eeast"])
def test_a_selector_that_is_none_is_refused(cast, as_user, selector):
    as_user(cast.platform_admin).send("/pools/new", 422, step="preview", **NEW | {"selector": selector})


def test_nodes_that_leave_are_named_and_their_jobs_stay(zones, as_user):
    change_pool(actor=None, pool=zones.shared, selector={"zone": "east"}, note="", now=NOW)
    assert members("shared") == ["hall-a", "hall-b"]
    node = Node.objects.get(name="hall-a")
    job = make.make_job(zones.alpha, zones.member, state=JobState.RUNNING)
    make.make_allocation(job, node, reserved=NOW, bound=NOW, started=NOW)
    admin = as_user(zones.platform_admin)
    given = {"name_en": "Shared", "name_zh": "", "selector": "zone=west", "maintainer": ""}
    page = admin.preview("/pools/shared/edit", **given)
    assert "2 nodes leave: hall-a, hall-b." in page
    assert "1 job holds something on them; it stays where it is and goes on." in page
    admin.save("/pools/shared/edit", **given)
    assert members("shared") == []
    event = AuditEvent.objects.filter(verb="pool.changed").first()
    assert (event.before["selector"], event.after["selector"]) == ({"zone": "east"}, {"zone": "west"})


def test_an_unchanged_form_changes_nothing(cast, as_user):
    given = {"name_en": "Shared", "name_zh": "", "selector": "", "maintainer": "Rosa Adeyemi"}
    assert "Nothing has changed" in as_user(cast.platform_admin).preview("/pools/shared/edit", **given)
    assert not AuditEvent.objects.filter(verb="pool.changed").exists()


def test_a_form_that_was_overtaken_is_refused(cast, as_user):
    admin = as_user(cast.platform_admin)
    given = {"name_en": "Ours", "name_zh": "", "selector": "", "maintainer": "Rosa Adeyemi"}
    digest = admin.preview("/pools/shared/edit", **given).split('name="digest" value="')[1].split('"')[0]
    Pool.objects.filter(key="shared").update(maintainer="Somebody else")
    page = admin.send("/pools/shared/edit", 409, step="save", digest=digest, reason="Mine.", **given)
    assert "Changed meanwhile" in page
    assert Pool.objects.get(key="shared").name == {"en": "Shared"}


def test_who_looks_after_a_pool_takes_only_nodes_of_pools_they_look_after(zones, as_user):
    pooler = as_user(zones.pool_admin)
    given = {"name_en": "Shared", "name_zh": "", "selector": "zone=east", "maintainer": ""}
    page = pooler.preview("/pools/shared/edit", **given)
    assert "1 node it would take is not in a pool you look after" in page
    assert "hall-a" not in page
    with pytest.raises(Denied):
        change_pool(actor=zones.pool_admin, pool=zones.shared, selector={"zone": "east"}, note="", now=NOW)
    Node.objects.filter(name="hall-a").update(pool=zones.shared)
    change_pool(actor=zones.pool_admin, pool=zones.shared, selector={"zone": "east"}, note="", now=NOW)
    assert members("shared") == ["hall-a", "hall-b"]


def test_a_pool_in_use_says_what_uses_it(cast, as_user):
    cell = {"guarantee": None, "nominal": 1_000, "ceiling": None}
    set_quota(actor=None, tenant=cast.alpha, pool_key="shared", class_key="cpu", resource="cpu", now=NOW, **cell)
    job = make.make_job(cast.alpha, cast.member, state=JobState.RUNNING)
    make.make_allocation(job, cast.node, reserved=NOW, bound=NOW, started=NOW)
    page = as_user(cast.platform_admin).page("/pools/shared/delete")
    for said in ("1 nodes belong", "1 grants", "1 quota cells", "1 roles", "1 jobs hold"):
        assert said in page
    assert 'value="save"' not in page
    with pytest.raises(Conflict) as refused:
        delete_pool(actor=cast.platform_admin, pool=cast.shared, note="", now=NOW, jobs_in=lambda _pool: 1)
    assert refused.value.facts == {"pool": "shared", "nodes": 1, "grants": 1, "cells": 1, "members": 1, "jobs": 1}
    assert Pool.objects.filter(key="shared").exists()


def test_a_pool_nobody_uses_is_deleted_and_leaves_its_record(cast, as_user):
    admin = as_user(cast.platform_admin)
    admin.save("/pools/other/delete", reason="Never used.")
    assert not Pool.objects.filter(key="other").exists()
    event = AuditEvent.objects.get(verb="pool.deleted")
    assert (event.target_name, event.note, event.before["selector"]) == ("other", "Never used.", {})
    admin.page("/pools/other/delete", 404)


def test_the_installation_gets_the_pool_that_is_there(cast):
    names = {"en": "Again"}
    assert create_pool(actor=None, key="shared", name=names, selector={}, now=NOW) == cast.shared
    with pytest.raises(Invalid):
        create_pool(actor=cast.platform_admin, key="shared", name=names, selector={}, now=NOW)
    assert Pool.objects.get(key="shared").name == {"en": "Shared"}


def test_an_ended_grant_does_not_keep_a_pool(cast):
    from tenants.services.grant_pool import grant_pool

    hour = timedelta(hours=1)
    grant_pool(actor=None, tenant=cast.beta, pool_key="other", now=NOW, valid_from=NOW - 2 * hour, valid_to=NOW - hour)
    delete_pool(actor=None, pool=cast.other, note="", now=NOW, jobs_in=nobody)
    assert not Pool.objects.filter(key="other").exists()
