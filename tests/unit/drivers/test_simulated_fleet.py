"""Fleets as documents: what is shipped, what is read, and what is refused, with the place of the mistake."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from resources.drivers.base import WHOLE_DEVICE
from resources.drivers.simulated.chance import Span
from resources.drivers.simulated.fleet import SHIPPED, load_fleet, read_fleet
from resources.drivers.simulated.fleet_nodes import with_unhealthy
from resources.drivers.simulated.reading import FleetError
from tests.unit.drivers.simulated_world import document

FILES = sorted(SHIPPED.glob("*.json"))


def test_three_fleets_are_shipped() -> None:
    assert [path.stem for path in FILES] == ["edge", "gpu-hall", "npu-site"]


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_a_shipped_fleet_says_that_it_is_simulated_and_has_no_id_twice(path: Path) -> None:
    fleet = load_fleet(path)
    assert fleet.name == path.stem
    uuids = Counter(d.uuid for node in fleet.nodes for group in node.groups for d in group.devices)
    assert all(count == 1 for count in uuids.values())
    assert all("-sim-" in uuid for uuid in uuids)
    assert all(n.name.startswith("sim-") and n.labels["simulated"] == "true" for n in fleet.nodes)
    assert len({node.name for node in fleet.nodes}) == len(fleet.nodes)
    assert fleet == load_fleet(path)


def test_the_gpu_hall_has_two_generations_slices_and_some_trouble() -> None:
    fleet = load_fleet(SHIPPED / "gpu-hall.json")
    whole = Counter(g.model for node in fleet.nodes for g in node.groups if g.resource_name == "nvidia.com/gpu")
    assert whole == {"NVIDIA H100 80GB HBM3": 6, "NVIDIA A100-SXM4-80GB": 8}
    slices = {g.resource_name: len(g.devices) for g in fleet.by_name["sim-mig-02"].groups}
    assert slices == {"nvidia.com/mig-1g.10gb": 16, "nvidia.com/mig-2g.20gb": 8, "nvidia.com/mig-3g.40gb": 8}
    by_card = [{card.id: card.slots for card in group.cards} for group in fleet.by_name["sim-mig-02"].groups]
    assert [sorted(set(found.values())) for found in by_card] == [[2], [1], [1]]
    assert by_card[0].keys() == by_card[1].keys() == by_card[2].keys() and len(by_card[0]) == 8
    (group,) = fleet.by_name["sim-mig-01"].groups
    sick = with_unhealthy(fleet.by_name["sim-mig-01"], {group.devices[9].uuid: "XID 79"}).groups[0]
    assert [card.healthy for card in sick.cards] == [index != 1 for index in range(8)]
    assert [n.name for n in fleet.nodes if n.ready and not n.schedulable] == ["sim-a100-04"]
    assert [n.name for n in fleet.nodes if not n.ready] == ["sim-a100-08"]
    (group,) = fleet.by_name["sim-h100-05"].groups
    assert (group.capacity_parts, group.allocatable_parts) == (8 * WHOLE_DEVICE, 7 * WHOLE_DEVICE)
    assert [d.index for d in group.devices if not d.healthy] == [6]


def test_devices_hang_on_the_numa_nodes_in_order() -> None:
    node = load_fleet(SHIPPED / "gpu-hall.json").by_name["sim-h100-01"]
    assert [d.numa_node for d in node.groups[0].devices] == [0, 0, 0, 0, 1, 1, 1, 1]
    assert [len(numa.cpus) for numa in node.numa] == [96, 96]


def test_a_document_is_read_with_what_it_says_and_defaults_for_the_rest() -> None:
    fleet = read_fleet(document(seed=3, durations={"training": ["1m", "2h"]}, latency={"pull": "5s"}))
    assert (fleet.seed, fleet.durations["training"], fleet.latency.pull) == (
        3,
        Span(60_000, 7_200_000),
        Span(5_000, 5_000),
    )
    assert fleet.durations["batch"].low > 0
    (node,) = fleet.nodes
    assert (node.cpu_milli, node.cpu_allocatable_milli) == (4_000, 3_000)


NODE: dict[str, Any] = {"name": "sim-a", "cpu": "4", "memory": "8Gi"}
CARD: dict[str, Any] = {"resource": "nvidia.com/gpu", "vendor": "NVIDIA", "kind": "GPU", "model": "card", "count": 1}
MISTAKES: list[tuple[dict[str, Any], str]] = [
    ({"name": None}, "name: not a text"),
    ({"name": "Not A Key"}, "name: 'Not A Key' does not match"),
    ({"nodes": []}, "nodes: none"),
    ({"nodes": {}}, "nodes: not a list"),
    ({"nodes": [7]}, "nodes[0]: not an object but int"),
    ({"colour": "blue"}, "colour: unknown key"),
    ({"seed": "7"}, "seed: not a whole number"),
    ({"seed": True}, "seed: not a whole number"),
    ({"latency": {"pul": "5s"}}, "latency.pul: unknown key"),
    ({"latency": {"pull": ["5s", "1s"]}}, "latency.pull: not a pair of durations"),
    ({"durations": {"training": [1, 2]}}, "durations.training: not a pair of durations"),
    ({"failures": {"training": {"Error": 600, "OOMKilled": 600}}}, "failures.training: 1200 in a thousand"),
    ({"nodes": [{**NODE, "name": "real-node"}]}, "nodes[0].name: 'real-node' does not match"),
    ({"nodes": [{**NODE, "count": 2}]}, "nodes[0].name: several nodes need {n}"),
    ({"nodes": [NODE, NODE]}, "nodes[1].name: sim-a is there twice"),
    ({"nodes": [{**NODE, "cpu": "four"}]}, "nodes[0].cpu: NotAQuantity"),
    ({"nodes": [{"name": "sim-a", "cpu": "4"}]}, "nodes[0].memory: missing"),
    ({"nodes": [{**NODE, "cpu_reserved": "4"}]}, "nodes[0].cpu_reserved: nothing is left"),
    ({"nodes": [{**NODE, "architecture": "sparc"}]}, "nodes[0].architecture: 'sparc' does not match"),
    ({"nodes": [{**NODE, "labels": {"a": 1}}]}, "nodes[0].labels: not an object of texts"),
    ({"nodes": [{**NODE, "devices": [{**CARD, "count": 0}]}]}, "nodes[0].devices[0].count: not a whole number"),
    ({"nodes": [{**NODE, "devices": [{**CARD, "kind": "TOASTER"}]}]}, "nodes[0].devices[0].kind: 'TOASTER'"),
    ({"nodes": [{**NODE, "devices": [CARD, CARD]}]}, "nodes[0].devices: a resource name twice"),
    ({"exceptions": {"sim-z": {}}}, "exceptions.sim-z: no such node"),
    ({"exceptions": {"sim-a": {"cordoned": "yes"}}}, "exceptions.sim-a.cordoned: neither true nor false"),
    (
        {"exceptions": {"sim-a": {"unhealthy": [{"resource": "x/y", "index": 0, "detail": ""}]}}},
        "exceptions.sim-a.unhealthy[0].index: sim-a has no device 0 of x/y",
    ),
]


@pytest.mark.parametrize(("changes", "said"), MISTAKES, ids=[said for _, said in MISTAKES])
def test_a_mistake_is_refused_with_its_place(changes: dict[str, Any], said: str) -> None:
    with pytest.raises(FleetError) as refusal:
        read_fleet({**document(), **changes})
    assert str(refusal.value).startswith(said)


def test_a_file_that_is_no_document_is_refused_by_name(tmp_path: Path) -> None:
    path = tmp_path / "broken.json"
    path.write_text("{")
    with pytest.raises(FleetError, match=r"broken\.json: not JSON"):
        load_fleet(path)
    path.write_text(json.dumps([]))
    with pytest.raises(FleetError, match=r"broken\.json: the document: not an object but list"):
        load_fleet(path)
