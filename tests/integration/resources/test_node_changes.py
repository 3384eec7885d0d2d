"""An operator's word about a node holds, is explained before, and keeps new jobs away."""

from dataclasses import replace

import pytest

from jobs.selectors.snapshot import load_snapshot
from jobs.states import JobState
from portal.lib.errors import Conflict, Denied, Invalid
from resources.drivers.base import Inventory, SeenNode
from resources.models import Cluster, Node
from resources.services.hold_node import hold_node
from resources.services.register_cluster import register_cluster
from resources.services.set_cluster_state import set_cluster_state
from resources.services.store_inventory import store_inventory
from tenants.models import AuditEvent
from tests import builders as make
from tests.builders import GIB, NOW

SEEN = SeenNode(
    name="n1",
    ready=True,
    schedulable=True,
    reason="",
    cpu_milli=8_000,
    cpu_allocatable_milli=8_000,
    memory_bytes=32 * GIB,
    memory_allocatable_bytes=32 * GIB,
    storage_bytes=None,
    architecture="x86_64",
    os="",
)


def nobody(_place) -> int:
    return 0


def stage(cast) -> str:
    return Node.objects.get(pk=cast.node.pk).stage


def run_a_job(cast, name: str = "training", **fields):
    job = make.make_job(cast.alpha, cast.member, name=name, state=JobState.RUNNING, **fields)
    return make.make_allocation(job, cast.node, reserved=NOW, bound=NOW, started=NOW)


def test_a_cordon_says_which_jobs_stay_and_holds_against_the_cluster(cast, as_user):
    run_a_job(cast)
    admin, path = as_user(cast.platform_admin), f"/nodes/{cast.node.pk}/cordon"
    page = admin.page(path)
    assert "1 job holds something here: training" in page
    assert "They stay until they end by themselves." in page
    admin.save(path, reason="Fan is loud.")
    node = Node.objects.get(pk=cast.node.pk)
    assert (node.stage, node.held_stage, node.held_by, node.held_note) == (
        "cordoned",
        "cordoned",
        "Admin",
        "Fan is loud.",
    )
    store_inventory(cluster=cast.cluster, inventory=Inventory((SEEN,), NOW, True))
    assert stage(cast) == "cordoned"
    event = AuditEvent.objects.get(verb="node.cordoned")
    assert (event.before, event.after, event.note) == (
        {"stage": "schedulable", "held": ""},
        {"stage": "cordoned", "held": "cordoned"},
        "Fan is loud.",
    )
    assert "Fan is loud." in admin.page(f"/nodes/{cast.node.pk}")


@pytest.mark.parametrize("word", ["cordoned", "draining"])
def test_the_scheduler_places_nothing_on_a_held_node(cast, word):
    hold_node(actor=None, node=cast.node, stage=word, note="", now=NOW, jobs_on=nobody)
    (host,) = load_snapshot(now=NOW).hosts
    assert host.blocked == word.capitalize()


def test_the_scheduler_does_not_know_a_retired_node(cast):
    hold_node(actor=None, node=cast.node, stage="retired", note="", now=NOW, jobs_on=nobody)
    assert load_snapshot(now=NOW).hosts == ()


def test_who_looks_after_the_pool_may_not_read_whose_jobs_run(cast, as_user):
    run_a_job(cast, "secret-of-alpha")
    page = as_user(cast.pool_admin).page(f"/nodes/{cast.node.pk}/drain")
    assert "1 jobs of other projects hold something here." in page
    assert "secret" not in page
    with pytest.raises(Denied):
        hold_node(actor=cast.manager, node=cast.node, stage="cordoned", note="", now=NOW, jobs_on=nobody)


def test_a_node_that_is_used_is_not_retired(cast, as_user):
    run_a_job(cast)
    page = as_user(cast.platform_admin).page(f"/nodes/{cast.node.pk}/retire")
    assert "Drain it, and retire it once they have ended." in page
    assert 'value="save"' not in page
    with pytest.raises(Conflict) as refused:
        hold_node(actor=None, node=cast.node, stage="retired", note="", now=NOW, jobs_on=lambda _node: 1)
    assert refused.value.reason == "NodeInUse"
    assert stage(cast) == "schedulable"


def test_a_node_comes_back_as_its_cluster_has_it(cast, as_user):
    admin = as_user(cast.platform_admin)
    admin.save(f"/nodes/{cast.node.pk}/retire", reason="Sold.")
    assert stage(cast) == "retired"
    admin.save(f"/nodes/{cast.node.pk}/return", reason="Not sold after all.")
    node = Node.objects.get(pk=cast.node.pk)
    assert (node.stage, node.held_stage, node.held_by, node.held_at) == ("schedulable", "", "", None)
    Node.objects.filter(pk=node.pk).update(reason="Unschedulable")
    hold_node(actor=None, node=node, stage="cordoned", note="", now=NOW, jobs_on=nobody)
    hold_node(actor=None, node=node, stage="", note="", now=NOW, jobs_on=nobody)
    assert stage(cast) == "cordoned"
    seen = replace(SEEN, schedulable=True)
    store_inventory(cluster=cast.cluster, inventory=Inventory((seen,), NOW, True))
    assert stage(cast) == "schedulable"


def test_the_same_word_twice_is_written_once(cast):
    for _ in range(2):
        hold_node(actor=None, node=cast.node, stage="cordoned", note="", now=NOW, jobs_on=nobody)
    assert AuditEvent.objects.filter(verb="node.cordoned").count() == 1


def test_a_cluster_in_use_is_paused_but_not_detached(cast, as_user):
    run_a_job(cast)
    admin = as_user(cast.platform_admin)
    page = admin.page("/clusters/site/detach")
    assert "1 job holds something there." in page
    assert 'value="save"' not in page
    with pytest.raises(Conflict):
        set_cluster_state(
            actor=None, cluster=cast.cluster, state="detached", note="", now=NOW, jobs_on=lambda _cluster: 1
        )
    admin.save("/clusters/site/pause", reason="Power works.")
    assert Cluster.objects.get(key="site").state == "paused"
    (host,) = load_snapshot(now=NOW).hosts
    assert host.blocked == "ClusterPaused"


def test_an_empty_cluster_is_detached_and_attached_again(cast, as_user):
    admin = as_user(cast.platform_admin)
    admin.save("/clusters/site/detach", reason="Moved.")
    assert Cluster.objects.get(key="site").state == "detached"
    assert load_snapshot(now=NOW).hosts == ()
    admin.save("/clusters/site/attach", reason="Back.")
    assert [e.verb for e in AuditEvent.objects.filter(verb__startswith="cluster.", note__gt="").order_by("seq")] == [
        "cluster.detached",
        "cluster.attached",
    ]


def test_a_cluster_is_registered_and_renamed(cast, as_user):
    admin = as_user(cast.platform_admin)
    given = {"key": "lab", "name": "Lab", "location": "Hall 2", "maintainer": "Rosa Adeyemi"}
    admin.save("/clusters/new/simulated", **given)
    assert "Lab" in admin.page("/clusters/lab")
    changed = {"name": "Laboratory", "location": "Hall 2", "maintainer": "", "cost_basis": "leased"}
    assert "Laboratory" in admin.preview("/clusters/lab/edit", **changed)
    admin.save("/clusters/lab/edit", **changed, reason="Its full name.")
    event = AuditEvent.objects.get(verb="cluster.changed")
    assert (event.before, event.after) == (
        {"name": "Lab", "maintainer": "Rosa Adeyemi", "cost_basis": "owned"},
        {"name": "Laboratory", "maintainer": "", "cost_basis": "leased"},
    )
    assert "leased" in admin.page("/clusters/lab")
    assert "lab is taken" in admin.save("/clusters/new/simulated", 422, **given)
    admin.page("/clusters/new/nonsense", 404)


def test_this_machine_is_one_cluster_and_is_not_counted_twice(cast):
    with pytest.raises(Invalid) as refused:
        register_cluster(actor=cast.platform_admin, key="again", name="Again", driver="local", now=make.NOW)
    assert [field.reason for field in refused.value.fields] == ["MachineRegistered"]
