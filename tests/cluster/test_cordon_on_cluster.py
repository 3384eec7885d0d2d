"""Cordons on a real control plane: the steward closes a node for everybody, and opens only what it closed."""

from typing import Any

import pytest

from portal.lib.clock import utc_now
from resources.attaching import ConnectionGiven
from resources.drivers.base import DriverUnavailable
from resources.drivers.kubernetes.connection import Right
from resources.drivers.kubernetes.cordon import MANAGER, MARK, cordon_of
from resources.models import ClusterCordon, Node
from resources.selectors.cordons import steward_for
from resources.services.attach_kubernetes import attach_kubernetes
from resources.services.hold_node import hold_node
from resources.services.settle_cordons import settle_cordons
from resources.services.sync_inventory import sync_inventory
from tests.cast import cast, cast_rows
from tests.cluster.roles import apply_role
from tests.cluster.test_kubernetes_driver import LOOPBACK
from tests.cluster.waiting import until
from tests.cluster.workloads import create_pod, get_pod, pod

__all__ = ["cast", "cast_rows"]
NAME = "cpu-1"
PATH = f"/api/v1/nodes/{NAME}"
CLUSTER_ROLE = "/apis/rbac.authorization.k8s.io/v1/clusterroles/armillary-steward"


@pytest.fixture(scope="module")
def tokens(api):
    """Of the roles that are needed, as their manifests make them."""
    return {right: apply_role(api, right, "portal-jobs") for right in (Right.OBSERVER, Right.STEWARD)}


@pytest.fixture
def site(cast, control_plane, tokens, settings, tmp_path):
    """The attached cluster, looked at once; the node is in no pool."""
    settings.STATE_DIR = tmp_path
    settings.CLUSTER_NETWORKS = LOOPBACK
    authority = (control_plane.folder.pki / "ca.crt").read_text(encoding="utf-8")
    given = ConnectionGiven(
        server=control_plane.ports.server, authority=authority, namespace="portal-jobs", tokens=tokens
    )
    cluster = attach_kubernetes(actor=None, key="lab", name="Lab", given=given, now=utc_now())
    assert sync_inventory(cluster=cluster, now=utc_now())
    return cluster


@pytest.fixture(autouse=True)
def open_again(api):
    """The node is left as it was."""
    yield
    by_others(api, cordoned=False)
    api.patch(PATH, {"metadata": {"annotations": {MARK: None}}})


def by_others(api, *, cordoned: bool) -> None:
    """As `kubectl cordon` and `kubectl uncordon` do it."""
    api.patch(f"{PATH}?fieldManager=kubectl-cordon", {"spec": {"unschedulable": cordoned or None}})


def node_of(site) -> Node:
    return Node.objects.get(cluster=site, name=NAME)


def hold(site, stage: str, on_cluster: bool | None = None) -> None:
    hold_node(
        actor=None, node=node_of(site), stage=stage, on_cluster=on_cluster, note="Fan.", now=utc_now(),
        jobs_on=lambda _node: 0,
    )  # fmt: skip


def passes(site) -> str:
    """A pass of the worker, and how the newest cordon then stands."""
    assert sync_inventory(cluster=site, now=utc_now())
    settle_cordons(cluster=site, now=utc_now())
    row = ClusterCordon.objects.first()
    return "" if row is None else f"{row.state} {row.outcome}{row.error}".strip()


def there(api) -> Any:
    return cordon_of(api.get(PATH))


def test_a_node_is_closed_for_others_and_opened_again(site, api, namespace):
    hold(site, "cordoned", on_cluster=True)
    assert not there(api).cordoned, "the wish is stored before the cluster is told"
    assert passes(site) == "set"
    found = there(api)
    assert (found.cordoned, found.by_us, found.mark) == (True, True, str(ClusterCordon.objects.get().pk))
    assert passes(site) == "set" and there(api).version == found.version, "nothing is written twice"
    # somebody else's pod that may run nowhere else
    create_pod(api, namespace, pod("theirs", nodeSelector={"kubernetes.io/hostname": NAME}))
    until(lambda: _refused(api, namespace))
    hold(site, "")
    assert node_of(site).stage == "cordoned"
    assert passes(site) == "closed lifted"
    assert not there(api).cordoned and there(api).mark == ""
    until(lambda: get_pod(api, namespace, "theirs")["spec"].get("nodeName") == NAME)
    until(lambda: passes(site) and node_of(site).stage == "schedulable")


def _refused(api, namespace: str) -> bool:
    told = get_pod(api, namespace, "theirs").get("status", {}).get("conditions", [])
    return any(c["type"] == "PodScheduled" and c.get("reason") == "Unschedulable" for c in told)


def test_the_cordon_of_the_clusters_own_administrator_is_theirs(site, api):
    by_others(api, cordoned=True)
    assert sync_inventory(cluster=site, now=utc_now())
    node = node_of(site)
    assert (node.cluster_cordoned, node.cluster_cordon_mark, node.stage) == (True, "", "cordoned")
    hold(site, "cordoned", on_cluster=True)
    assert passes(site) == "theirs"
    hold(site, "")
    assert passes(site) == "closed not_ours"
    assert there(api).cordoned


def test_what_others_lift_is_drift_and_what_they_then_close_is_left_alone(site, api):
    hold(site, "draining", on_cluster=True)
    assert passes(site) == "set"
    by_others(api, cordoned=False)
    assert passes(site) == "drifted"
    assert passes(site) == "drifted" and not there(api).cordoned
    by_others(api, cordoned=True)
    assert (there(api).by_us, there(api).mark != "") == (False, True)
    hold(site, "")
    assert passes(site) == "closed not_ours"
    assert there(api).cordoned and there(api).mark == ""


def test_opened_and_closed_by_others_between_two_looks_is_theirs_too(site, api):
    hold(site, "cordoned", on_cluster=True)
    assert passes(site) == "set"
    by_others(api, cordoned=False)
    by_others(api, cordoned=True)
    hold(site, "")
    assert passes(site) == "closed not_ours"
    assert there(api).cordoned


def test_a_node_that_changed_meanwhile_is_not_written_over(site, api):
    steward = steward_for(site)
    seen = steward.look(NAME)
    assert seen is not None
    by_others(api, cordoned=True)
    assert steward.write(NAME, seen, cordoned=True, mark="a-mark") is False
    assert there(api).mark == ""
    assert steward.look("no-such-node") is None
    assert steward.write("no-such-node", seen, cordoned=True, mark="a-mark") is False


def test_a_steward_that_lost_its_right_says_so_and_is_tried_again(site, api):
    whole = api.get(CLUSTER_ROLE)["rules"]
    api.patch(CLUSTER_ROLE, {"rules": [rule for rule in whole if rule["resources"] != ["nodes"]]})
    try:
        hold(site, "cordoned", on_cluster=True)
        until(lambda: passes(site) == "asked AccessDenied")
        with pytest.raises(DriverUnavailable):
            steward_for(site).look(NAME)
    finally:
        api.patch(CLUSTER_ROLE, {"rules": whole})
    until(lambda: passes(site) == "set")
    written = api.get(PATH)["metadata"]["managedFields"]
    assert any(one["manager"] == MANAGER for one in written)
