"""Given jobs that hold what another has a right to, when the cycle runs, who is stopped for it and who is not."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jobs.scheduler.cycle import cycle
from jobs.scheduler.decision import Admit, CycleResult, Preemption
from jobs.scheduler.rules import Rules
from jobs.scheduler.snapshot import PriorityClass, Running, Snapshot
from jobs.states import AllocationState
from tests.scenarios.given import HOUR, MINUTE, NOON, Given, Outcome, a_lab, applied
from tests.scenarios.worlds import overdrawn, snapshots

BEST_EFFORT, PRODUCTION = PriorityClass.BEST_EFFORT, PriorityClass.PRODUCTION


def lending(*hosts: str) -> Given:
    """Red and blue under the organisation, in a pool that lends, on hosts of eight cards."""
    return Given().tenant("red").tenant("blue").pool("train", borrowing=True).hosts(hosts or ("n1",), 8)


def stopped(outcome: Outcome) -> dict[str, tuple[str, ...]]:
    return {preemption.job: preemption.victims for preemption in outcome.result.preemptions}


def the_plan(outcome: Outcome) -> Preemption:
    (preemption,) = outcome.result.preemptions
    return preemption


class TestTakingBack:
    def test_what_is_normally_ones_own_is_taken_back_from_who_borrowed_it(self) -> None:
        given = lending().quota("red", nominal=4, ceiling=8).quota("blue", nominal=4, ceiling=8)
        given.running("r1", "n1", 4, tenant="red").running("r2", "n1", 4, tenant="red").may_stop("r1", "r2")
        outcome = given.job("blue", 4, tenant="blue").when_the_cycle_runs()
        plan = the_plan(outcome)
        assert (plan.job, plan.rule, plan.tenant, len(plan.victims), plan.hosts) == (
            "blue",
            "reclaim",
            "blue",
            1,
            ("n1",),
        )
        assert outcome.says("blue") == "wait: MakingRoom"
        assert outcome.facts("blue")["count"] == 1

    def test_no_more_than_that(self) -> None:
        """C09: the rest comes as the other's jobs end."""
        given = lending().quota("red", nominal=4, ceiling=8).quota("blue", nominal=4, ceiling=8)
        for number in range(8):
            given.running(f"r{number}", "n1", 1, tenant="red").may_stop(f"r{number}")
        outcome = given.job("blue", 6, tenant="blue").when_the_cycle_runs()
        assert stopped(outcome) == {}
        assert outcome.says("blue") == "wait: NothingToBorrow"

    def test_a_guarantee_is_had_back_whatever_shares_say(self) -> None:
        """C08: guarantee 8, in use 3, the others hold 13 by borrowing, and five are asked for."""
        given = lending("n1", "n2").quota("red", guarantee=8, nominal=8).quota("blue", nominal=8, ceiling=16)
        given.running("own", "n1", 3, tenant="red")
        for number in range(13):
            given.running(f"b{number}", "n1" if number < 5 else "n2", 1, tenant="blue").may_stop(f"b{number}")
        outcome = given.job("red", 5, tenant="red").when_the_cycle_runs()
        assert len(the_plan(outcome).victims) == 5
        assert the_plan(outcome).hosts == ("n1",)

    def test_a_group_takes_its_quota_back_for_a_member_that_has_none(self) -> None:
        """C03: best effort under the root uses everything; a member of the guaranteed group asks."""
        given = Given().tenant("best-effort").tenant("group").tenant("guaranteed", "group")
        given.pool("train", borrowing=True).host("n1", 8)
        given.quota("best-effort", nominal=0, ceiling=8).quota("group", nominal=8).quota("guaranteed", nominal=0)
        given.running("b", "n1", 8, tenant="best-effort").may_stop("b", priority_class=BEST_EFFORT)
        outcome = given.job("mine", 8, tenant="guaranteed").when_the_cycle_runs()
        assert stopped(outcome) == {"mine": ("b",)}
        assert the_plan(outcome).tenant == "group"

    def test_who_is_within_its_own_is_left_alone(self) -> None:
        given = lending("n1", "n2").quota("red", nominal=8, ceiling=16).quota("blue", nominal=4, ceiling=16)
        given.tenant("green").quota("green", nominal=4, ceiling=16)
        given.running("r", "n1", 8, tenant="red").running("b", "n2", 4, tenant="blue")
        given.running("over", "n2", 4, tenant="blue").may_stop("r", "b", "over")
        outcome = given.job("green", 4, tenant="green").when_the_cycle_runs()
        assert stopped(outcome) == {"green": ("b",)} or stopped(outcome) == {"green": ("over",)}

    def test_a_project_within_a_team_that_keeps_its_own_is_not_reached_from_outside(self) -> None:
        """It holds more than its own only because its team lends inside."""
        given = lending("n1").tenant("red-1", "red").tenant("red-2", "red")
        given.quota("red", nominal=8).quota("red-1", nominal=2, ceiling=8).quota("red-2", nominal=6).quota(
            "blue", nominal=0
        )
        given.running("r", "n1", 8, tenant="red-1").may_stop("r")
        outcome = given.job("blue", 4, tenant="blue").job("inside", 4, tenant="red-2").when_the_cycle_runs()
        assert stopped(outcome) == {"inside": ("r",)}


class TestPriority:
    def test_a_lower_priority_of_the_same_project_makes_room(self) -> None:
        given = a_lab().running("low", "n1", 8).may_stop("low", priority=1)
        assert stopped(given.job("high", 8, priority=2).when_the_cycle_runs()) == {"high": ("low",)}

    def test_not_of_another_project_nor_an_equal_one(self) -> None:
        given = (
            a_lab()
            .quota("lab", nominal=8)
            .tenant("other")
            .quota("other", nominal=8)
            .running("low", "n1", 8, tenant="other")
        )
        given.may_stop("low")
        assert stopped(given.job("high", 8, priority=99).when_the_cycle_runs()) == {}
        given = a_lab().running("equal", "n1", 8).may_stop("equal", priority=2)
        assert stopped(given.job("high", 8, priority=2).when_the_cycle_runs()) == {}

    def test_age_gives_no_right_to_stop_others(self) -> None:
        given = a_lab().running("r", "n1", 8).may_stop("r", priority=1)
        outcome = given.job("old", 8, submitted_ms=NOON - 1_000 * HOUR).when_the_cycle_runs()
        assert stopped(outcome) == {}

    def test_the_class_is_looked_at_before_the_number(self) -> None:
        given = a_lab().running("r", "n1", 8).may_stop("r", priority=99)
        assert stopped(given.job("p", 8, priority_class=PRODUCTION).when_the_cycle_runs()) == {"p": ("r",)}

    def test_best_effort_stops_nobody(self) -> None:
        given = a_lab().running("r", "n1", 8).may_stop("r", priority_class=BEST_EFFORT)
        outcome = given.job("b", 8, priority_class=BEST_EFFORT, priority=9).when_the_cycle_runs()
        assert stopped(outcome) == {}


class TestShares:
    def test_a_gang_gets_its_half_and_no_more(self) -> None:
        """C06: one team holds all eight; of gangs of 6, 5, 4 and 3 the one of four is let in, once."""
        given = Given().tenant("red").tenant("blue").pool("train").host("n1", 8)
        for number in range(8):
            given.running(f"r{number}", "n1", 1, tenant="red").may_stop(f"r{number}")
        for size in (6, 5, 4, 3):
            given.job(f"gang-{size}", size, tenant="blue", submitted_ms=NOON - size * HOUR)
        assert {job: len(victims) for job, victims in stopped(given.when_the_cycle_runs()).items()} == {"gang-4": 4}

    def test_equal_shares_stop_nobody(self) -> None:
        """C07: nobody is stopped again and again where shares are equal."""
        given = Given().tenant("red").tenant("blue").pool("train").host("n1", 8)
        given.running("r", "n1", 4, tenant="red").running("b", "n1", 4, tenant="blue").may_stop("r", "b")
        given.job("red-more", 4, tenant="red").job("blue-more", 4, tenant="blue")
        assert stopped(given.when_the_cycle_runs()) == {}


class TestChoice:
    @pytest.mark.parametrize(
        ("facts", "rules"),
        [
            ({"preemptible": False}, Rules()),
            ({"ago": 5 * MINUTE}, Rules()),
            ({"preempted": 3}, Rules()),
            ({"stopping_for": "somebody"}, Rules()),
            ({}, Rules(preempt=False)),
        ],
    )
    def test_whom_nobody_may_stop(self, facts: dict[str, object], rules: Rules) -> None:
        given = a_lab().running("r", "n1", 8).may_stop("r", **{"priority": 0, **facts})  # type: ignore[arg-type]
        assert stopped(given.job("high", 8, priority=2).when_the_cycle_runs(rules)) == {}

    def test_a_job_that_was_never_said_to_be_stoppable_is_not(self) -> None:
        assert stopped(a_lab().running("r", "n1", 8).job("high", 8, priority=2).when_the_cycle_runs()) == {}

    def test_those_on_one_host_are_stopped_and_not_those_on_many(self) -> None:
        """Eight victims on four hosts would not make room for one replica of eight cards."""
        given = a_lab("n1", "n2", "n3", "n4")
        for host in ("n1", "n2", "n3"):
            given.running(f"keep-{host}", host, 2)
        for number in range(18):
            given.running(f"r{number}", f"n{number // 6 + 1}", 1).may_stop(f"r{number}", ago=(number + 1) * HOUR)
        given.running("whole", "n4", 4).running("half", "n4", 4).may_stop("whole", "half", priority=1)
        plan = the_plan(given.job("high", 8, priority=2).when_the_cycle_runs())
        assert (plan.hosts, set(plan.victims)) == (("n4",), {"whole", "half"})

    def test_the_lowest_then_who_loses_least_goes_first(self) -> None:
        given = a_lab("n1", "n2", "n3").running("dear", "n1", 8).running("saved", "n2", 8).running("lower", "n3", 8)
        given.may_stop("dear", priority=1, ago=5 * HOUR).may_stop("lower", ago=9 * HOUR)
        given.may_stop("saved", priority=1, ago=5 * HOUR, saved_ms=NOON - MINUTE)
        outcome = given.job("one", 8, priority=2).job("two", 8, priority=2).when_the_cycle_runs()
        assert stopped(outcome) == {"one": ("lower",), "two": ("saved",)}

    def test_nobody_is_stopped_in_vain(self) -> None:
        given = a_lab("n1", "n2").running("r", "n1", 8).running("fast", "n2", 8).may_stop("r")
        assert stopped(given.job("pair", 8, replicas=2, priority=1).when_the_cycle_runs()) == {}

    def test_a_job_on_several_hosts_is_stopped_whole_and_counts_once(self) -> None:
        given = a_lab("n1", "n2").running("gang", "n1", 8).may_stop("gang")
        second = replace(given.holdings[0], allocation="alloc-gang-2", host="n2", devices=tuple(
            replace_device for replace_device in given.running("x", "n2", 8).holdings.pop().devices
        ))  # fmt: skip
        given.holdings.append(second)
        outcome = given.job("high", 8, priority=1).when_the_cycle_runs()
        assert stopped(outcome) == {"high": ("gang",)}


class TestWaitingForIt:
    def test_nobody_else_is_stopped_while_some_are_stopping(self) -> None:
        given = a_lab("n1", "n2").running("r", "n1", 8).running("s", "n2", 8)
        given.may_stop("r", stopping_for="high").may_stop("s")
        outcome = given.job("high", 8, priority=1, claims="train").when_the_cycle_runs()
        assert stopped(outcome) == {}
        assert outcome.says("high") == "wait: MakingRoom"

    def test_what_was_given_back_for_a_job_is_taken_by_no_other(self) -> None:
        given = a_lab().tenant("other").job("first", 8, tenant="other", submitted_ms=NOON - 9 * HOUR)
        outcome = given.job("high", 8, priority=1, claims="train").when_the_cycle_runs()
        assert outcome.says("high") == "now"
        assert outcome.says("first") != "now"

    def test_an_equal_job_ahead_that_may_not_have_it_does_not_block_whose_it_is(self) -> None:
        given = a_lab().job("first", 8, submitted_ms=NOON - 9 * HOUR)
        outcome = given.job("claimant", 8, claims="train").when_the_cycle_runs()
        assert outcome.says("claimant") == "now"

    def test_what_is_still_being_given_back_is_kept_too(self) -> None:
        given = a_lab("n1", "n2").running("r", "n1", 8).may_stop("r", stopping_for="high")
        given.job("high", 8, replicas=2, priority=1, claims="train").job("small", 1, time_limit_ms=MINUTE)
        outcome = given.when_the_cycle_runs()
        assert outcome.says("small") != "now"


QUICK = Rules(forecast_steps=0, min_run_ms=0, preemption_budget=1_000)
few = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


def stoppable(snapshot: Snapshot, priorities: list[int]) -> Snapshot:
    """All that hold something run since an hour and may be stopped; no holds, bounds on waiting or limits of use."""
    jobs = sorted({holding.job for holding in snapshot.holdings})
    rows = tuple(
        Running(job, PriorityClass.STANDARD, priorities[number % len(priorities)], started_ms=NOON - HOUR)
        for number, job in enumerate(jobs)
    )
    bound = tuple(replace(holding, state=AllocationState.BOUND) for holding in snapshot.holdings)
    waiting = tuple(replace(job, max_wait_ms=None, host=None) for job in snapshot.waiting)
    return replace(snapshot, running=rows, holdings=bound, waiting=waiting)


def carried_out(snapshot: Snapshot, result: CycleResult) -> Snapshot:
    """Admissions made and victims gone; who was stopped does not come back."""
    after = applied(snapshot, result)
    gone = {victim for preemption in result.preemptions for victim in preemption.victims}
    claims = {preemption.job: preemption.pool for preemption in result.preemptions}
    return replace(
        after,
        holdings=tuple(holding for holding in after.holdings if holding.job not in gone),
        running=tuple(row for row in after.running if row.job not in gone),
        waiting=tuple(replace(job, claims=claims.get(job.key, job.claims)) for job in after.waiting),
    )


@few
@given(snapshots(), st.lists(st.integers(0, 3), min_size=1, max_size=4))
def test_whoever_others_were_stopped_for_starts_when_they_are_gone(snapshot: Snapshot, priorities: list[int]) -> None:
    world = stoppable(snapshot, priorities)
    first = cycle(world, QUICK)
    claimants = {preemption.job for preemption in first.preemptions}
    second = cycle(carried_out(world, first), QUICK)
    started = {decision.job for decision in second.decisions if isinstance(decision, Admit)}
    assert claimants <= started


@few
@given(snapshots(), st.lists(st.integers(0, 3), min_size=1, max_size=4))
def test_nobody_is_stopped_twice_or_for_a_lesser_and_no_quota_is_passed(
    snapshot: Snapshot, priorities: list[int]
) -> None:
    world = stoppable(snapshot, priorities)
    result = cycle(world, QUICK)
    victims = Counter(victim for preemption in result.preemptions for victim in preemption.victims)
    assert all(count == 1 for count in victims.values())
    running = {row.job: row for row in world.running}
    waiting = {job.key: job for job in world.waiting}
    for preemption in result.preemptions:
        if preemption.rule == "priority":
            job = waiting[preemption.job]
            for victim in preemption.victims:
                other = running[victim]
                assert (job.priority_class.rank, -job.priority) < (other.priority_class.rank, -other.priority)
    after = carried_out(world, result)
    assert overdrawn(applied(after, cycle(after, QUICK))) <= overdrawn(world) | overdrawn(replace(world, holdings=()))


@few
@given(snapshots(), st.lists(st.integers(0, 3), min_size=1, max_size=4))
def test_stopping_comes_to_an_end(snapshot: Snapshot, priorities: list[int]) -> None:
    """Who was stopped waits again as it was, and may stop others by the same rules: it ends all the same."""
    world = stoppable(snapshot, priorities)
    originals = {job.key: job for job in world.waiting}
    twins = {row.job: row for row in world.running}
    for _ in range(40):
        result = cycle(world, QUICK)
        after = carried_out(world, result)
        admitted = {d.job for d in result.decisions if isinstance(d, Admit)}
        back = []
        for preemption in result.preemptions:
            for victim in preemption.victims:
                held = next(h for h in world.holdings if h.job == victim)
                like = originals.get(victim) or replace(world.waiting[0], key=victim, tenant=held.tenant)
                priority = twins[victim].priority
                back.append(replace(like, priority=priority, priority_class=twins[victim].priority_class, claims=None))
        for key in admitted:
            job = originals.get(key) or next(job for job in world.waiting if job.key == key)
            originals[key] = job
            twins[key] = Running(key, job.priority_class, job.priority, started_ms=NOON - HOUR)
        rows = {row.job: row for row in after.running} | {key: twins[key] for key in admitted}
        world = replace(
            after,
            waiting=(*after.waiting, *back),
            running=tuple(rows.values()),
            holdings=tuple(replace(h, state=AllocationState.BOUND) for h in after.holdings),
        )
        if not result.preemptions and not admitted:
            return
    raise AssertionError("jobs went on stopping each other")
