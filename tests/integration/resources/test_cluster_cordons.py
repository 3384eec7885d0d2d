"""A cordon "also on the cluster": asked first, done by a pass, never fought over, and only what was ours is lifted."""

from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest

from portal.lib.errors import Conflict, Denied, Invalid
from resources.drivers.base import DriverUnavailable, Inventory
from resources.drivers.steward import CordonSeen
from resources.models import Cluster, ClusterCordon, ClusterCredential, Node
from resources.services import settle_cordons as service
from resources.services.hold_node import hold_node
from resources.services.settle_cordons import settle_cordons
from resources.services.store_inventory import store_inventory
from tenants.models import AuditEvent
from tests import builders as make
from tests.builders import NOW
from tests.integration.resources.test_node_changes import SEEN, nobody

LATER = NOW + timedelta(seconds=15)


@dataclass
class OneNode:
    """A cluster of one node, as a steward finds it; `lost` answers never arrive, though what was asked is done."""

    seen: CordonSeen = field(default_factory=lambda: CordonSeen(cordoned=False, mark="", by_us=None))
    lost: int = 0
    refuses: str = ""
    writes: int = 0

    def look(self, node: str) -> CordonSeen | None:
        if self.refuses:
            raise DriverUnavailable("no", reason=self.refuses)
        return self.seen if node == "n1" else None

    def write(self, node: str, seen: CordonSeen, *, cordoned: bool, mark: str) -> bool:
        if seen != self.seen:
            return False
        self.writes += 1
        by_us = seen.by_us if cordoned == seen.cordoned else True if cordoned else None
        self.seen = CordonSeen(cordoned=cordoned, mark=mark, by_us=by_us)
        if self.lost:
            self.lost -= 1
            raise DriverUnavailable("the answer is lost", reason="Unreachable")
        return True

    def by_others(self, *, cordoned: bool) -> None:
        """As `kubectl cordon` and `uncordon` do it: the mark stays."""
        self.seen = replace(self.seen, cordoned=cordoned, by_us=False if cordoned else None)


@pytest.fixture
def site(cast) -> Cluster:
    """A Kubernetes cluster that gave a steward's token; its node n1 is in the shared pool."""
    cluster = make.make_kubernetes("far", steward="the-stewards-token-of-far")
    make.make_node("n1", cluster, cast.shared)
    return cluster


@pytest.fixture
def there(site, monkeypatch) -> OneNode:
    """The cluster itself."""
    world = OneNode()
    monkeypatch.setattr(service, "steward_for", lambda _cluster: world)
    return world


def node_of(site: Cluster) -> Node:
    return Node.objects.select_related("cluster", "pool").get(cluster=site)


def hold(site: Cluster, stage: str = "cordoned", *, actor=None, on_cluster: bool | None = True) -> None:
    hold_node(actor=actor, node=node_of(site), stage=stage, on_cluster=on_cluster, note="Fan.", now=NOW, jobs_on=nobody)


def settle(site: Cluster, now=NOW) -> int:
    return settle_cordons(cluster=site, now=now)


def inventory(site: Cluster, there: OneNode, at=LATER) -> None:
    """What a pass over the cluster reads."""
    seen = replace(
        SEEN,
        schedulable=not there.seen.cordoned,
        reason="Cordoned" if there.seen.cordoned else "",
        cluster_cordoned=there.seen.cordoned,
        cluster_cordon_mark=there.seen.mark,
    )
    store_inventory(cluster=site, inventory=Inventory((seen,), at, True))


def state(site: Cluster) -> str:
    row = ClusterCordon.objects.filter(node__cluster=site).first()
    return "" if row is None else f"{row.state} {row.outcome}".strip()


def test_what_is_asked_is_stored_first_and_done_by_a_pass_and_undone(cast, site, there):
    hold(site)
    assert (state(site), there.writes) == ("asked", 0)
    assert (settle(site), settle(site)) == (1, 0)
    mark = str(ClusterCordon.objects.get().pk)
    assert (state(site), there.seen, there.writes) == ("set", CordonSeen(True, mark, True), 1)
    inventory(site, there)
    settle(site, LATER)
    assert state(site) == "set" and node_of(site).stage == "cordoned"
    hold(site, "", on_cluster=None)
    assert state(site) == "lifting" and node_of(site).stage == "cordoned", "until its cluster has opened it"
    assert settle(site, LATER) == 1
    assert (state(site), there.seen.cordoned, there.seen.mark) == ("closed lifted", False, "")
    inventory(site, there, LATER + timedelta(seconds=15))
    assert node_of(site).stage == "schedulable"
    said = AuditEvent.objects.filter(verb__startswith="node.cluster_cordon").order_by("seq")
    assert [(e.verb.rpartition("_")[2], e.before["cluster_cordon"], e.after["cluster_cordon"]) for e in said] == [
        ("asked", "", "asked"),
        ("settled", "asked", "set"),
        ("asked", "set", "lifting"),
        ("settled", "lifting", "lifted"),
    ]
    assert {e.note for e in said} == {"Fan."}


def test_an_answer_that_was_lost_is_found_out_by_looking(site, there):
    there.lost = 1
    hold(site)
    assert settle(site) == 0
    assert state(site) == "asked" and ClusterCordon.objects.get().error == "Unreachable"
    assert settle(site) == 1 and (state(site), there.writes) == ("set", 1)
    assert ClusterCordon.objects.get().error == ""


def test_a_cordon_of_others_is_theirs_and_stays(site, there, cast, as_user):
    there.by_others(cordoned=True)
    inventory(site, there)
    page = as_user(cast.platform_admin).page(f"/nodes/{node_of(site).pk}")
    assert "cordoned by others" in page and "Somebody closed it on the cluster itself." in page
    hold(site)
    settle(site, LATER)
    assert state(site) == "theirs" and there.writes == 0
    hold(site, "", on_cluster=None)
    settle(site, LATER)
    assert (state(site), there.writes, there.seen.cordoned) == ("closed not_ours", 0, True)


def test_what_others_lift_is_shown_and_not_set_again(site, there, cast, as_user):
    hold(site)
    settle(site)
    there.by_others(cordoned=False)
    inventory(site, there)
    assert settle(site, LATER) == 1
    for _pass in range(3):
        assert settle(site, LATER) == 0
    assert (state(site), there.seen.cordoned, there.writes) == ("drifted", False, 1)
    assert "lifted by others" in as_user(cast.platform_admin).page(f"/nodes/{node_of(site).pk}")
    there.by_others(cordoned=True)  # and closed again, for reasons of their own
    hold(site, "", on_cluster=None)
    settle(site, LATER)
    assert state(site) == "closed not_ours" and there.seen == CordonSeen(True, "", False), "only the mark is taken off"


def test_a_drifted_one_may_be_asked_for_anew(site, there):
    hold(site)
    settle(site)
    there.by_others(cordoned=False)
    inventory(site, there)
    settle(site, LATER)
    hold(site)
    settle(site, LATER)
    assert [f"{r.state} {r.outcome}".strip() for r in ClusterCordon.objects.order_by("outcome")] == [
        "set", "closed renewed",
    ]  # fmt: skip
    assert there.seen.cordoned and there.writes == 2


def test_an_inventory_from_before_the_cordon_does_not_read_as_its_end(site, there):
    inventory(site, there, LATER)  # its clock is ahead of the pass that sets the cordon
    hold(site)
    settle(site, NOW)
    assert settle(site, NOW) == 0 and state(site) == "set"


def test_a_wish_that_changes_while_the_cluster_is_told_is_the_one_that_counts(site, there, monkeypatch):
    hold(site)
    written = there.write

    def write(node, seen, **more):
        monkeypatch.setattr(there, "write", written)
        hold(site, "", on_cluster=None)
        return written(node, seen, **more)

    monkeypatch.setattr(there, "write", write)
    assert settle(site) == 0 and state(site) == "lifting"
    assert settle(site) == 1 and (state(site), there.seen.cordoned) == ("closed lifted", False)


@pytest.mark.parametrize(
    ("change", "cause", "words"),
    [
        (lambda site: ClusterCredential.objects.filter(right="steward").delete(), "StewardMissing", "no steward's"),
        (
            lambda site: ClusterCredential.objects.filter(right="steward").update(answers={"patch /nodes": False}),
            "StewardMayNot",
            "may not change nodes",
        ),
        (lambda site: Cluster.objects.filter(pk=site.pk).update(state="detached"), "ClusterDetached", "detached"),
    ],
)
def test_without_the_role_it_is_off_and_named(site, there, cast, as_user, change, cause, words):
    hold(site)
    settle(site)
    hold(site, on_cluster=False)
    change(site)
    with pytest.raises(Conflict) as refused:
        hold(site)
    assert (refused.value.reason, refused.value.facts["cause"]) == ("ClusterCordonOff", cause)
    page = as_user(cast.platform_admin).page(f"/nodes/{node_of(site).pk}/drain")
    assert words in page and "disabled" in page
    assert words in as_user(cast.platform_admin).page(f"/nodes/{node_of(site).pk}")


def test_a_lift_waits_for_its_credential(site, there, monkeypatch, cast, as_user):
    hold(site)
    settle(site)
    monkeypatch.undo()
    ClusterCredential.objects.filter(right="steward").delete()
    hold(site, "", on_cluster=None)
    assert settle(site) == 0
    assert (state(site), ClusterCordon.objects.get().error) == ("lifting", "StewardMissing")


def test_the_page_shows_who_is_affected_and_saves_with_a_reason(site, there, cast, as_user):
    node = node_of(site)
    Node.objects.filter(pk=node.pk).update(foreign={"pods": 3})
    admin, path = as_user(cast.platform_admin), f"/nodes/{node.pk}/cordon"
    page = admin.preview(path, on_cluster="on")
    assert "Also on the cluster" in page and "3 pods of others run there and stay." in page
    admin.save(path, on_cluster="on", reason="Fan is loud.")
    row = ClusterCordon.objects.get()
    assert (row.state, row.asked_by, row.note) == ("asked", "Admin", "Fan is loud.")
    assert node_of(site).held_stage == "cordoned"
    settle(site)
    assert f'href="{path}"' in admin.page(f"/nodes/{node.pk}"), "a way to change it while the node stays closed"
    # unticked, it is lifted there and stays the portal's
    page = admin.preview(path)
    assert "The portal's cordon on its cluster is lifted as well." in page
    admin.save(path)
    assert state(site) == "lifting" and node_of(site).held_stage == "cordoned"


def test_who_looks_after_a_pool_closes_it_for_the_portal_only(site, there, cast, as_user):
    node, admin = node_of(site), as_user(cast.pool_admin)
    page = admin.page(f"/nodes/{node.pk}/cordon")
    assert "a platform administrator may ask for it" in page and "disabled" in page
    admin.save(f"/nodes/{node.pk}/drain", on_cluster="on")
    assert (state(site), node_of(site).held_stage) == ("", "draining"), "what cannot be ticked is not taken"
    with pytest.raises(Denied):
        hold(site, actor=cast.pool_admin)
    hold(site)
    with pytest.raises(Denied):
        hold(site, "", actor=cast.pool_admin, on_cluster=None)
    page = admin.page(f"/nodes/{node.pk}/return")
    assert "a platform administrator brings it back" in page and 'value="save"' not in page


def test_a_retired_node_is_not_closed_there(site):
    with pytest.raises(Invalid):
        hold(site, "retired")
    with pytest.raises(Conflict) as refused:
        local = make.make_node("m1", Cluster.objects.exclude(pk=site.pk).first(), None)
        hold_node(
            actor=None, node=local, stage="cordoned", on_cluster=True, note="", now=NOW, jobs_on=nobody
        )  # fmt: skip
    assert refused.value.facts["cause"] == "NoClusterCordons"


def test_the_api_does_what_the_page_does(site, there, cast, as_user):
    node, api = node_of(site), as_user(cast.platform_admin).client
    path = f"/api/v1/nodes/{node.pk}/stage"
    body = {"stage": "cordoned", "on_cluster": True}
    said = api.post(f"{path}/preview", body, content_type="application/json").json()
    assert {"cluster_cordon", "stage"} <= {change["name"] for change in said["changes"]}
    assert any("places nothing new there" in effect["text"] for effect in said["effects"])
    assert state(site) == "", "a preview stores nothing"
    answer = api.post(path, body | {"reason": "Fan."}, content_type="application/json")
    assert answer.status_code == 200 and state(site) == "asked"
    settle(site)
    shown = api.get(f"/api/v1/nodes/{node.pk}").json()
    assert (shown["cluster_cordon"]["state"], shown["cluster_cordon"]["asked_by"]) == ("set", "Admin")
    assert shown["cluster_cordon_off"] == ""
