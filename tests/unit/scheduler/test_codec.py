"""Snapshots become canonical bytes and come back the same."""

import json
import random

import pytest

from jobs.reasons import Reason
from jobs.scheduler import codec
from jobs.scheduler.cycle import cycle
from jobs.scheduler.rules import Rules
from jobs.scheduler.snapshot import Cluster, Hold, PriorityClass, Snapshot
from tests.scenarios.given import CPU, Given, a_lab


def rich() -> Given:
    """Facts that use every field of every row at least once."""
    given = a_lab("n1", "n2").device_class("h100", divisible=True, whole=11)
    given.host("n3", 2, of="h100", labels=(("zone", "b"),), topology=("b", "r1"), slots=9, blocked="cordoned", broken=1)
    given.tenant("team", hold=Hold(Reason.PROJECT_HELD, {"project": "Team", "cause": "预算"}))
    given.pool("held", hold=Hold(Reason.POOL_PAUSED, {"pool": "Held", "cause": "x"}), levels=("zone", "rack"))
    given.granted("lab", priority_ceiling=PriorityClass.PRODUCTION, ends_ms=given.at_ms + 5, most_at_once=3)
    given.quota("lab", 1, 2, 3).quota("lab", nominal=5, axis=CPU).rate(CPU, 20_000, 1000)
    given.running("r", "n1", 2, ends_in=1000)
    given.job(
        "a", 1, labels=(("zone", "b"),), excluded_hosts=("n1",), hold=Hold(Reason.HELD_BY_OPERATOR, {"list": ("x", 1)})
    )
    return given.job("b", 2, time_limit_ms=5, max_wait_ms=0, not_before_ms=7, cheapest_first=True, gang=False)


def test_a_snapshot_comes_back_from_its_bytes() -> None:
    snapshot = rich().snapshot()
    again = Snapshot.from_json(snapshot.to_json())
    assert again == snapshot
    assert again.to_json() == snapshot.to_json()


def test_the_replayed_cycle_gives_the_same_bytes() -> None:
    snapshot = rich().snapshot()
    replayed = cycle(Snapshot.from_json(snapshot.to_json()), Rules())
    assert replayed.to_json() == cycle(snapshot, Rules()).to_json()


def test_the_order_in_which_rows_come_does_not_matter() -> None:
    given = rich()
    expected = given.snapshot().to_json()
    shuffle = random.Random(4).shuffle
    for rows in (given.classes, given.host_rows, given.tenants, given.cells, given.grants, given.jobs, given.pools):
        shuffle(rows)
    assert given.snapshot().to_json() == expected


def test_the_bytes_are_plain_sorted_json_in_utf_8() -> None:
    data = rich().snapshot().to_json()
    assert "预算".encode() in data
    assert data == json.dumps(json.loads(data), sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def test_two_rows_of_one_key_are_refused() -> None:
    with pytest.raises(ValueError, match="two clusters rows for dc"):
        Snapshot(at_ms=0, clusters=(Cluster("dc", "A", 1), Cluster("dc", "B", 2)))


@pytest.mark.parametrize(
    "data",
    [
        b"[]",
        b"7",
        b'{"at_ms":"now"}',
        b'{"at_ms":1.5}',
        b'{"at_ms":true}',
        b'{"unknown":1}',
        b'{"at_ms":1,"pools":[{"key":"p"}]}',
        b'{"at_ms":1,"grants":[{"key":"g","tenant":"t","pool":"p","starts_ms":0,"priority_ceiling":"royal"}]}',
        b"not json",
        b"\xff",
    ],
)
def test_other_bytes_are_refused_by_value_error(data: bytes) -> None:
    with pytest.raises(ValueError):  # each way of being wrong says it differently
        Snapshot.from_json(data)


def test_another_format_is_refused() -> None:
    data = rich().snapshot().to_json().replace(b'"format":1', b'"format":2')
    with pytest.raises(ValueError, match="format 2"):
        Snapshot.from_json(data)


@pytest.mark.parametrize("value", [1.5, {1, 2}, [1]])
def test_what_is_not_exact_or_not_ordered_has_no_bytes(value: object) -> None:
    with pytest.raises(TypeError, match="no canonical form"):
        codec.to_json(value)


def test_of_takes_rows_from_any_iterable() -> None:
    snapshot = rich().snapshot()
    assert Snapshot.of(at_ms=snapshot.at_ms, hosts=iter(snapshot.hosts)).hosts == snapshot.hosts
