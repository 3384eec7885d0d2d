"""Free capacity: what is held, foreign, broken or overcommitted, and what one pod takes."""

import numpy as np
import pytest

from jobs.scheduler.snapshot import WHOLE_DEVICE, Axis, Device, DeviceShare, Line, Resource
from jobs.scheduler.world import MANY, World
from jobs.states import AllocationState
from tests.scenarios.given import CARDS, CPU, GIB, MEMORY, Given, a_lab, cards_of, lines

W = WHOLE_DEVICE


def room(given: Given, **demand: float) -> list[int]:
    return World.of(given.snapshot()).room(slice(None), lines(**demand)).tolist()


def free(world: World, axis: Axis, host: int = 0) -> int:
    return int(world.free[host, world.column[axis]])


def test_an_empty_host_has_all_it_offers() -> None:
    world = World.of(a_lab().snapshot())
    assert (free(world, CARDS), free(world, CPU), free(world, MEMORY)) == (8 * W, 64_000, 256 * GIB)


@pytest.mark.parametrize("state", [s for s in AllocationState if s is not AllocationState.RELEASED])
def test_all_that_is_held_is_not_free_leaks_included(state: AllocationState) -> None:
    world = World.of(a_lab().running("r", "n1", 3, 10, 20, state=state).snapshot())
    assert (free(world, CARDS), free(world, CPU), free(world, MEMORY)) == (5 * W, 54_000, 236 * GIB)


def test_room_is_that_of_the_scarcest_amount() -> None:
    assert room(a_lab(), cards=1) == [8]
    assert room(a_lab(), cards=1, cores=20) == [3]
    assert room(a_lab(), cards=1, cores=20, gib=129) == [1]
    assert room(a_lab(), cards=9) == [0]


def test_foreign_pods_and_foreign_devices_are_not_ours_to_give() -> None:
    given = Given().pool("train").host("n1", 2, 64, foreign=(Line(CPU, 60_000),))
    assert room(given, cores=3) == [1]
    (host,) = given.host_rows
    half_taken = Device("n1/0", "a100", foreign=W // 2)
    given.host_rows = [type(host)(**{**_fields(host), "devices": (half_taken, host.devices[1])})]
    assert room(given, cards=1) == [1]


def test_devices_that_others_hold_somewhere_on_a_host_are_fewer_for_us_but_might_come_back() -> None:
    def lab(cards_foreign: int) -> Given:
        return Given().tenant("lab").pool("train").host("n1", 8, 64, foreign=(Line(CARDS, cards_foreign * W),))

    assert room(lab(3), cards=1) == [5]
    assert room(lab(3).running("r", "n1", 2), cards=1) == [3]
    assert room(lab(99), cards=1) == [0]
    world = World.of(lab(3).snapshot())
    assert (free(world, CARDS), int(world.total[0, world.column[CARDS]])) == (5 * W, 8 * W)
    assert free(world.emptied(), CARDS) == 8 * W


def _fields(row: object) -> dict[str, object]:
    return {name: getattr(row, name) for name in row.__slots__}


def test_the_bound_on_pods_counts() -> None:
    given = Given().tenant("lab").pool("train").host("n1", 8, slots=3).running("r", "n1", 1)
    assert room(given, cores=0.001) == [2]
    assert World.of(a_lab().snapshot()).slots.tolist() == [MANY]


def test_overcommitted_amounts_give_no_room_and_never_a_giant_one() -> None:
    given = Given().tenant("lab").pool("train").host("n1", 2, cores=4, foreign=lines(cores=9))
    assert room(given, cores=1) == [0]
    assert room(given, cards=1) == [2]


def test_a_broken_device_that_is_held_makes_no_room_when_it_is_given_back() -> None:
    given = Given().tenant("lab").pool("train").host("n1", 2, broken=1)
    given.running("r", "n1", 2)  # on the broken device as well
    world = World.of(given.snapshot())
    assert free(world, CARDS) == 0
    world.enter(given.holdings, 1)
    assert free(world, CARDS) == W
    assert world.room(slice(None), lines(cards=1)).tolist() == [1]
    assert world.mended().room(slice(None), lines(cards=1)).tolist() == [2]


def test_mended_devices_are_as_free_as_they_were() -> None:
    given = Given().tenant("lab").pool("train").host("n1", 2, broken=1).running("r", "n1", 1)
    world = World.of(given.snapshot())
    assert world.room(slice(None), lines(cards=1)).tolist() == [1]
    assert world.mended().room(slice(None), lines(cards=1)).tolist() == [1]
    assert world.total[0, world.column[CARDS]] == W


def test_the_emptied_world_is_all_there_could_ever_be() -> None:
    given = Given().tenant("lab").pool("train").host("n1", 4, 8, slots=9, broken=2, foreign=lines(cores=7))
    world = World.of(given.running("r", "n1", 3, 1).snapshot()).emptied()
    assert world.room(slice(None), lines(cards=1, cores=2)).tolist() == [4]
    assert (free(world, CARDS), free(world, CPU), world.slots.tolist()) == (4 * W, 8_000, [9])


def test_devices_of_an_unknown_class_cannot_be_given() -> None:
    given = Given().pool("train").host("n1", 4, of="mystery")
    assert World.of(given.snapshot()).room(slice(None), lines(cards=1, of="mystery")).tolist() == [0]


def test_holdings_on_hosts_that_are_gone_are_passed_over() -> None:
    given = a_lab("n1", "n2").running("r", "n2", 8)
    given.host_rows = given.host_rows[:1]
    assert room(given, cards=8) == [1]


class TestShares:
    def given(self) -> Given:
        return a_lab("n1", cards=2).device_class("a100", divisible=True)

    def test_a_part_fits_as_often_as_each_device_has_it(self) -> None:
        assert room(self.given(), cards=0.4) == [4]

    def test_a_device_used_in_part_is_not_whole(self) -> None:
        given = self.given().running("r", "n1", 0.25)
        assert room(given, cards=1) == [1]
        assert room(given, cards=0.75) == [2]
        assert room(given, cards=0.76) == [1]

    def test_a_part_goes_where_it_fits_best(self) -> None:
        given = self.given().running("r", "n1", 0.5)
        world = World.of(given.snapshot())
        assert world.take(0, lines(cards=0.25)) == (DeviceShare("n1/0", W // 4),)
        assert world.take(0, lines(cards=0.5)) == (DeviceShare("n1/1", W // 2),)

    def test_no_part_of_a_class_that_is_not_divisible(self) -> None:
        assert room(a_lab("n1", cards=2), cards=0.5) == [0]

    def test_one_and_a_half_devices_cannot_be_asked_for(self) -> None:
        assert room(self.given(), cards=1.5) == [0]

    def test_a_class_may_count_its_devices_in_other_parts(self) -> None:
        given = a_lab("n1", cards=1).device_class("a100", divisible=True, whole=11)
        world = World.of(given.snapshot())
        assert world.room(slice(None), [Line(CARDS, 3)]).tolist() == [3]
        assert world.room(slice(None), [Line(CARDS, 11)]).tolist() == [1]
        assert world.room(slice(None), [Line(CARDS, W)]).tolist() == [0]


def test_whole_devices_are_given_by_key() -> None:
    world = World.of(a_lab().running("r", "n1", 1).snapshot())
    assert [share.device for share in world.take(0, lines(cards=2))] == ["n1/1", "n1/2"]


def test_giving_back_undoes_taking() -> None:
    given = a_lab("n1", "n2").device_class("a100", divisible=True).running("r", "n1", 0.5)
    world = World.of(given.snapshot())
    before = world.copy()
    for demand in (lines(2, 3, 4), lines(0.25, 1)):
        shares = world.take(0, demand)
        assert not np.array_equal(world.free, before.free)
        world.give(0, demand, shares)
        for name in ("free", "slots", "tight"):
            assert np.array_equal(getattr(world, name), getattr(before, name)), name
        assert np.array_equal(world.tables[CARDS].left, before.tables[CARDS].left)


def test_a_copy_goes_its_own_way() -> None:
    world = World.of(a_lab().snapshot())
    twin = world.copy()
    twin.take(0, lines(8))
    assert world.room(slice(None), lines(cards=8)).tolist() == [1]
    assert world.changes == [[]]


def test_hosts_of_one_pool_and_cluster_are_one_site() -> None:
    given = Given().pool("a").pool("b").cluster("edge")
    given.host("n3", pool="b").host("n1", pool="a").host("n2", pool="b", cluster="edge").host("n0", pool="b")
    world = World.of(given.snapshot())
    assert [h.name for h in world.hosts] == ["n1", "n0", "n3", "n2"]
    assert [(s.cluster, s.start, s.stop) for s in world.sites["b"]] == [("dc", 1, 3), ("edge", 3, 4)]


def test_the_tightest_host_has_fewest_devices_then_least_cpu() -> None:
    given = Given().tenant("lab").pool("train")
    given.host("n1", 2, 64).host("n2", 1, 64).host("n3", 1, 8).host("n4", 0, 640)
    order = World.of(given.snapshot()).tight.argsort().tolist()
    assert order == [3, 2, 1, 0]


def test_classes_are_counted_apart() -> None:
    given = Given().pool("train").device_class("h100").host("n1", 2).host("n2", 3, of="h100")
    assert room(given, cards=1) == [2, 0]
    assert room(given, cards=1, of="h100") == [0, 3]
    assert World.of(given.snapshot()).axes == tuple(sorted([CARDS, cards_of("h100"), CPU, MEMORY]))
    assert Axis("h100", Resource.DEVICE) in World.of(given.snapshot()).tables
