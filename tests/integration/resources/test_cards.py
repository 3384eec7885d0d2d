"""Slots under their cards on pages and in the API, as far as the cluster tells; and who holds them."""

from datetime import timedelta

import pytest
from django.test import Client

from jobs.models import DeviceHold
from jobs.states import JobState
from resources.columns import group_columns
from resources.drivers.base import Inventory
from resources.drivers.kubernetes.inventory import NodeReader
from resources.models import Device, Node
from resources.normalize import load_catalogue
from resources.services.store_inventory import store_inventory
from tests import builders as make
from tests.builders import NOW

HAMI = (
    '[{"id": "GPU-a", "count": 2, "devmem": 16384, "type": "NVIDIA-T4", "health": true},'
    ' {"id": "GPU-b", "count": 2, "devmem": 16384, "type": "NVIDIA-T4", "health": false}]'
)


def node(name: str, amounts: dict[str, str], *, annotations=None, labels=None) -> dict:
    host = {"cpu": "8", "memory": "32Gi", "pods": "110"}
    return {
        "metadata": {"name": name, "annotations": annotations or {}, "labels": labels or {}},
        "status": {
            "capacity": host | amounts,
            "allocatable": host | amounts,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


@pytest.fixture
def fleet(cast) -> dict[str, Node]:
    """A node whose cards are listed, one with a single card, and one of whose cards nobody speaks."""
    cluster = make.make_kubernetes("far")
    several = {"nvidia.com/gpu.count": "2", "nvidia.com/mig.strategy": "mixed"}
    one = {"nvidia.com/gpu.count": "1", "nvidia.com/gpu.replicas": "3", "nvidia.com/gpu.sharing-strategy": "mps"}
    read = NodeReader(load_catalogue()).read
    seen = [
        read(node("listed", {"nvidia.com/gpu": "4"}, annotations={"hami.io/node-nvidia-register": HAMI})),
        read(node("single", {"nvidia.com/gpu": "3"}, labels=one)),
        read(node("silent", {"nvidia.com/mig-1g.10gb": "2"}, labels=several)),
    ]
    store_inventory(cluster=cluster, inventory=Inventory(tuple(one for one in seen if one), NOW, True))
    return {row.name: row for row in Node.objects.filter(cluster=cluster)}


def heads(page: str) -> list[str]:
    """The cards that stand above slots, without what is marked up."""
    import re

    rows = re.findall(r'<tr class="group".*?</tr>', page, re.S)
    return [" ".join(re.sub(r"<[^>]+>", " ", row).split()) for row in rows]


def test_cards_that_are_listed_stand_above_slots_of_which_nobody_says_the_card(fleet, cast, as_user):
    found = heads(as_user(cast.platform_admin).page(f"/nodes/{fleet['listed'].pk}"))
    assert [head.split(" · ")[0] for head in found] == [
        "Card GPU-a Healthy",
        "Card GPU-b Unhealthy",
        "The cluster does not say which card",
    ]
    assert all("2 slots · which of the slots are its own is not told" in head for head in found[:2])
    assert "4 slots" in found[2]


def test_all_slots_of_the_only_card_are_its_children(fleet, cast, as_user):
    page = as_user(cast.platform_admin).page(f"/nodes/{fleet['single'].pk}")
    (head,) = heads(page)
    assert head.startswith("Its only card Not observed · shared by MPS · 3 slots") and page.count("└") == 3
    assert set(Device.objects.filter(group__node=fleet["single"]).values_list("card", flat=True)) == {"only"}


def test_where_nobody_names_a_card_none_is_made_up(fleet, cast, as_user):
    page = as_user(cast.platform_admin).page(f"/nodes/{fleet['silent'].pk}")
    (head,) = heads(page)
    assert head.startswith("The cluster does not say which card · MIG slices, mixed · 2 slots")
    assert set(Device.objects.filter(group__node=fleet["silent"]).values_list("card", flat=True)) == {""}


def test_the_list_of_devices_has_cards_in_the_order_of_nodes_only(fleet, cast, as_user):
    admin = as_user(cast.platform_admin)
    assert len(heads(admin.page("/devices?cluster=far"))) == 5
    assert heads(admin.page("/devices?cluster=far&sort=memory")) == []
    text = b"".join(admin.client.get("/devices?cluster=far&format=csv")).decode()
    assert text.splitlines()[0].rstrip().endswith(",card") and text.count(",only") == 3


def test_a_card_that_is_no_longer_listed_is_no_longer_shown(fleet, cast, as_user):
    bare = NodeReader(load_catalogue()).read(node("listed", {"nvidia.com/gpu": "4"}))
    later = NOW + timedelta(minutes=1)
    store_inventory(cluster=fleet["listed"].cluster, inventory=Inventory((bare,), later, False))
    assert fleet["listed"].groups.get().cards == []
    assert group_columns(bare.groups[0])["cards"] == []


def test_who_holds_a_slot_is_named_to_those_who_see_the_job(fleet, cast, as_user):
    card = make.make_class("slot", "GPU")
    fleet["single"].groups.update(resource_class=card)
    device = Device.objects.filter(group__node=fleet["single"]).order_by("index")[1]
    job = make.make_job(cast.alpha, cast.member, name="secret-work", state=JobState.RUNNING)
    allocation = make.make_allocation(job, fleet["single"], reserved=NOW, bound=NOW, started=NOW)
    DeviceHold.objects.create(line=allocation.lines.first(), device=device, parts=42_000, exclusive=True)
    page = as_user(cast.platform_admin).page(f"/nodes/{fleet['single'].pk}")
    assert page.count("secret-work") >= 2 and ">held<" in page.replace(" ", "")
    path = f"/api/v1/nodes/{fleet['single'].pk}"
    shown = as_user(cast.platform_admin).client.get(path).json()
    assert [d["held_by"] for d in shown["devices"]] == [[], [str(job.pk)], []]
    assert {d["card"] for d in shown["devices"]} == {"only"}
    assert shown["groups"][0]["cards"][0]["slots"] == 3
    Node.objects.filter(pk=fleet["single"].pk).update(pool=cast.shared)
    hidden = as_user(cast.pool_admin).page(f"/nodes/{fleet['single'].pk}")
    assert "secret-work" not in hidden and "1 job of others" in hidden
    client = Client()
    client.force_login(cast.pool_admin)
    assert [d["held_by"] for d in client.get("/api/v1/devices?cluster=far").json()["results"]] == [[], [], []]


def test_a_turn_of_a_groups_health_is_among_the_last_changes(fleet, cast, as_user):
    well = HAMI.replace("false", "true")
    amounts = {"nvidia.com/gpu": "4"}
    for minute, text in enumerate((well, well, HAMI), 1):
        seen = NodeReader(load_catalogue()).read(
            node("listed", amounts, annotations={"hami.io/node-nvidia-register": text})
        )
        at = NOW + timedelta(minutes=minute)
        store_inventory(cluster=fleet["listed"].cluster, inventory=Inventory((seen,), at, False))
    told = fleet["listed"].events.filter(cause="DevicesTurned").order_by("at")
    assert [event.facts["changed"] for event in told] == [
        [["nvidia.com/gpu", "degraded 4/4", "healthy 4/4"]],
        [["nvidia.com/gpu", "healthy 4/4", "degraded 4/4"]],
    ]
    assert {(event.old, event.new) for event in told} == {("schedulable", "schedulable")}
    page = as_user(cast.platform_admin).page(f"/nodes/{fleet['listed'].pk}")
    assert "nvidia.com/gpu: Healthy 4/4 → Degraded 4/4" in page
