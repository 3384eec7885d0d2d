"""What was read of nodes and clusters is stored, and shown in words with its source; unknown is never 0."""

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta

import pytest

from resources import tasks
from resources.drivers.base import Capability, DriverUnavailable, Inventory
from resources.drivers.facts import ClusterFacts, Presence, Topic
from resources.drivers.kubernetes.asked import Program, Use
from resources.drivers.kubernetes.inventory import NodeReader
from resources.models import Cluster, DeviceGroup, Node
from resources.normalize import load_catalogue
from resources.observed import sentence_of
from resources.services import sync_inventory as sync_module
from resources.services.store_inventory import store_inventory
from resources.services.sync_inventory import FACTS_EVERY, sync_inventory
from tests import builders as make
from tests.builders import NOW
from tests.integration.api.conftest import ROOT
from tests.integration.resources.test_store_inventory import seen_group, seen_node

GPU = "nvidia.com/gpu"


def node(name: str, *, driver: str = "550.54.15", usable: int = 8, **more) -> dict:
    labels = {"nvidia.com/gpu.product": "NVIDIA-L40S", "nvidia.com/cuda.driver-version.full": driver}
    amounts = {"cpu": "64", "memory": "512Gi", "pods": "110"}
    return {
        "metadata": {"name": name, "labels": labels | more.get("labels", {})},
        "spec": more.get("spec", {}),
        "status": {
            "capacity": amounts | {GPU: "8"} | more.get("capacity", {}),
            "allocatable": amounts | {GPU: str(usable)} | more.get("capacity", {}),
            "conditions": [{"type": "Ready", "status": "True"}],
            "nodeInfo": {"kernelVersion": more.get("kernel", "6.1.0"), "kubeletVersion": "v1.34.1"},
        },
    }


def store(cluster: Cluster, *nodes: dict, uses: Mapping[str, Use] | None = None) -> None:
    reader = NodeReader(load_catalogue(), uses or {})
    seen = tuple(one for raw in nodes if (one := reader.read(raw)) is not None)
    store_inventory(cluster=cluster, inventory=Inventory(seen, NOW, True))


@pytest.fixture
def site(cast) -> Cluster:
    return make.make_cluster("far")


def test_a_node_shows_reasons_groups_and_software_with_their_sources(cast, site, as_user):
    taint = {"key": "maintenance", "effect": "NoSchedule"}
    store(site, node("n1", usable=6, spec={"taints": [taint]}, capacity={"accelerators.example.org/box": "2"}))
    stored = Node.objects.get(cluster=site)
    page = as_user(cast.platform_admin).page(f"/nodes/{stored.pk}")
    assert "The node takes only jobs that tolerate its taint maintenance." in page
    assert "2 of the devices were withdrawn from use." in page
    assert "This looks like an accelerator, but no row of the catalogue knows it." in page
    assert 'data-state="degraded"' in page and "not verified" in page
    for told in ("550.54.15", "nvidia.com/cuda.driver-version.full", "nodeInfo.kubeletVersion", "whole cards"):
        assert told in page


def test_a_word_nobody_knows_and_a_sentence_without_its_facts_are_shown_as_they_are():
    assert sentence_of("FromTomorrow", {}) == "FromTomorrow"
    assert sentence_of("DevicesWithdrawn", {}) == "DevicesWithdrawn"
    assert sentence_of("", {}) == ""


def test_the_api_says_the_same(cast, site, as_user):
    store(site, node("n1", usable=6, labels={"topology.kubernetes.io/zone": "z1", "armillary/rdma": "RoCE"}))
    stored = Node.objects.get(cluster=site)
    said = as_user(cast.platform_admin).client.get(f"{ROOT}/nodes/{stored.pk}").json()
    (group,) = said["groups"]
    assert (group["health"], group["verified"], group["sharing"]) == ("degraded", True, "exclusive")
    assert group["reasons"] == [
        {"name": "DevicesWithdrawn", "facts": {"count": 2}, "sentence": "2 of the devices were withdrawn from use."}
    ]
    assert group["sources"]["model"] == "nvidia.com/gpu.product"
    assert (said["kernel"], said["container_runtime"], said["topology"]) == ("6.1.0", "", ["z1"])
    rdma = {"name": "rdma", "value": "RoCE", "read_from": "armillary/rdma", "measured": False}
    assert rdma in said["network"]


def test_an_amount_that_cannot_be_read_is_unknown_and_no_zero(cast, site, as_user):
    store(site, node("n1", capacity={"accelerators.example.org/box": "many"}))
    stored = Node.objects.get(cluster=site)
    group = DeviceGroup.objects.get(node=stored, resource_name="accelerators.example.org/box")
    assert (group.health, group.physical_total) == ("unknown", None)
    (shown,) = [
        one
        for one in as_user(cast.platform_admin).client.get(f"{ROOT}/nodes/{stored.pk}").json()["groups"]
        if one["resource_name"] == group.resource_name
    ]
    assert shown["capacity_parts"] is None


def test_a_machine_that_was_read_directly_says_so_and_its_health_is_that_of_its_devices(cast, site, as_user):
    local = make.make_cluster("near")
    group = seen_group("m", 2)
    sick = replace(group, devices=(group.devices[0], replace(group.devices[1], healthy=False)))
    store_inventory(cluster=local, inventory=Inventory((seen_node("m", sick),), NOW, True))
    stored = DeviceGroup.objects.get(node__cluster=local)
    assert (stored.health, stored.verified, stored.sharing) == ("degraded", None, "")
    page = as_user(cast.platform_admin).page(f"/nodes/{stored.node_id}")
    assert "the machine itself" in page and "not verified" not in page


def test_a_pool_shows_the_versions_that_differ_and_on_which_nodes(cast, site, as_user):
    plugin = Use()
    plugin.plugins.add(Program("k8s-device-plugin", "v0.17.1"))
    nodes = [node("a"), node("b", kernel="6.12.0"), node("c", driver="535.1")]
    store(site, *nodes, uses={"a": plugin})
    Node.objects.filter(cluster=site).update(pool=cast.shared)
    admin = as_user(cast.platform_admin)
    found = {one["subject"]: one for one in admin.client.get(f"{ROOT}/pools/shared").json()["drift"]}
    kernels = {one["version"]: one["nodes"] for one in found["kernel"]["versions"]}
    assert kernels["6.1.0"] == ["a", "c"] and kernels["6.12.0"] == ["b"]
    assert (found["driver"]["of"], len(found["driver"]["versions"])) == ("nvidia", 2)
    assert "kubelet" not in found and "plugin" not in found, "one version makes no difference"
    page = admin.page("/pools/shared")
    assert "6.12.0" in page and "535.1" in page
    assert as_user(cast.member).client.get(f"{ROOT}/pools/shared").json()["drift"] == [], "who sees no nodes"


class Told:
    """A driver that has a fact sheet, or cannot read it."""

    def __init__(self, sheet: ClusterFacts | None, *, broken: bool = False) -> None:
        self.sheet, self.broken, self.asked = sheet, broken, 0

    def capability(self):
        return Capability(isolation=True, isolation_detail="")

    def inventory(self):
        return Inventory((seen_node("n1"),), NOW, True)

    def facts(self):
        self.asked += 1
        if self.broken:
            raise DriverUnavailable("it hangs", reason="Unreachable")
        return self.sheet


SHEET = ClusterFacts(
    {
        "server": Topic(Presence.PRESENT, ({"name": "v1.36.3", "platform": "linux/amd64"},)),
        "storage_classes": Topic(Presence.NOT_OBSERVED, why="NotAllowed"),
        "metrics": Topic(Presence.ABSENT),
        "volumes": Topic(
            Presence.PRESENT, ({"name": "fast", "volumes": 2, "bound": 1, "bytes": 3 << 30, "unread": 1},)
        ),
    },
    NOW,
)


def test_a_fact_sheet_is_read_every_few_minutes_and_shown_with_its_time(cast, site, as_user, monkeypatch):
    driver = Told(SHEET)
    monkeypatch.setattr(sync_module, "driver_for", lambda _cluster: driver)
    for moment in (NOW, NOW + timedelta(seconds=15), NOW + FACTS_EVERY):
        site.refresh_from_db()
        assert sync_inventory(cluster=site, now=moment)
    assert driver.asked == 2
    page = as_user(cast.platform_admin).page("/clusters/far")
    assert "v1.36.3" in page and "The observer may not read it." in page and "1 of unknown size" in page
    assert 'data-state="not_observed"' in page and 'data-state="not_there"' in page
    said = as_user(cast.platform_admin).client.get(f"{ROOT}/clusters/far").json()
    assert said["facts_at"] is not None
    assert {one["subject"]: one["presence"] for one in said["facts"]}["storage_classes"] == "not_observed"


def test_a_fact_sheet_that_cannot_be_read_costs_no_inventory_and_keeps_the_old_one(cast, site, monkeypatch):
    monkeypatch.setattr(sync_module, "driver_for", lambda _cluster: Told(SHEET))
    sync_inventory(cluster=site, now=NOW)
    site.refresh_from_db()
    monkeypatch.setattr(sync_module, "driver_for", lambda _cluster: Told(None, broken=True))
    assert sync_inventory(cluster=site, now=NOW + FACTS_EVERY)
    site.refresh_from_db()
    assert (site.facts["server"]["presence"], site.facts_at, site.last_error) == ("present", NOW, "")


def test_the_inventory_of_each_cluster_is_a_task_of_its_own(cast, site, monkeypatch):
    gone = make.make_cluster("gone")
    Cluster.objects.filter(pk=gone.pk).update(state=Cluster.State.DETACHED)
    sent: list[tuple[str, ...]] = []
    monkeypatch.setattr(tasks, "enqueue", lambda *task: sent.append(task))
    tasks.sync_all()
    wanted = Cluster.objects.exclude(key="gone").values_list("pk", flat=True)
    assert sorted(sent) == sorted(("resources.sync_cluster", str(key)) for key in wanted)
    monkeypatch.setattr(sync_module, "driver_for", lambda _cluster: Told(SHEET))
    tasks.sync_cluster(str(site.pk))
    site.refresh_from_db()
    assert site.facts["server"]["presence"] == "present"


def test_a_device_of_a_group_nobody_can_judge_is_not_called_healthy(cast, site, as_user):
    store(site, node("n1", capacity={"accelerators.example.org/box": "2"}))
    admin = as_user(cast.platform_admin)
    found = admin.client.get(f"{ROOT}/devices?health=not_observed").json()["results"]
    assert {one["resource_name"] for one in found} == {"accelerators.example.org/box"}
    assert {one["state"] for one in found} == {"not_observed"}
    healthy = admin.client.get(f"{ROOT}/devices?health=healthy&cluster=far").json()["results"]
    assert {one["resource_name"] for one in healthy} == {GPU}
