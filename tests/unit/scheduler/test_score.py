"""The placement score: worked out again from its definition, kept current, and what it makes of small fleets."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import numpy as np
import pytest

from jobs.scheduler.cycle import cycle
from jobs.scheduler.fit import Fits, Scope
from jobs.scheduler.lessons import ONE, STEPS, Lessons
from jobs.scheduler.rules import Rules
from jobs.scheduler.score import Scores
from jobs.scheduler.snapshot import WHOLE_DEVICE, Asked, Leftover, Line, Snapshot
from jobs.scheduler.world import World
from tests.scenarios.given import CARDS, CPU, Given, Outcome, a_lab, alternative, cards_of, lines

W = WHOLE_DEVICE
Lefts = list[tuple[str, list[int]]]  # class and free parts of each of its devices
MODELS = ("a100", "h100")


def asked(weight: int, cards: float = 0, cores: float = 0, *of: str) -> Asked:
    plain = tuple(line for line in lines(cores=cores) if line.axis == CPU)
    return Asked((of or ("a100",)) if cards else (), round(cards * W), plain, weight)


HISTORY = (
    asked(40, 0.8, 6),
    asked(30, 0.25, 2, *MODELS),
    asked(20, 1, 10, *MODELS),
    asked(9, 4, 32, "h100"),
    asked(15, 0, 4),
)
LEFTOVERS = tuple(Leftover(free, idle) for free, idle in ((0, 0), (100, 90), (200, 180), (250, 20), (1000, 110)))


def divisible() -> Given:
    given = Given().tenant("lab").pool("train").device_class("a100", divisible=True)
    return given.device_class("h100", divisible=True)


def mixed(seed: int) -> World:
    """Hosts of two classes and of none, filled at random."""
    given = divisible()
    for number in range(3):
        given.host(f"a{number}", 4, 32).host(f"h{number}", 2, 48, of="h100").host(f"c{number}", 0, 16)
    world = World.of(replace(given.snapshot(), history=HISTORY, leftovers=LEFTOVERS))
    disturb(world, Random(seed), 12)
    return world


def disturb(world: World, chance: Random, times: int) -> None:
    for _ in range(times):
        pod = lines(chance.choice((0, 0.25, 0.5, 0.8, 1, 2)), chance.randrange(1, 9), 0, chance.choice(MODELS))
        rows = np.flatnonzero(world.room(slice(None), pod))
        if len(rows):
            world.take(int(chance.choice(rows)), pod)


class Definition:
    """The score in plain words and loops."""

    def __init__(self, world: World) -> None:
        assert world.lessons is not None
        self.world, self.lessons = world, world.lessons
        total = sum(row.weight for row in HISTORY)
        self.forms = [(row, ONE * row.weight // total) for row in HISTORY]  # none is rare enough to be left out

    def worth(self, of: str, left: list[int], cpu: int, shared: bool) -> int:
        steps = [max(parts, 0) * STEPS // W for parts in left]
        whole = steps.count(STEPS)
        worth = 0
        for row, weight in self.forms:
            need = row.devices * STEPS // W
            if of not in row.classes or sum(line.amount for line in row.lines) > cpu:
                continue
            if need <= STEPS:
                worth += weight * sum(s for s in steps if s >= need)
            elif whole * STEPS >= need:
                worth += weight * whole * STEPS
        # Of a wholly free device something only stays idle for good when shares of it are taken.
        idle = sum(int(self.lessons.idle_for_good[s]) for s in steps if shared or s < STEPS)
        return worth - 8 * ONE * idle

    def short(self, left: list[int], cpu: int) -> int:
        idle = sum(max(parts, 0) * STEPS // W for parts in left)
        return max(0, idle * self.lessons.cpu_per_device // STEPS - cpu)

    def of(self, row: int, pod: tuple[Line, ...]) -> tuple[int, int]:
        """Score, and the device a part comes from."""
        amounts = dict(pod)
        cpu = int(self.world.cpu[row])
        (of,) = [key for key in MODELS if cards_of(key) in amounts] or [None]
        if of is None:
            tables = [(k, self.world.tables[cards_of(k)]) for k in MODELS]
            lefts = [(k, t.left[row].tolist()) for k, t in tables if t.exists[row, 0]]
            return self._change(lefts, lefts, cpu, cpu - amounts[CPU], 2400, shared=False), 0
        left = self.world.tables[cards_of(of)].left[row].tolist()
        amount, after = amounts[cards_of(of)], cpu - amounts.get(CPU, 0)
        ways = [self._without(left, amount, slot) for slot in range(len(left))] if amount < W else [left[:]]
        if amount >= W:
            for slot in [slot for slot, parts in enumerate(left) if parts == W][: amount // W]:
                ways[0][slot] = 0
        shared = amount < W
        scores = [self._change([(of, left)], [(of, w)], cpu, after, 240_000, shared) if w else None for w in ways]
        best = max(score for score in scores if score is not None)
        steps = amount * STEPS // W
        return best + steps * ONE - 1200 * ONE // 1000 * self.lessons.scarce[of] * steps // 1000, scores.index(best)

    @staticmethod
    def _without(left: list[int], amount: int, slot: int) -> list[int] | None:
        return [*left[:slot], left[slot] - amount, *left[slot + 1 :]] if left[slot] >= amount else None

    def _change(self, was: Lefts, now: Lefts, cpu: int, after: int, price: int, shared: bool) -> int:
        gain = sum(self.worth(k, left, after, shared) for k, left in now)
        gain -= sum(self.worth(k, left, cpu, shared) for k, left in was)
        lefts = ([parts for _, left in was for parts in left], [parts for _, left in now for parts in left])
        short = self.short(lefts[1], after) - self.short(lefts[0], cpu)
        idle = sum(max(parts, 0) * STEPS // W for parts in lefts[1])
        best_fit = after * (80 * ONE // self.lessons.most_cpu) + idle * (80 * ONE // self.lessons.most_steps)
        return gain - best_fit - price * short


PODS = (
    *(lines(cards, cores, 0, of) for of in MODELS for cards, cores in ((0.25, 2), (0.8, 6), (0.1, 1), (1, 10), (2, 4))),
    lines(0, 4),
    lines(0, 1),
)


@pytest.mark.parametrize("seed", range(4))
def test_scores_are_those_of_the_definition(seed: int) -> None:
    world = mixed(seed)
    scores, definition = Scores(world, world.lessons or Lessons({}, ())), Definition(world)
    (site,) = world.sites["train"]
    for pod in PODS:
        rows = np.flatnonzero(world.room(slice(None), pod))
        rated = scores.rate(site, rows, pod)
        expected = [definition.of(row, pod) for row in rows.tolist()]
        assert rated.score.tolist() == [score for score, _ in expected], pod
        assert rated.slot.tolist() == [slot for _, slot in expected], pod


@pytest.mark.parametrize("seed", range(3))
def test_scores_kept_over_many_changes_are_those_made_anew(seed: int) -> None:
    world = mixed(seed)
    (site,) = world.sites["train"]
    kept, chance = Fits(world, frozenset()), Random(seed)
    for _ in range(10):
        anew = Fits(world, frozenset())
        for pod in PODS:
            was, now = kept._rating(site, pod), anew._rating(site, pod)
            assert was is not None and now is not None
            fits = kept.room(site, Scope(), pod) > 0
            assert fits.tolist() == (anew.room(site, Scope(), pod) > 0).tolist()
            assert was.score[fits].tolist() == now.score[fits].tolist()
            assert was.slot[fits].tolist() == now.slot[fits].tolist()
        disturb(world, chance, 3)


def test_without_records_nothing_is_scored() -> None:
    world = World.of(replace(divisible().host("n1", 4).snapshot(), leftovers=LEFTOVERS))
    assert world.lessons is None
    assert Fits(world, frozenset())._rating(world.sites["train"][0], lines(1)) is None


# -- what it makes of small fleets ------------------------------------------------------------------------------------


def outcome(given: Given, *history: Asked, leftovers: tuple[Leftover, ...] = ()) -> Outcome:
    snapshot: Snapshot = replace(given.snapshot(), history=history, leftovers=leftovers)
    return Outcome(snapshot, cycle(snapshot, Rules()))


def test_a_part_leaves_a_device_on_which_the_usual_part_still_fits() -> None:
    given = divisible().host("n1", 2).running("r", "n1", 0.6)  # 0.4 are left of the one, all of the other
    given.job("w", 0.3)
    assert outcome(given).admitted("w").placements[0].devices[0].device == "n1/0"  # the fullest
    usual = asked(1, 0.7, 1)
    assert outcome(given, usual).admitted("w").placements[0].devices[0].device == "n1/0"  # 0.7 fit on the other
    given = divisible().host("n1", 2).running("r", "n1", 0.6)
    given.job("w", 0.3)
    usual = asked(1, 0.4, 1)
    assert outcome(given, usual).admitted("w").placements[0].devices[0].device == "n1/1"  # 0.4 still fit on both


def test_a_hole_that_never_fills_is_not_made() -> None:
    given = divisible().host("n1", 2).running("r", "n1", 0.5)
    given.job("w", 0.25)
    never = tuple(Leftover(free, idle) for free, idle in ((0, 0), (250, 250), (260, 0), (750, 0), (1000, 0)))
    assert outcome(given, asked(1, 0.2)).admitted("w").placements[0].devices[0].device == "n1/0"
    filled = outcome(given, asked(1, 0.2), leftovers=never).admitted("w")
    assert filled.placements[0].devices[0].device == "n1/1"


def test_pods_without_devices_keep_away_from_cpu_that_idle_devices_need() -> None:
    given = a_lab("n1").host("n2", 0, 640)
    given.job("w", 0, 32)
    assert outcome(given).hosts("w") == ["n2"]  # nothing learnt: fewest devices
    given = a_lab("n1", cards=1).host("n2", 2, 640).running("r", "n2", 1)
    given.job("w", 0, 60)
    assert outcome(given, asked(1, 1, 60)).hosts("w") == ["n2"]


class TestOfClassesLikedEqually:
    """Two classes with room, and a job that may run on either."""

    def given(self, first: str, second: str, **facts: object) -> Given:
        given = divisible().host("n1", 4).host("n2", 4, of="h100")
        ways = tuple(alternative(of, cards=1, cores=4, of=of) for of in (first, second))
        return given.job("w", alternatives=ways, **facts)

    history = (asked(3, 1, 4, "h100"), asked(5, 1, 4, *MODELS))

    @pytest.mark.parametrize("order", [MODELS, MODELS[::-1]])
    def test_the_less_scarce_one_is_taken(self, order: tuple[str, str]) -> None:
        given = self.given(*order, cheapest_first=True)
        assert outcome(given, *self.history).admitted("w").alternative == "a100"
        turned = tuple(replace(row, classes=("a100",)) if len(row.classes) == 1 else row for row in self.history)
        assert outcome(given, *turned).admitted("w").alternative == "h100"

    def test_the_cheaper_one_is_taken_all_the_same(self) -> None:
        given = self.given(*MODELS, cheapest_first=True)
        given.rate(CPU, 1, 1000).rate(CARDS, 5, W).rate(cards_of("h100"), 4, W)
        given.rate(lines(gib=1)[0].axis, 1, 1 << 30)
        assert outcome(given, *self.history).admitted("w").alternative == "h100"

    @pytest.mark.parametrize("order", [MODELS, MODELS[::-1]])
    def test_a_job_with_an_order_of_its_own_keeps_it(self, order: tuple[str, str]) -> None:
        assert outcome(self.given(*order), *self.history).admitted("w").alternative == order[0]

    @pytest.mark.parametrize("order", [MODELS, MODELS[::-1]])
    def test_nothing_learnt_keeps_the_order_too(self, order: tuple[str, str]) -> None:
        assert outcome(self.given(*order, cheapest_first=True)).admitted("w").alternative == order[0]

    def test_a_class_without_room_is_passed_over(self) -> None:
        given = self.given(*MODELS, cheapest_first=True).running("r", "n1", 4)
        assert outcome(given, *self.history).admitted("w").alternative == "h100"


def test_a_gang_still_takes_few_hosts() -> None:
    given = divisible().hosts(("n1", "n2", "n3"), 4).running("r1", "n1", 2).running("r2", "n2", 2)
    given.job("w", 1, 2, replicas=4)
    assert outcome(given, *HISTORY).hosts("w") == ["n3"] * 4


def test_each_replica_of_a_gang_finds_its_device_on_the_host_as_the_one_before_left_it() -> None:
    given = divisible().host("n1", 2)
    given.job("w", 0.8, 1, replicas=2)
    placed = outcome(given, *HISTORY).admitted("w").placements
    assert sorted(share.device for placement in placed for share in placement.devices) == ["n1/0", "n1/1"]


def test_a_pod_of_parts_of_two_classes_takes_both_where_they_are() -> None:
    given = divisible().host("n1", 2)
    (host,) = given.host_rows
    both = (*host.devices, *(replace(device, key=f"{device.key}-h", class_key="h100") for device in host.devices))
    given.host_rows = [replace(host, devices=both)]
    pod = (*lines(0.5, 1), Line(cards_of("h100"), W // 4))
    way = alternative("only", cards=0.5)
    given.job("w", alternatives=(replace(way, pod_sets=(replace(way.pod_sets[0], lines=pod),)),))
    given.running("r", "n1", 0.75)
    (placement,) = outcome(given, *HISTORY).admitted("w").placements
    assert [(share.device, share.parts) for share in placement.devices] == [("n1/1", W // 2), ("n1/0-h", W // 4)]
