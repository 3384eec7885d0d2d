"""ResourceSlices of different drivers and API versions."""

from typing import Any

import pytest

from resources.normalize import RefusedDocument, read_document, read_node, read_slice
from tests.unit.normalize.nodes import GIB, a_node, names, only, told


def a_slice(devices: list[dict[str, Any]], driver: str = "gpu.nvidia.com", **pool: Any) -> dict[str, Any]:
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": "slice-a"},
        "spec": {
            "driver": driver,
            "nodeName": "node-a",
            "pool": {"name": "node-a", "generation": 1, "resourceSliceCount": 1} | pool,
            "devices": devices,
        },
    }


def a_device(name: str, kind: str = "gpu", memory: str = "80Gi", **more: Any) -> dict[str, Any]:
    attributes = {
        "type": {"string": kind},
        "productName": {"string": "NVIDIA H100 80GB HBM3"},
        "driverVersion": {"version": "570.1.0"},
    }
    return {
        "name": name,
        "attributes": attributes | more.pop("attributes", {}),
        "capacity": {"memory": {"value": memory}},
        **more,
    }


def test_whole_cards_and_slices_are_groups_of_their_own() -> None:
    cut = {"profile": {"string": "1g.10gb"}, "parentUUID": {"string": "GPU-c"}}
    devices = [a_device("gpu-0"), a_device("gpu-1"), a_device("m-0", "mig", "9856Mi", attributes=cut)]
    devices.append(a_device("m-1", "mig", "9856Mi", attributes=cut))
    reading = read_slice(a_slice(devices))
    whole, slices = reading.devices
    assert told(whole) == ("NVIDIA H100 80GB HBM3", 80 * GIB, 2, 2, 2, "exclusive", "healthy")
    assert told(slices) == ("NVIDIA H100 80GB HBM3", 9856 << 20, 1, 2, 2, "mig-mixed", "healthy")
    assert (slices.profile, slices.verified) == ("1g.10gb", False)
    assert [(one.part, one.version) for one in reading.software] == [("driver", "570.1.0")]


def test_a_tainted_device_is_withdrawn() -> None:
    bad = a_device("gpu-1", taints=[{"key": "xid", "effect": "NoSchedule"}])
    group = only(read_slice(a_slice([a_device("gpu-0"), bad])))
    assert (group.slots_total, group.slots_schedulable, group.health.value) == (2, 1, "degraded")


def test_alternatives_that_exclude_each_other_are_no_sum() -> None:
    counters = [{"counterSet": "gpu-0", "counters": {"memory": {"value": "80Gi"}}}]
    cut = {"profile": {"string": "1g.10gb"}}
    devices = [
        a_device("gpu-0", consumesCounters=counters),
        a_device("m", "mig", "10Gi", attributes=cut, consumesCounters=counters),
    ]
    for group in read_slice(a_slice(devices)).devices:
        assert (group.physical_total, group.health.value) == (1, "unknown")
        assert names(group.reasons) == {"PartitionsOverlap"}


def test_only_the_newest_generation_of_a_pool_counts() -> None:
    old, new = a_slice([a_device("gpu-0"), a_device("gpu-1")]), a_slice([a_device("gpu-0")], generation=2)
    assert only(read_node(a_node(), slices=[old, new])).slots_total == 1


def test_a_pool_seen_in_part_says_so() -> None:
    group = only(read_slice(a_slice([a_device("gpu-0")], resourceSliceCount=2)))
    assert [(one.name, dict(one.facts)) for one in group.reasons] == [("PoolIncomplete", {"seen": 1, "expected": 2})]


def test_the_same_cards_by_plugin_and_by_driver_are_not_added_up() -> None:
    plugin, driver = sorted(
        read_node(a_node({"nvidia.com/gpu": "1"}), slices=[a_slice([a_device("gpu-0")])]).devices,
        key=lambda group: group.resource != "nvidia.com/gpu",
    )
    assert plugin.health.value == "healthy"
    assert (driver.health.value, names(driver.reasons)) == ("unknown", {"OverlapsWith"})


def test_labelled_cards_that_only_a_driver_gives_out_are_not_missed() -> None:
    labels = {"nvidia.com/gpu.product": "NVIDIA-H100-80GB-HBM3", "nvidia.com/gpu.count": "1"}
    group = only(read_node(a_node({"nvidia.com/gpu": "0"}, labels=labels), slices=[a_slice([a_device("gpu-0")])]))
    assert (group.resource, group.health.value) == ("gpu.nvidia.com", "healthy")


def test_drivers_without_a_row() -> None:
    assert read_slice(a_slice([a_device("a")], "compute-domain.nvidia.com")).ignored == ("compute-domain.nvidia.com",)
    reading = read_slice(a_slice([a_device("a")], "accel.newchip.example"))
    assert [(one.resource, one.total) for one in reading.unrecognised] == [("accel.newchip.example", 1)]


@pytest.mark.parametrize("driver", [None, 7, "", "a\nb"])
def test_a_slice_without_a_driver_is_refused(driver: Any) -> None:
    with pytest.raises(RefusedDocument) as refused:
        read_document(a_slice([], driver))
    assert refused.value.reason.name == "FieldUnreadable"


@pytest.mark.parametrize(
    "devices",
    [
        None,
        {},
        "x",
        [None],
        [{"name": 3}],
        [{"name": "a"}, {"name": "a"}],
        [{"name": "a", "attributes": 5, "capacity": [[]]}],
    ],
)
def test_devices_of_any_shape_are_read_or_named(devices: Any) -> None:
    reading = read_slice(a_slice(devices))
    assert sum(group.slots_total or 0 for group in reading.devices) <= 1
    for group in reading.devices:
        assert (group.model, group.memory_bytes) == (None, None)
