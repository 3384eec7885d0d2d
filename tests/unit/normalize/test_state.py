"""Ready, cordoned, tainted, virtual, and the host's amounts."""

from typing import Any

import pytest

from resources.normalize import read_node
from tests.unit.normalize.nodes import READY, a_node, names, only


def state_of(**parts: Any) -> tuple[str, bool, set[str]]:
    state = read_node(a_node(**parts)).node
    assert state is not None
    return state.ready.value, state.schedulable, names(state.reasons)


def taint(key: str, effect: str = "NoSchedule", **rest: Any) -> dict[str, Any]:
    return {"taints": [{"key": key, "effect": effect, **rest}]}


def condition(kind: str, status: Any, message: str = "") -> dict[str, Any]:
    return {"type": kind, "status": status, "message": message}


@pytest.mark.parametrize(
    ("parts", "want"),
    [
        ({}, ("ready", True, set())),
        ({"conditions": ()}, ("unknown", False, {"NodeStatusMissing"})),
        ({"conditions": (condition("Ready", "Unknown"),)}, ("unknown", False, {"NodeStatusUnknown"})),
        ({"conditions": (condition("Ready", True),)}, ("unknown", False, {"NodeStatusUnknown"})),
        ({"conditions": (READY, condition("Ready", "False"))}, ("unknown", False, {"NodeStatusUnknown"})),
        (
            {"conditions": (condition("Ready", "False", "PLEG is not healthy: pleg was last seen active 3m ago"),)},
            ("not_ready", False, {"NodeNotReady", "PodLifecycleStuck"}),
        ),
        (
            {"conditions": (condition("Ready", "False", "[container runtime is down, cni plugin not initialized]"),)},
            ("not_ready", False, {"NodeNotReady", "ContainerRuntimeDown", "NetworkPluginNotReady"}),
        ),
        ({"conditions": (READY, condition("DiskPressure", "True"))}, ("ready", True, {"DiskPressure"})),
        ({"spec": {"unschedulable": True}}, ("ready", False, {"Cordoned"})),
        ({"spec": {"unschedulable": "yes"}}, ("ready", False, {"Cordoned", "FieldUnreadable"})),
        ({"spec": taint("node.kubernetes.io/unschedulable")}, ("ready", False, {"Cordoned"})),
        ({"spec": taint("nvidia.com/gpu", value="present")}, ("ready", False, {"Tainted"})),
        ({"spec": taint("spot", "PreferNoSchedule")}, ("ready", True, set())),
        ({"spec": taint("node-role.kubernetes.io/control-plane")}, ("ready", False, {"ControlPlaneTaint"})),
        ({"spec": taint("node.kubernetes.io/not-ready", "NoExecute")}, ("ready", False, set())),
        ({"spec": taint("x", "Sideways")}, ("ready", False, {"Tainted", "FieldUnreadable"})),
        (
            {"spec": taint("virtual-kubelet.io/provider", value="azure"), "labels": {"type": "virtual-kubelet"}},
            ("ready", False, {"Tainted", "VirtualNode"}),
        ),
    ],
)
def test_a_nodes_state(parts: dict[str, Any], want: tuple[str, bool, set[str]]) -> None:
    assert state_of(**parts) == want


def test_taints_are_written_whole() -> None:
    state = read_node(a_node(spec=taint("dedicated", "NoExecute", value="team-a"))).node
    assert state is not None and state.blocking_taints == ("dedicated=team-a:NoExecute",)


def test_a_node_on_its_way_out_takes_nothing() -> None:
    node = a_node()
    node["metadata"]["deletionTimestamp"] = "2026-11-30T10:00:00Z"
    state = read_node(node).node
    assert state is not None and not state.schedulable and names(state.reasons) == {"NodeTerminating"}


@pytest.mark.parametrize("conditions", [(), (condition("Ready", "Unknown"),)])
def test_devices_of_a_silent_node_are_unknown_and_keep_their_last_amounts(conditions: Any) -> None:
    group = only(read_node(a_node({"nvidia.com/gpu": "8"}, conditions=conditions)))
    assert (group.slots_total, group.health.value, names(group.reasons)) == (8, "unknown", {"NodeUnreachable"})


def test_the_host_is_rounded_up_and_says_only_what_it_knows() -> None:
    node = a_node(
        {"cpu": "3.0001", "memory": "3060164198400m"}, {"cpu": "1e1", "memory": "1Ei", "ephemeral-storage": "1.5k"}
    )
    host = read_node(node).host
    assert host is not None
    assert (host.cpu_milli_capacity, host.memory_bytes_capacity) == (3001, 3_060_164_199)
    assert (host.cpu_milli_allocatable, host.memory_bytes_allocatable) == (10_000, 1 << 60)
    assert (host.ephemeral_bytes_capacity, host.ephemeral_bytes_allocatable) == (None, 1500)


@pytest.mark.parametrize("missing", ["capacity", "allocatable"])
def test_a_missing_block_is_said(missing: str) -> None:
    node = a_node({"nvidia.com/gpu": "8"})
    del node["status"][missing]
    group = only(read_node(node))
    known = missing == "capacity"
    assert (group.slots_total, group.slots_schedulable) == (8, 8 if known else None)
    assert group.health.value == ("healthy" if known else "unknown")
    assert names(group.reasons) == {"CapacityMissing" if known else "AllocatableMissing"}


def test_what_is_not_listed_as_allocatable_is_granted_to_nobody() -> None:
    group = only(read_node(a_node({"nvidia.com/gpu": "8"}, {})))
    assert (group.slots_total, group.slots_schedulable, group.health.value) == (8, 0, "unhealthy")
