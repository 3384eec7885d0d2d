"""Which cards a group's slots are parts of: told by whoever names them, and never made up."""

import json

import pytest

from resources.normalize import read_node
from resources.normalize.facts import ONLY_CARD, CardFacts

HAMI = "hami.io/node-nvidia-register"


def cards(amounts: dict[str, str], *, labels=None, annotations=None, config_maps=None) -> tuple[CardFacts, ...]:
    node = {
        "metadata": {"name": "n", "labels": labels or {}, "annotations": annotations or {}},
        "status": {
            "capacity": amounts, "allocatable": amounts,
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }  # fmt: skip
    groups = read_node(node, config_maps=config_maps).devices
    return next((group.cards for group in groups if group.sharing != "exclusive"), ())


def told(found: tuple[CardFacts, ...]) -> list[tuple[str, int | None, bool | None, bool]]:
    return [(card.id, card.slots, card.healthy, bool(card.indices)) for card in found]


def hami(*cards_: tuple[str, int, bool]) -> dict[str, str]:
    rows = [{"id": i, "count": n, "devmem": 16_384, "type": "NVIDIA-T4", "health": ok} for i, n, ok in cards_]
    return {HAMI: json.dumps(rows)}


def test_a_list_of_cards_tells_how_many_slots_each_has_but_not_which():
    found = cards({"nvidia.com/gpu": "20"}, annotations=hami(("GPU-a", 10, True), ("GPU-b", 10, False)))
    assert told(found) == [("GPU-a", 10, True, False), ("GPU-b", 10, False, False)]
    assert (found[0].memory_bytes, found[0].source) == (16_384 << 20, HAMI)


def test_a_list_that_does_not_add_up_tells_the_cards_only():
    found = cards({"nvidia.com/gpu": "15"}, annotations=hami(("GPU-a", 10, True), ("GPU-b", 10, True)))
    assert told(found) == [("GPU-a", None, True, False), ("GPU-b", None, True, False)]


def test_a_damaged_list_tells_nothing():
    text = hami(("GPU-a", 10, True), ("GPU-b", 10, True))[HAMI]
    assert cards({"nvidia.com/gpu": "20"}, annotations={HAMI: text[:-20]}) == ()


def test_all_slots_are_of_the_only_card():
    found = cards({"nvidia.com/gpu": "10"}, annotations=hami(("GPU-a", 10, True)))
    assert told(found) == [("GPU-a", 10, True, True)] and found[0].indices == tuple(range(10))
    sliced = {
        "nvidia.com/gpu.count": "1",
        "nvidia.com/gpu.replicas": "4",
        "nvidia.com/gpu.sharing-strategy": "time-slicing",
    }
    assert told(cards({"nvidia.com/gpu": "4"}, labels=sliced)) == [(ONLY_CARD, 4, None, True)]


def test_slices_of_several_cards_are_of_no_card_that_anybody_names():
    labels = {"nvidia.com/gpu.count": "2", "nvidia.com/mig.strategy": "mixed"}
    assert cards({"nvidia.com/mig-1g.10gb": "14"}, labels=labels) == ()


NPU = {"huawei.com/Ascend910-2c": "4"}


def device_info(names: str, **more: str) -> dict[str, object]:
    listed = {"huawei.com/Ascend910-2c": names, **more}
    return {"data": {"DeviceInfoCfg": json.dumps({"DeviceInfo": {"DeviceList": listed}})}}


@pytest.mark.parametrize(
    ("names", "wanted"),
    [
        ("Ascend910-2c-100-0,Ascend910-2c-101-0,Ascend910-2c-102-1,Ascend910-2c-103-1", [("0", 2), ("1", 2)]),
        # only those that are free are listed: how many a card has is not told
        ("Ascend910-2c-100-0,Ascend910-2c-102-11", [("0", None), ("11", None)]),
        ("Ascend910-2c-100-0,Ascend910-2c-100-0", [("0", None)]),
        ("Ascend910-0,rubbish,,-1-", []),
    ],
)
def test_names_of_virtual_npus_tell_their_chip(names: str, wanted: list[tuple[str, int | None]]):
    assert [(card.id, card.slots) for card in cards(NPU, config_maps=device_info(names))] == wanted


def test_a_slot_is_as_ill_as_its_chip():
    names = "Ascend910-2c-100-0,Ascend910-2c-101-0,Ascend910-2c-102-1,Ascend910-2c-103-1"
    more = {"huawei.com/Ascend910-2c-Unhealthy": "Ascend910-1"}
    found = cards(NPU, config_maps=device_info(names, **more))
    assert [(card.id, card.healthy) for card in found] == [("0", None), ("1", False)]


def test_slices_that_a_driver_publishes_name_their_card():
    from resources.normalize import read_slice

    def part(name: str, parent: str | None) -> dict[str, object]:
        facts = {"type": {"string": "mig"}, "profile": {"string": "1g.10gb"}, "productName": {"string": "H100"}}
        return {"name": name, "attributes": facts | ({"parentUUID": {"string": parent}} if parent else {})}

    devices = [part("a", "GPU-1"), part("b", "GPU-2"), part("c", "GPU-1"), part("d", None)]
    reading = read_slice(
        {"kind": "ResourceSlice", "spec": {"driver": "gpu.nvidia.com", "nodeName": "n", "devices": devices}}
    )
    (group,) = reading.devices
    assert [(card.id, card.slots, card.indices) for card in group.cards] == [("GPU-1", 2, (0, 2)), ("GPU-2", 1, (1,))]
