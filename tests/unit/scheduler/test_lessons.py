"""What recorded shapes teach, by hand."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from jobs.scheduler.lessons import ONE, STEPS, Form, Kin, Lessons, forms_of, scarcity
from jobs.scheduler.snapshot import WHOLE_DEVICE, Asked, Leftover
from jobs.scheduler.waste import _DEVICES, _reduced, leftovers
from jobs.scheduler.world import World
from tests.scenarios.given import Given, lines

W = WHOLE_DEVICE
CLASSES = {"a100": W, "h100": W}
FLEET = (Kin("a100", 8, 96_000, 3), Kin("h100", 4, 32_000, 2))


def asked(weight: int, cards: float = 0, cores: float = 0, *of: str) -> Asked:
    return Asked((of or ("a100",)) if cards else (), round(cards * W), lines(cores=cores, gib=1), weight)


def test_shapes_that_differ_in_memory_alone_are_one() -> None:
    rows = [Asked(("a100",), W // 2, lines(cores=2, gib=gib), 3) for gib in (1, 2)]
    assert forms_of(rows, CLASSES) == {Form(2_000, 500, ("a100",)): 6}


def test_classes_nobody_has_are_left_out_and_shapes_of_only_such_too() -> None:
    rows = [asked(1, 1, 1, "a100", "gone"), asked(1, 1, 1, "gone"), asked(1, 0, 1)]
    assert forms_of(rows, CLASSES) == {Form(1_000, 1_000, ("a100",)): 1, Form(1_000, 0, ()): 1}


def test_the_cpu_to_keep_for_a_device_is_what_was_asked_for_on_average() -> None:
    forms = forms_of([asked(2, 0.5, 4), asked(1, 3, 20), asked(9, 0, 50)], CLASSES)
    assert Lessons(forms, FLEET).cpu_per_device == (2 * 4_000 + 20_000) * 1_000 // 4_000
    assert Lessons(forms_of([asked(9, 0, 50)], CLASSES), FLEET).cpu_per_device == 0


def test_scarce_is_what_must_go_to_few_devices() -> None:
    either = asked(3, 1, 1, "a100", "h100")
    assert scarcity(forms_of([either, asked(1, 1, 1, "h100")], CLASSES), FLEET) == {"a100": 0, "h100": 1000}
    # A thirtieth of all demand is 32/30 devices of the 32, on 8 h100.
    forms = forms_of([replace(either, weight=29), asked(1, 1, 1, "h100")], CLASSES)
    assert scarcity(forms, FLEET) == {"a100": 0, "h100": 1000 * 32 // 30 // 8}


def test_a_shape_counts_for_the_classes_whose_hosts_can_hold_it() -> None:
    forms = forms_of([asked(97, 1, 1, "a100", "h100"), asked(3, 1, 48, "a100", "h100")], CLASSES)
    assert scarcity(forms, FLEET) == {"a100": 0, "h100": 0}  # 48 cores: only a100, of which there are enough
    few = (FLEET[0]._replace(hosts=1), FLEET[1]._replace(hosts=5))
    assert scarcity(forms, few)["a100"] == 105  # 3 % of 28 devices, on 8


def test_rare_shapes_are_not_typical() -> None:
    forms = forms_of([asked(960, 0.5, 1), asked(40, 0.25, 1)], CLASSES)
    parts = Lessons(forms, FLEET).useful("a100", 0).parts.reshape(-1, STEPS + 1)
    assert parts[1, 250] == 0
    assert parts[1, 500] == 500 * ONE


def test_what_idle_devices_are_worth() -> None:
    lessons = Lessons(forms_of([asked(1, 0.5, 2), asked(1, 2, 8), asked(2, 0, 1)], CLASSES), FLEET)
    useful = lessons.useful("a100", 0)
    parts = useful.parts.reshape(-1, STEPS + 1)
    assert useful.levels.tolist() == [2_000, 8_000]
    assert [parts[rank, 500] for rank in range(3)] == [0, 500 * ONE // 4, 500 * ONE // 4]
    assert [useful.wholes[1, n] for n in range(4)] == [n * STEPS * ONE // 4 for n in range(4)]  # as shares only
    assert [useful.wholes[2, n] for n in range(4)] == [0, 250 * ONE, 1_000 * ONE, 1_500 * ONE]  # for pairs as well
    assert not lessons.useful("h100", 0).wholes.any()


def test_what_stays_idle_holds_up_to_the_next_row() -> None:
    lessons = Lessons(forms_of([asked(1, 1)], CLASSES), FLEET, (Leftover(100, 90), Leftover(300, 5)))
    assert [int(lessons.idle_for_good[at]) for at in (0, 99, 100, 299, 300, 1000)] == [0, 0, 90, 90, 5, 5]


def test_lessons_do_not_depend_on_what_is_held_or_broken() -> None:
    def world(given: Given) -> World:
        return World.of(replace(given.snapshot(), history=(asked(1, 0.5, 1),)))

    empty = Given().tenant("lab").pool("train").device_class("a100", divisible=True).host("n1", 4).host("n2", 2)
    used = Given().tenant("lab").pool("train").device_class("a100", divisible=True)
    used.host("n1", 4, broken=2, blocked="cordoned").host("n2", 2).running("r", "n2", 1, 9)
    assert world(empty).lessons is world(used).lessons


class TestLeftovers:
    """What stays idle of shared devices, tried out on paper."""

    def learnt(self, *history: Asked) -> dict[int, int]:
        given = Given().tenant("lab").pool("train").device_class("a100", divisible=True)
        given.hosts([f"n{number}" for number in range(12)], 8, 96)
        return {row.free: row.idle for row in leftovers(replace(given.snapshot(), history=history))}

    def test_nothing_is_tried_where_no_part_was_ever_asked_for(self) -> None:
        assert self.learnt() == {}
        assert self.learnt(asked(5, 1, 1), asked(5, 0, 1)) == {}

    def test_a_hole_smaller_than_all_that_arrives_stays(self) -> None:
        learnt = self.learnt(asked(1, 0.8, 1))
        assert learnt[0] == 0
        assert 190 <= learnt[200] <= 200  # a little less: half of it, before anything was seen
        assert learnt[1000] == 210  # what opening a device left on average, and a twentieth

    def test_a_hole_that_something_common_fills_is_filled(self) -> None:
        learnt = self.learnt(asked(1, 0.8, 1), asked(3, 0.2, 1))
        assert learnt[200] < 20

    def test_devices_without_cpu_stay_idle(self) -> None:
        starved, fed = (self.learnt(asked(1, 0.5, cores)) for cores in (96, 4))
        assert fed[500] < 20
        assert starved[500] > 450

    def test_the_same_history_teaches_the_same(self) -> None:
        history = (asked(5, 0.81, 6), asked(3, 0.16, 2), asked(2, 1, 8), asked(1, 0, 4))
        assert self.learnt(*history) == self.learnt(*history)

    def test_rows_are_in_order_and_within_what_is_free(self) -> None:
        learnt = self.learnt(asked(5, 0.81, 6), asked(3, 0.16, 2))
        assert list(learnt) == list(range(0, 1001, 10))
        assert all(0 <= idle <= free for free, idle in learnt.items())


def test_a_large_fleet_is_tried_as_a_small_one_of_the_same_kinds() -> None:
    fleet = (Kin("a100", 8, 96_000, 3_000), Kin("h100", 4, 32_000, 1_000))
    small = list(_reduced(fleet))
    assert sum(kin.devices * kin.hosts for kin in small) <= 2 * _DEVICES
    assert np.isclose(small[0].hosts / small[1].hosts, 3, rtol=0.02)
    assert list(_reduced(FLEET)) == [kin._replace(class_key="device") for kin in FLEET]
