"""Broken and malicious input is read with a named reason or refused with one clear error; never a traceback."""

import copy
import json
import time
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from resources.normalize import RefusedDocument, as_json, parse_document, read_document, read_node
from resources.normalize.amounts import BadAmount, devices, milli, whole
from resources.normalize.reasons import SENTENCES, sentence
from tests.unit.normalize.nodes import a_node, names, only
from tests.unit.normalize.test_corpus import FILES

BAD_AMOUNTS = [
    "", " ", "8 ", " 8", "1Ki ", "+8", "-8", "-0.5Gi", "NaN", "nan", "inf", "Infinity", "1e400", "1E999", "1e-99",
    "0x10", "1_000", "١٢", "８", "1Zi", "1ki", "1KI", "8GB", "1,5", "..", ".", "1.2.3", "1e", "e3", "1Gi1", "9" * 40,
    "9" * 10_000_000, None, True, [], {}, ["8"], {"value": "8"}, 8.0, float("nan"), float("inf"), -8, 10**400, "8\n",
    "8\x00", "\ud8008",
]  # fmt: skip
GARBAGE = [
    None,
    0,
    -1,
    True,
    "",
    "x",
    "\ud800",
    [],
    {},
    [[]],
    {"": None},
    [None],
    1e300,
    "9" * 5000,
    {"a": {"b": [{}]}},
]


@pytest.mark.parametrize("amount", BAD_AMOUNTS, ids=lambda amount: repr(amount)[:20])
def test_a_bad_amount_is_unknown_and_says_why(amount: Any) -> None:
    started = time.process_time()
    for read in (devices, whole, milli):
        with pytest.raises(BadAmount) as refused:
            read(amount)
        assert refused.value.reason in SENTENCES
    group = only(read_node(a_node({"nvidia.com/gpu": amount})))
    assert (group.slots_total, group.slots_schedulable, group.health.value) == (None, None, "unknown")
    assert any(name.startswith("Amount") for name in names(group.reasons))
    host = read_node(a_node({"memory": amount}))
    assert host.host is not None and host.node is not None
    assert host.host.memory_bytes_capacity is None
    assert {dict(reason.facts)["field"] for reason in host.node.reasons} == {
        "status.capacity.memory",
        "status.allocatable.memory",
    }
    assert time.process_time() - started < 1


@pytest.mark.parametrize(
    ("amount", "want"),
    [("8", 8), (8, 8), ("8.0", 8), ("8000m", 8), ("1k", 1000), ("1e1", 10), ("0", 0), ("0.0", 0), ("1Ki", 1024)],
)
def test_amounts_in_other_notations(amount: Any, want: int) -> None:
    assert devices(amount) == want


@pytest.mark.parametrize(
    ("amount", "reason"),
    [
        ("1500m", "AmountNotWhole"),
        ("0.5", "AmountNotWhole"),
        ("2M", "AmountTooLarge"),
        ("8Ei", "AmountTooLarge"),
        ("-1", "AmountNegative"),
    ],
)
def test_amounts_no_machine_has(amount: str, reason: str) -> None:
    with pytest.raises(BadAmount) as refused:
        devices(amount)
    assert refused.value.reason == reason


def test_more_may_be_used_than_there_is() -> None:
    group = only(read_node(a_node({"nvidia.com/gpu": "8"}, {"nvidia.com/gpu": "9"})))
    assert (group.slots_total, group.slots_schedulable, group.health.value) == (8, 9, "unknown")
    assert names(group.reasons) == {"AllocatableAboveCapacity"}


def test_one_broken_entry_leaves_the_others_alone() -> None:
    reading = read_node(a_node({"nvidia.com/gpu": "NaN", "amd.com/gpu": "4"}))
    assert [(group.vendor, group.slots_total) for group in reading.devices] == [("amd", 4), ("nvidia", None)]


@pytest.mark.parametrize("amount", BAD_AMOUNTS[:16])
def test_bad_requests_leave_the_devices_alone(amount: Any) -> None:
    group = only(read_node(a_node({"nvidia.com/gpu": "8"}), requested={"nvidia.com/gpu": amount}))
    assert (group.slots_schedulable, group.slots_requested, group.slots_free, group.health.value) == (
        8,
        None,
        None,
        "healthy",
    )
    assert len(group.reasons) == 1


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "NotJson"),
        ("{", "NotJson"),
        ('{"kind": NaN}', "NotJson"),
        ('{"a": Infinity}', "NotJson"),
        ("[" * 100_000, "NotJson"),
        ('{"a":' * 100_000, "NotJson"),
        ('{"a": ' + "9" * 10_000 + "}", "NotJson"),
        ("[]", "NotAnObject"),
        ('"Node"', "NotAnObject"),
        ("null", "NotAnObject"),
        ('{"kind": "Node", "kind": "Pod"}', "DuplicateKey"),
        ('{"kind": "Node", "status": {"capacity": {"nvidia.com/gpu": "8", "nvidia.com/gpu": "0"}}}', "DuplicateKey"),
        (" " * ((16 << 20) + 1), "DocumentTooLarge"),
        ("{}", "UnsupportedKind"),
        ('{"kind": "Pod"}', "UnsupportedKind"),
        ('{"kind": {"a": []}}', "UnsupportedKind"),
        ('{"kind": "NodeList", "items": []}', "UnsupportedKind"),
    ],
    ids=lambda value: value[:24],
)
def test_what_is_no_document_is_refused_with_one_reason(text: str, reason: str) -> None:
    with pytest.raises(RefusedDocument) as refused:
        read_document(parse_document(text))
    assert refused.value.reason.name == reason
    assert len(sentence(refused.value.reason)) < 200


def test_numbers_with_a_point_are_kept_exactly() -> None:
    text = json.dumps(a_node({"nvidia.com/gpu": 0})).replace('"nvidia.com/gpu": 0', '"nvidia.com/gpu": 8.0')
    assert only(read_document(parse_document(text))).slots_total == 8
    huge = text.replace("8.0", "1e400")
    assert only(read_document(parse_document(huge))).slots_total is None


def test_ten_megabytes_in_one_label_and_annotation() -> None:
    long = "GPU-a,1,1,1,x,0,true:" * 500_000
    node = a_node(
        {"nvidia.com/gpu": "2"},
        labels={"nvidia.com/gpu.product": long},
        annotations={"hami.io/node-nvidia-register": long},
    )
    started = time.process_time()
    reading = read_node(node)
    assert time.process_time() - started < 1
    group = only(reading)
    assert (group.model, group.physical_total) == (None, 2)
    assert reading.node is not None and names(reading.node.reasons) == {"FieldUnreadable"}


def test_text_that_cannot_be_shown_is_not_a_model() -> None:
    for model in ("A\n100", "A\x00", "A\u202e100", "\ud800"):
        group = only(read_node(a_node({"nvidia.com/gpu": "2"}, labels={"nvidia.com/gpu.product": model})))
        assert (group.model, group.slots_total) == (None, 2)


def places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [at, *(place for key, part in inside for place in places(part, (*at, key)))]


def replaced(document: Any, place: tuple[Any, ...], value: Any) -> Any:
    if not place:
        return value
    changed = copy.deepcopy(document)
    part = changed
    for key in place[:-1]:
        part = part[key]
    part[place[-1]] = value
    return changed


DOCUMENTS = [json.loads(path.read_text(encoding="utf-8")) for path in FILES]


@given(st.data())
@settings(max_examples=4 * settings.default.max_examples, deadline=None)
def test_any_part_of_any_node_may_be_garbage(data: st.DataObject) -> None:
    document = data.draw(st.sampled_from(DOCUMENTS))
    for _ in range(data.draw(st.integers(1, 3))):
        place = data.draw(st.sampled_from(places(document)[1:]))
        document = replaced(document, place, data.draw(st.sampled_from([*GARBAGE, *BAD_AMOUNTS[:12]])))
    try:
        reading = read_document(document)
    except RefusedDocument as refused:
        assert sentence(refused.reason)
        return
    text = json.dumps(as_json(reading), ensure_ascii=False)
    assert text.encode() and json.loads(text)
    for group in reading.devices:
        assert group.physical_total != 0 and group.memory_bytes != 0
        assert all(sentence(reason) for reason in group.reasons)
        total, usable = group.slots_total, group.slots_schedulable
        assert total is None or usable is None or usable <= total or "AllocatableAboveCapacity" in names(group.reasons)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=8),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
        max_leaves=12,
    )
)
@settings(max_examples=2 * settings.default.max_examples, deadline=None)
def test_garbage_as_companions_changes_no_device(garbage: Any) -> None:
    node = a_node({"huawei.com/Ascend910": "8"})
    assert read_node(node, config_maps=garbage).devices == read_node(node).devices
