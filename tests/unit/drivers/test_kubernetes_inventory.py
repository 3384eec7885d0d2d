"""Nodes and pods of a Kubernetes cluster as the portal's inventory."""

from typing import Any

from resources.drivers.base import WHOLE_DEVICE, SeenNode
from resources.drivers.kubernetes.asked import pod_use, requests_of, uses_of
from resources.drivers.kubernetes.connection import NAMESPACE
from resources.drivers.kubernetes.inventory import COUNTED, WITHDRAWN, NodeReader
from resources.normalize import load_catalogue

GPU = "nvidia.com/gpu"


def node(
    name: str = "n1", *, capacity: dict[str, str] | None = None, usable: dict[str, str] | None = None, **more: Any
):
    amounts = {"cpu": "64", "memory": "512Gi", "ephemeral-storage": "1Ti", "pods": "110"} | (capacity or {})
    return {
        "kind": "Node",
        "metadata": {"name": name, "labels": more.pop("labels", {})},
        "spec": more.pop("spec", {}),
        "status": {
            "capacity": amounts,
            "allocatable": amounts | {"cpu": "63500m", "memory": "500Gi"} | (usable or {}),
            "conditions": [{"type": "Ready", "status": more.pop("ready", "True")}],
            "nodeInfo": {"architecture": "amd64", "osImage": "Debian GNU/Linux 12"},
        },
    }


def pod(node_name: str, cpu: str, *, ours: bool = False, phase: str = "Running", **resources: str) -> dict[str, Any]:
    asked = {"cpu": cpu, **{key.replace("gpu", GPU): value for key, value in resources.items()}}
    return {
        "metadata": {"name": "p", "namespace": NAMESPACE, "labels": {"armillary/attempt": "a"} if ours else {}},
        "spec": {"nodeName": node_name, "containers": [{"resources": {"requests": asked}}]},
        "status": {"phase": phase},
    }


def read(*nodes: dict[str, Any], pods: tuple[dict[str, Any], ...] = ()) -> tuple[SeenNode, ...]:
    reader = NodeReader(load_catalogue(), uses_of(map(pod_use, pods)))
    return tuple(seen for one in nodes if (seen := reader.read(one)) is not None)


def test_a_node_is_what_it_says() -> None:
    (one,) = read(node(labels={"zone": "a"}))
    assert (one.name, one.ready, one.schedulable, one.reason) == ("n1", True, True, "")
    assert (one.cpu_milli, one.cpu_allocatable_milli) == (64_000, 63_500)
    assert (one.memory_bytes, one.memory_allocatable_bytes, one.storage_bytes) == (512 << 30, 500 << 30, 1 << 40)
    assert (one.architecture, one.os, dict(one.labels)) == ("amd64", "Debian GNU/Linux 12", {"zone": "a"})


def test_free_is_really_free_whoever_holds_the_rest() -> None:
    pods = (
        pod("n1", "500m"), pod("n1", "2", ours=True, gpu="4"), pod("n1", "1", gpu="2", memory="1Gi"),
        pod("n1", "9", phase="Succeeded"), pod("", "9"), pod("n2", "7"),
    )  # fmt: skip
    (one,) = read(node(capacity={GPU: "8"}), pods=pods)
    assert one.foreign == {"cpu": 1_500, "memory": 1 << 30, "pods": 2, GPU: 2}
    assert uses_of(map(pod_use, pods))["n1"].ours == {"cpu": 2_000, "pods": 1, GPU: 4}


def test_a_pod_holds_its_containers_or_its_largest_step_whichever_is_more() -> None:
    def step(cpu: str, **more: str) -> dict[str, Any]:
        return {"resources": {"requests": {"cpu": cpu}}, **more}

    steps = [step("3"), step("200m", restartPolicy="Always")]
    spec = {"containers": [step("1"), step("500m")], "initContainers": steps}
    assert requests_of(spec) == {"cpu": 3_000}
    steps.reverse()
    assert requests_of(spec) == {"cpu": 3_200}, "a sidecar that began before runs beside the step"
    assert requests_of({"containers": [step("1")], "overhead": {"cpu": "250m"}}) == {"cpu": 1_250}
    assert requests_of({"containers": [{"resources": {"limits": {GPU: "2"}}}]}) == {GPU: 2}
    assert requests_of({"containers": [{"resources": {"requests": {"cpu": "NaN", "memory": "-1"}}}]}) == {}


def test_devices_are_counted_slots_and_withdrawn_ones_are_not_usable() -> None:
    (one,) = read(node(capacity={GPU: "8"}, usable={GPU: "6"}, labels={"nvidia.com/gpu.product": "NVIDIA-L40S"}))
    (group,) = one.groups
    assert (group.resource_name, group.vendor, group.kind) == (GPU, "nvidia", "GPU")
    assert (group.capacity_parts, group.allocatable_parts) == (8 * WHOLE_DEVICE, 6 * WHOLE_DEVICE)
    assert [d.healthy for d in group.devices] == [True] * 6 + [False] * 2
    assert {d.detail for d in group.devices} == {COUNTED, WITHDRAWN}
    assert len({d.uuid for d in group.devices}) == 8


def test_what_nobody_knows_is_listed_under_its_raw_name() -> None:
    (one,) = read(node(capacity={"accelerators.example.org/tensorbox": "2", "hugepages-2Mi": "0"}))
    assert [(g.resource_name, g.kind, g.capacity_parts // WHOLE_DEVICE) for g in one.groups] == [
        ("accelerators.example.org/tensorbox", "ACCELERATOR", 2)
    ]


def test_a_node_that_is_not_well_says_why() -> None:
    gone, closed, tainted = read(
        node("a", ready="Unknown"),
        node("b", spec={"unschedulable": True}),
        node("c", spec={"taints": [{"key": "maintenance", "effect": "NoSchedule"}]}),
    )
    assert (gone.ready, gone.schedulable, gone.reason) == (False, False, "NodeStatusUnknown")
    assert (closed.ready, closed.schedulable, closed.reason) == (True, False, "Cordoned")
    assert (tainted.schedulable, tainted.reason) == (False, "Tainted")


def test_nonsense_is_no_crash_and_no_amount() -> None:
    broken: list[dict[str, Any]] = [
        {"metadata": {"name": "x"}},
        {"metadata": {"name": "y"}, "status": {"capacity": "lots", "allocatable": None, "conditions": "ready"}},
        {"metadata": {"name": "z", "labels": "none"}, "spec": None, "status": None},
        {"metadata": None},
        {"metadata": {"name": 7}},
    ]
    assert [(n.name, n.ready, n.schedulable, n.cpu_milli) for n in read(*broken)] == [
        ("x", False, False, 0), ("y", False, False, 0), ("z", False, False, 0),
    ]  # fmt: skip


def test_a_node_says_what_runs_on_it_and_everything_that_speaks_against_it() -> None:
    plugin: dict[str, Any] = {
        "metadata": {"ownerReferences": [{"kind": "DaemonSet"}]},
        "spec": {
            "nodeName": "n1",
            "containers": [{"name": "main", "image": "registry:5000/nvidia/k8s-device-plugin:v0.17.1@sha256:ab"}],
        },
    }
    somebody = plugin | {"metadata": {}}
    taints = [{"key": "gpu", "value": "only", "effect": "NoSchedule"}, {"key": "soft", "effect": "PreferNoSchedule"}]
    one = node(
        spec={"unschedulable": True, "taints": taints},
        capacity={GPU: "8", "nvidia.com/mig-1g.10gb": "0"},
        usable={GPU: "7"},
        labels={"nvidia.com/gpu.product": "NVIDIA-L40S", "nvidia.com/cuda.driver-version.full": "550.54.15"},
    )
    about = {"kernelVersion": "6.1.0", "containerRuntimeVersion": "containerd://1.7.27", "kubeletVersion": "v1.34.1"}
    one["status"]["nodeInfo"] |= about
    (seen,) = read(one, pods=(plugin, somebody))
    assert (seen.kernel, seen.container_runtime, seen.kubelet) == ("6.1.0", "containerd://1.7.27", "v1.34.1")
    assert [reason.name for reason in seen.reasons] == ["Cordoned", "Tainted"]
    assert seen.taints == ("gpu=only:NoSchedule",)
    assert {(s.vendor, s.part, s.version) for s in seen.software} == {
        ("nvidia", "driver", "550.54.15"),
        ("", "k8s-device-plugin", "v0.17.1"),
    }
    (group,) = seen.groups
    assert (group.sharing, group.health, group.verified, group.unit) == ("exclusive", "degraded", True, "card")
    assert [(r.name, dict(r.facts)) for r in group.reasons] == [("DevicesWithdrawn", {"count": 1})]
    assert group.sources["model"] == "nvidia.com/gpu.product"


def test_what_a_node_does_not_say_is_unknown() -> None:
    (seen,) = read(node(capacity={"accelerators.example.org/tensorbox": "2"}))
    assert (seen.kernel, seen.kubelet, seen.software, seen.topology, seen.network) == ("", "", (), (), ())
    (group,) = seen.groups
    assert (group.health, group.verified, group.physical_total) == ("unknown", False, None)


def test_the_lists_of_ascends_plugin_are_asked_for_only_where_they_matter() -> None:
    asked: list[str] = []

    def lists() -> dict[str, Any]:
        asked.append("lists")
        return {}

    reader = NodeReader(load_catalogue(), plugin_lists=lists)
    reader.read(node(capacity={GPU: "8"}))
    assert not asked
    reader.read(node(capacity={"huawei.com/Ascend910": "8"}))
    assert asked == ["lists"]


def test_what_a_pod_asks_for_beyond_any_machine_stays_a_number_that_can_be_calculated_with() -> None:
    """Bound without a scheduler it waits there with any amount; the scheduling pass has 64-bit integers."""
    asked = {"memory": "7Ei", "cpu": "9000000000000000", GPU: str(2**63 - 1)}
    bound = {"spec": {"nodeName": "n1", "containers": [{"resources": {"requests": asked}}]}}
    held = uses_of([pod_use(bound)] * 3)["n1"].others
    assert held["pods"] == 3 and held["memory"] >= 2**60
    assert max(held["memory"], held["cpu"], held[GPU] * WHOLE_DEVICE) <= 2**62


def test_pods_of_another_portal_or_copied_elsewhere_are_not_ours() -> None:
    spec = {"nodeName": "n1", "containers": [{"resources": {"requests": {"cpu": "1"}}}]}
    about = {"name": "p", "namespace": "their-jobs", "labels": {"armillary/attempt": "a"}}
    held = uses_of([pod_use({"metadata": about, "spec": spec}, namespace="our-jobs")])["n1"]
    assert (held.ours, held.others) == ({}, {"pods": 1, "cpu": 1_000})
