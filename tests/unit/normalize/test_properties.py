"""Whatever a node says: the reading is a function of it, and never has more than the node."""

import json
import random
from collections import Counter
from typing import Any

from hypothesis import example, given, settings
from hypothesis import strategies as st

from resources.normalize import NodeReading, as_json, read_document, read_node
from resources.normalize.reasons import SENTENCES, sentence
from tests.unit.normalize.nodes import a_node, names
from tests.unit.normalize.test_hostile import DOCUMENTS

RESOURCES = [
    "nvidia.com/gpu", "nvidia.com/gpu.shared", "nvidia.com/mig-1g.5gb", "nvidia.com/mig-2g.10gb",
    "volcano.sh/vgpu-number", "aliyun.com/gpu-mem", "aliyun.com/gpu-count", "amd.com/gpu", "amd.com/cpx_nps4",
    "huawei.com/Ascend910", "huawei.com/npu-core", "huawei.com/Ascend910-4c", "cambricon.com/vmlu",
    "cambricon.com/mlu.smlu.vcore", "hygon.com/dcunum", "hygon.com/dcucores", "metax-tech.com/gpu",
    "metax-tech.com/sgpu", "aws.amazon.com/neuron", "aws.amazon.com/neuroncore", "new.example/npu",
    "koordinator.sh/gpu-core", "example.com/lamp",
]  # fmt: skip
LABELS = {
    "nvidia.com/gpu.count": ["1", "2", "8", "0", "x"],
    "nvidia.com/gpu.product": ["Tesla-T4", "NVIDIA-A100-SXM4-40GB-MIG-1g.5gb", "Tesla-T4-SHARED", ""],
    "nvidia.com/gpu.memory": ["15360", "0", "-1"],
    "nvidia.com/gpu.replicas": ["1", "4"],
    "nvidia.com/gpu.sharing-strategy": ["none", "mps", "time-slicing"],
    "amd.com/gpu.compute-memory-partition": ["spx_nps1", "cpx_nps4", "odd"],
    "beta.amd.com/gpu.vram.8G": ["1", "3"],
    "servertype": ["Ascend910-30", "Ascend310P-8"],
    "feature.node.kubernetes.io/pci-10de.present": ["true"],
}
REGISTERS = {
    "hami.io/node-nvidia-register": [
        "GPU-a,4,24576,100,NVIDIA-A10,0,true:GPU-b,4,24576,100,NVIDIA-A30,0,false:",
        "GPU-a,4,24",
        "[]",
    ],
    "volcano.sh/node-vgpu-register": ["GPU-a,10,24564,NVIDIA-X,true:"],
    "hami.io/node-handshake": ["Requesting_2024.05.20 11:44:46", "Deleted_x"],
}


def some_of(values: dict[str, list[str]]) -> st.SearchStrategy[dict[str, str]]:
    pairs = [st.tuples(st.just(key), st.sampled_from(options)) for key, options in values.items()]
    return st.lists(st.one_of(pairs), max_size=6).map(dict)


amounts = st.dictionaries(
    st.sampled_from(RESOURCES), st.sampled_from(["0", "1", "2", "7", "8", "16", "56", "80", "800"]), max_size=6
)


def made_node(capacity: dict[str, str], gone: set[str], labels: Any, annotations: Any) -> dict[str, Any]:
    allocatable = {key: "0" if key in gone else amount for key, amount in capacity.items()}
    return a_node(capacity, allocatable, labels=labels, annotations=annotations)


nodes = st.builds(
    made_node, amounts, st.sets(st.sampled_from(RESOURCES), max_size=2), some_of(LABELS), some_of(REGISTERS)
)


def shuffled(value: Any, dice: random.Random) -> Any:
    if isinstance(value, dict):
        keys = list(value)
        dice.shuffle(keys)
        return {key: shuffled(value[key], dice) for key in keys}
    return [shuffled(entry, dice) for entry in value] if isinstance(value, list) else value


@given(nodes, st.integers(0, 1000))
@settings(deadline=None)
def test_the_order_of_keys_does_not_matter(node: dict[str, Any], seed: int) -> None:
    assert json.dumps(as_json(read_node(shuffled(node, random.Random(seed))))) == json.dumps(as_json(read_node(node)))


def test_the_order_of_keys_does_not_matter_for_public_nodes() -> None:
    for document in DOCUMENTS:
        once = json.dumps(as_json(read_document(document)))
        assert json.dumps(as_json(read_document(shuffled(document, random.Random(7))))) == once


@given(nodes)
@settings(deadline=None)
def test_no_more_may_be_used_than_is_there_unless_a_reason_says_so(node: dict[str, Any]) -> None:
    for group in read_node(node).devices:
        assert group.slots_total is not None and group.slots_schedulable is not None
        assert group.slots_schedulable <= group.slots_total or "AllocatableAboveCapacity" in names(group.reasons)


@given(nodes)
@settings(deadline=None)
def test_groups_never_have_more_than_the_node_advertises(node: dict[str, Any]) -> None:
    total: Counter[str] = Counter()
    for group in read_node(node).devices:
        total[group.resource] += group.slots_total or 0
    assert all(amount <= int(node["status"]["capacity"].get(key, "0")) for key, amount in total.items())


@given(nodes)
@example(
    a_node({"nvidia.com/gpu": "0"}, annotations={"volcano.sh/node-vgpu-register": "GPU-a,10,24564,NVIDIA-X,true:"})
)
@settings(deadline=None)
def test_every_resource_is_in_exactly_one_place(node: dict[str, Any]) -> None:
    reading = read_node(node)
    seen = Counter([one.resource for one in (*reading.companions, *reading.unrecognised)] + list(reading.ignored))
    seen.update({group.resource for group in reading.devices})
    advertised = set(node["status"]["capacity"]) - {"cpu", "memory"}
    assert all(seen[key] == 1 for key in advertised)
    added = set(seen) - advertised
    assert all(group.slots_total == 0 for group in reading.devices if group.resource in added)


@given(
    nodes,
    st.sampled_from(
        ["team", "topology.kubernetes.io/zone", "node-role.kubernetes.io/worker", "nvidia.com/gpu.deploy.dcgm"]
    ),
)
@settings(deadline=None)
def test_an_unrelated_label_changes_nothing(node: dict[str, Any], label: str) -> None:
    before = read_node(node)
    node["metadata"]["labels"][label] = "true"
    assert read_node(node) == before


@given(nodes)
@settings(deadline=None)
def test_a_conflict_is_never_green_and_unmeasured_is_never_zero(node: dict[str, Any]) -> None:
    reading = read_node(node)
    for group in reading.devices:
        assert group.physical_total != 0 and group.memory_bytes != 0
        if names(group.reasons) & {
            "OverlapsWith",
            "WholeCountConflictsWithSlices",
            "RegisterMalformed",
            "DevicesWithdrawn",
        }:
            assert group.health.value != "healthy"
        assert (group.physical_total is None) == ("physical_total" not in group.sources)
        assert (group.memory_bytes is None) == ("memory_bytes" not in group.sources)
    check_sentences(reading)


def check_sentences(reading: NodeReading) -> None:
    reasons = [reason for group in reading.devices for reason in group.reasons]
    assert reading.node is not None
    for reason in (*reasons, *reading.node.reasons):
        assert reason.name in SENTENCES and "{" not in sentence(reason)
