"""What a cluster reports is stored as it is, in a number of statements that does not grow with it."""

from dataclasses import replace
from datetime import timedelta

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from resources.drivers.base import Inventory, SeenDevice, SeenDeviceGroup, SeenNode
from resources.models import CapacitySegment, Device, DeviceGroup, Node
from resources.models.catalogue import Kind
from resources.services.create_pool import create_pool
from resources.services.define_class import define_class
from resources.services.record_capacity import record_capacity
from resources.services.store_inventory import store_inventory
from tests import builders as make
from tests.builders import CARD, GIB, NOW

LATER = NOW + timedelta(seconds=15)


def seen_group(node: str, cards: int = 2, **changed) -> SeenDeviceGroup:
    devices = tuple(SeenDevice(f"{node}-{i}", i, "A80", 80 * GIB, i, True) for i in range(cards))
    facts = {"resource_name": "vendor.example/card", "vendor": "Vendor", "kind": "GPU", "model": "A80"}
    parts = {"capacity_parts": cards * CARD, "allocatable_parts": cards * CARD, "devices": devices}
    return SeenDeviceGroup(**facts | parts | changed)


def seen_node(name: str, *groups: SeenDeviceGroup, **changed) -> SeenNode:
    facts = {"ready": True, "schedulable": True, "reason": "", "cpu_milli": 8_000, "cpu_allocatable_milli": 7_000}
    more = {"memory_bytes": 32 * GIB, "memory_allocatable_bytes": 30 * GIB, "storage_bytes": None}
    fixed = {"architecture": "x86_64", "os": "Debian 13", "labels": {"zone": "east"}, "groups": groups}
    return SeenNode(name=name, **facts | more | fixed | changed)


@pytest.fixture
def site(cast):
    """A cluster without nodes, a pool for its eastern ones and a class for its cards."""
    create_pool(actor=None, key="east", name={"en": "East"}, selector={"zone": "east"}, now=NOW)
    define_class(actor=None, key="a80", name={"en": "A80"}, kind=Kind.GPU, match={"model": "A80"}, now=NOW)
    return make.make_cluster("far")


def store(site, *nodes: SeenNode, at=NOW, complete: bool = True) -> int:
    """How many statements it took."""
    with CaptureQueriesContext(connection) as queries:
        store_inventory(cluster=site, inventory=Inventory(nodes, at, complete))
        record_capacity(cluster=site, now=at)
    return len(queries)


def fleet(size: int) -> list[SeenNode]:
    return [seen_node(f"n{i}", seen_group(f"n{i}", 8)) for i in range(size)]


def test_a_new_node_is_stored_with_its_pool_class_and_devices(site):
    store(site, seen_node("n1", seen_group("n1")))
    node = Node.objects.get(cluster=site)
    assert (node.stage, node.ready, node.pool.key, node.cpu_allocatable_milli) == ("schedulable", True, "east", 7_000)
    group = node.groups.get()
    assert (group.resource_class.key, group.capacity_parts) == ("a80", 2 * CARD)
    assert [d.uuid for d in group.devices.all()] == ["n1-0", "n1-1"]
    assert set(CapacitySegment.objects.filter(node=node).values_list("class_key", "state", "quantity")) == {
        ("cpu", "schedulable", 7_000),
        ("cpu", "system", 1_000),
        ("memory", "schedulable", 30 * GIB),
        ("memory", "system", 2 * GIB),
        ("a80", "schedulable", 2 * CARD),
    }


def test_the_number_of_statements_does_not_grow_with_the_fleet(site):
    small, large = fleet(2), fleet(20)
    first = store(site, *small)
    assert store(site, *large, at=LATER) <= first + 2  # ends nothing, writes the same tables
    assert store(site, *large, at=LATER + timedelta(seconds=15)) <= 16
    assert first <= 22


def test_what_is_unchanged_is_not_written_apart_from_when_it_was_seen(site):
    store(site, *fleet(3))
    keys = set(Node.objects.filter(cluster=site).values_list("pk", flat=True))
    with CaptureQueriesContext(connection) as queries:
        store_inventory(cluster=site, inventory=Inventory(tuple(fleet(3)), LATER, True))
    written = [q["sql"] for q in queries if q["sql"].startswith(("INSERT", "UPDATE", "DELETE"))]
    assert len(written) == 1
    assert '"last_seen_at"' in written[0]
    assert set(Node.objects.filter(cluster=site, last_seen_at=LATER).values_list("pk", flat=True)) == keys


def test_a_changed_row_keeps_its_key(site):
    store(site, *fleet(2))
    before = dict(Device.objects.filter(group__node__cluster=site).values_list("uuid", "pk"))
    group = seen_group("n0", 8)
    sick = replace(group.devices[3], healthy=False, detail="ECC error")
    group = replace(group, devices=(*group.devices[:3], sick, *group.devices[4:]), allocatable_parts=7 * CARD)
    store(site, seen_node("n0", group, labels={"zone": "west"}), fleet(2)[1], at=LATER)
    node = Node.objects.get(cluster=site, name="n0")
    assert (node.pool, node.labels, node.created_at) == (None, {"zone": "west"}, NOW)
    assert dict(Device.objects.filter(group__node__cluster=site).values_list("uuid", "pk")) == before
    assert list(Device.objects.filter(healthy=False).values_list("uuid", "detail")) == [("n0-3", "ECC error")]


def test_what_is_no_longer_listed_has_nothing_to_give_but_stays(site):
    store(site, seen_node("n1", seen_group("n1", 2)), seen_node("n2", seen_group("n2", 2)))
    store(site, seen_node("n1"), seen_node("n2", seen_group("n2", 1)), at=LATER)
    gone = DeviceGroup.objects.get(node__name="n1", node__cluster=site)
    assert (gone.capacity_parts, gone.allocatable_parts) == (0, 0)
    missing = Device.objects.filter(healthy=False, detail="NotListed")
    assert sorted(missing.values_list("uuid", flat=True)) == ["n1-0", "n1-1", "n2-1"]


def test_a_node_that_is_not_listed_is_unreachable_only_if_the_list_was_complete(site):
    store(site, *fleet(2))
    store(site, fleet(1)[0], at=LATER, complete=False)
    assert Node.objects.get(cluster=site, name="n1").stage == Node.Stage.SCHEDULABLE
    store(site, fleet(1)[0], at=LATER)
    node = Node.objects.get(cluster=site, name="n1")
    assert (node.stage, node.reason, node.last_seen_at) == (Node.Stage.UNREACHABLE, "NotListed", NOW)
    lost = CapacitySegment.objects.filter(node=node, end__isnull=True)
    assert {segment.state for segment in lost} == {"no_data"}


def test_a_node_listed_twice_counts_once(site):
    store(site, seen_node("n1", cpu_milli=1_000, cpu_allocatable_milli=1_000), seen_node("n1"))
    assert Node.objects.get(cluster=site).cpu_milli == 8_000


def test_devices_no_class_takes_are_kept_without_one(site):
    store(site, seen_node("n1", seen_group("n1", model="B200", resource_name="vendor.example/b")))
    assert DeviceGroup.objects.get(node__cluster=site).resource_class is None


@pytest.mark.parametrize(
    ("held", "ready", "schedulable", "stage"),
    [
        ("", True, True, "schedulable"),
        ("", True, False, "cordoned"),
        ("", False, True, "unreachable"),
        ("cordoned", True, True, "cordoned"),
        ("draining", True, True, "draining"),
        ("draining", False, True, "unreachable"),
        ("retired", True, True, "retired"),
        ("retired", False, False, "retired"),
    ],
)
def test_an_operators_word_holds_whatever_the_cluster_says(site, held, ready, schedulable, stage):
    store(site, seen_node("n1"))
    Node.objects.filter(cluster=site).update(held_stage=held)
    store(site, seen_node("n1", ready=ready, schedulable=schedulable), at=LATER)
    assert Node.objects.get(cluster=site).stage == stage
