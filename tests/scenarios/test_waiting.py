"""Given a job that waits, when the cycle runs, what it says: the reason, the numbers, the place and the time."""

from typing import Any

import pytest

from jobs.reasons import Reason
from jobs.scheduler.decision import Estimate, Expire, Holder
from jobs.scheduler.rules import Rules
from jobs.scheduler.snapshot import WHOLE_DEVICE, Alternative, Hold, PodSet, PriorityClass
from jobs.states import AllocationState
from tests.scenarios.given import GIB, HOUR, MINUTE, NOON, Given, a_lab, alternative, lines


def cards(facts: dict[str, Any], *names: str) -> tuple[float, ...]:
    return tuple(facts[name] / WHOLE_DEVICE for name in names)


class TestPlacement:
    def test_too_little_is_free_in_all(self) -> None:
        outcome = a_lab("n1", "n2").running("r", "n1", 8).running("s", "n2", 5).job("a", 4).when_the_cycle_runs()
        facts = outcome.facts("a")
        assert outcome.says("a") == "wait: InsufficientCapacity"
        assert cards(facts, "need", "free", "have", "short_by", "total") == (4, 3, 3, 1, 16)
        assert (facts["pool"], facts["res"]) == ("Train", "A100")

    def test_the_scarcest_amount_is_named(self) -> None:
        given = a_lab().running("r", "n1", 1, cores=60, gib=200)
        facts = given.job("a", 8, cores=8, gib=64).when_the_cycle_runs().facts("a")
        assert (facts["resource"], facts["need"], facts["have"]) == ("cpu", 8_000, 4_000)

    def test_enough_is_free_but_scattered(self) -> None:
        given = a_lab("n1", "n2", "n3").running("r", "n1", 6).running("s", "n2", 5).running("t", "n3", 8)
        outcome = given.job("a", 4).when_the_cycle_runs()
        assert outcome.says("a") == "wait: Fragmented"
        facts = outcome.facts("a")
        assert cards(facts, "free", "best", "need", "alt_need", "short_by") == (5, 3, 4, 3, 1)
        assert facts["nodes"] == 2

    def test_enough_is_free_but_not_as_whole_cards(self) -> None:
        given = a_lab(cards=4).device_class("a100", divisible=True)
        for name in "rst":
            given.running(name, "n1", 0.25)
        outcome = given.job("a", 2).when_the_cycle_runs()
        assert outcome.says("a") == "wait: NoWholeDevice"
        assert cards(outcome.facts("a"), "free", "best", "need") == (3.25, 1, 2)

    def test_each_amount_is_free_on_some_node_but_never_together(self) -> None:
        given = a_lab("n1", "n2").running("r", "n1", 8, cores=1).running("s", "n2", 1, cores=60)
        outcome = given.job("a", 2, cores=10).when_the_cycle_runs()
        assert outcome.says("a") == "wait: NoNodeFits"
        assert outcome.facts("a")["causes"] == (("cpu", 1), ("device", 1))

    def test_the_bound_on_pods_is_a_cause_of_its_own(self) -> None:
        given = Given().tenant("lab").pool("train").host("n1", 8, slots=1).running("r", "n1", 1)
        facts = given.job("a", 1).when_the_cycle_runs().facts("a")
        assert facts["causes"] == (("pods", 1),)

    def test_a_gang_says_how_many_of_it_could_start(self) -> None:
        given = a_lab("n1", "n2", "n3").running("r", "n1", 3).running("s", "n2", 3).running("t", "n3", 2)
        outcome = given.job("a", 4, replicas=4).when_the_cycle_runs()
        assert outcome.says("a") == "wait: GangIncomplete"
        assert (outcome.facts("a")["ready"], outcome.facts("a")["min"], outcome.facts("a")["short_by"]) == (3, 4, 1)

    def test_pod_sets_that_fit_alone_but_not_together_are_not_all_ready(self) -> None:
        pods = (PodSet("a", 1, lines(cards=4)), PodSet("b", 1, lines(cards=4, cores=1)))
        given = a_lab("n1", "n2").running("r", "n1", 3).running("s", "n2", 5)
        outcome = given.job("a", alternatives=(Alternative("only", pods),)).when_the_cycle_runs()
        assert outcome.says("a") == "wait: GangIncomplete"
        assert (outcome.facts("a")["ready"], outcome.facts("a")["min"]) == (1, 2)

    def test_cordoned_nodes_are_what_is_missing(self) -> None:
        given = a_lab("n1").host("n2", 8, blocked="cordoned").host("n3", 8, blocked="draining").running("r", "n1", 8)
        outcome = given.job("a", 8).when_the_cycle_runs()
        assert outcome.says("a") == "wait: NodesUnavailable"
        facts = outcome.facts("a")
        assert (facts["down"], facts["nodes"], facts["causes"]) == (2, 3, (("cordoned", 1), ("draining", 1)))

    def test_drivers_outside_the_range_of_the_runtime_are_what_is_missing(self) -> None:
        given = a_lab("n1").host("n2", 8, drivers=(("a100", ("535.1",)),)).host("n3", 8, drivers=(("a100", ("",)),))
        given.running("r", "n1", 8).running("s", "n3", 8)
        outcome = given.job("a", 8, drivers=">=550", runtime="torch").when_the_cycle_runs()
        assert outcome.says("a") == "wait: DriversOutside"
        facts = outcome.facts("a")
        assert (facts["down"], facts["nodes"], facts["runtime"]) == (1, 3, "torch")

    def test_an_unknown_driver_is_refused_only_where_the_pool_says_so(self) -> None:
        for strict, says in ((False, "now"), (True, "wait: DriversOutside")):
            given = Given().tenant("lab").pool("train")
            given.host("n1", 8, drivers=(("a100", ("",)),), known_driver_only=strict)
            assert given.job("a", 8, drivers=">=550", runtime="torch").when_the_cycle_runs().says("a") == says

    def test_broken_cards_are_what_is_missing(self) -> None:
        given = Given().tenant("lab").pool("train").host("n1", 8, broken=1).host("plain", 0)
        outcome = given.job("a", 8).when_the_cycle_runs()
        assert outcome.says("a") == "wait: NodesUnavailable"
        assert (outcome.facts("a")["nodes"], outcome.facts("a")["causes"]) == (1, (("devices", 1),))

    def test_nodes_out_of_service_are_told_before_nodes_this_job_avoids(self) -> None:
        given = a_lab("n1").host("n2", 8, blocked="cordoned").job("a", 8, excluded_hosts=("n1",))
        assert given.when_the_cycle_runs().says("a") == "wait: NodesUnavailable"

    def test_a_cordoned_node_that_is_full_anyway_is_not_the_reason(self) -> None:
        given = a_lab("n1").host("n2", 8, blocked="cordoned").running("r", "n1", 8).running("s", "n2", 8)
        outcome = given.job("a", 8).when_the_cycle_runs()
        assert outcome.says("a") == "wait: InsufficientCapacity"
        assert cards(outcome.facts("a"), "total") == (8,)

    def test_a_silent_cluster_is_the_reason_when_the_job_would_fit_there(self) -> None:
        given = a_lab("n1").cluster("edge", stale=True, observed_ms=NOON - HOUR).host("e1", 8, cluster="edge")
        outcome = given.running("r", "n1", 8).job("a", 4).when_the_cycle_runs()
        assert outcome.says("a") == "wait: StaleCluster"
        assert (outcome.facts("a")["cluster"], outcome.facts("a")["age"]) == ("EDGE", NOON - HOUR)
        assert outcome.waiting("a").position == 1

    def test_what_those_ahead_took_in_the_same_pass_is_told_as_such(self) -> None:
        outcome = a_lab().job("first", 6).job("second", 4).when_the_cycle_runs()
        assert outcome.says("second") == "wait: BehindOthers"
        assert cards(outcome.facts("second"), "need", "have", "short_by") == (4, 2, 2)
        assert outcome.waiting("second").why.holders == (Holder("first", 6 * WHOLE_DEVICE, None),)

    def test_who_holds_it_is_told_the_first_to_end_first_and_five_at_most(self) -> None:
        given = a_lab()
        given.running("endless", "n1", 1).running("late", "n1", 2, ends_in=2 * HOUR).running(
            "soon", "n1", 1, ends_in=HOUR
        )
        given.running("cpu-only", "n1", 0, ends_in=1)
        holders = given.job("a", 8).when_the_cycle_runs().waiting("a").why.holders
        assert holders == (
            Holder("soon", WHOLE_DEVICE, NOON + HOUR),
            Holder("late", 2 * WHOLE_DEVICE, NOON + 2 * HOUR),
            Holder("endless", WHOLE_DEVICE, None),
        )
        given.jobs = []
        for number in range(4):
            given.running(f"more-{number}", "n1", 1, ends_in=MINUTE)
        assert len(given.job("a", 8).when_the_cycle_runs().waiting("a").why.holders) == 5

    @pytest.mark.parametrize(
        ("ends", "last"), [((HOUR, 2 * HOUR), NOON + 2 * HOUR), ((HOUR, None), None), ((None, HOUR), None)]
    )
    def test_a_job_on_two_hosts_is_one_holder_until_its_last_end(
        self, ends: tuple[int | None, int | None], last: int | None
    ) -> None:
        given = a_lab("n1", "n2").running("wide", "n1", 3, ends_in=ends[0]).running("wide", "n2", 4, ends_in=ends[1])
        holders = given.job("a", 8).when_the_cycle_runs().waiting("a").why.holders
        assert holders == (Holder("wide", 7 * WHOLE_DEVICE, last),)


class TestQuota:
    def test_quota_is_told_before_placement(self) -> None:
        given = a_lab().quota("lab", nominal=6).running("r", "n1", 5)
        assert given.job("a", 4).when_the_cycle_runs().says("a") == "wait: QuotaFull"

    def test_quota_taken_in_the_same_pass_counts(self) -> None:
        outcome = a_lab().quota("lab", nominal=6).job("a", 4).job("b", 4).job("c", 2).when_the_cycle_runs()
        assert outcome.all() == {"a": "now", "b": "wait: QuotaFull", "c": "now"}
        assert cards(outcome.facts("b"), "used", "nominal", "need", "short_by") == (6, 6, 4, 4)

    def test_two_jobs_of_one_round_do_not_overfill_the_group(self) -> None:
        """C02: 5 cards left in a lending group of three teams, two teams ask 4 each at the same moment."""
        given = Given().pool("train", borrowing=True).hosts(("n1", "n2"), 8)
        for team, owned in (("a", 3), ("b", 3), ("c", 3)):
            given.tenant(team).quota(team, nominal=owned)
        given.running("r", "n1", 4, tenant="c")
        outcome = given.job("x", 4, tenant="a").job("y", 4, tenant="b").when_the_cycle_runs()
        assert outcome.all() == {"x": "now", "y": "wait: NothingToBorrow"}
        assert cards(outcome.facts("y"), "idle", "need") == (1, 4)

    def test_the_users_quota_is_whole_again_when_all_jobs_have_ended(self) -> None:
        """C33: no limit sticks at the size of the last session."""
        given = a_lab().quota("lab", nominal=8)
        assert given.job("again", 8).when_the_cycle_runs().says("again") == "now"

    def test_the_holders_of_a_quota_are_those_below_its_node(self) -> None:
        given = a_lab("n1", "n2").tenant("other").quota("lab", nominal=4)
        given.running("mine", "n1", 4).running("theirs", "n2", 4, tenant="other")
        holders = given.job("a", 1).when_the_cycle_runs().waiting("a").why.holders
        assert [holder.job for holder in holders] == ["mine"]

    def test_the_number_of_jobs_at_once_is_bounded_by_the_grant(self) -> None:
        given = Given().tenant("lab").tenant("inner", "lab").pool("train", granted=False).host("n1", 8)
        given.granted("lab", most_at_once=2).running("r", "n1", 1, tenant="inner")
        outcome = given.job("a", 1).job("b", 1).when_the_cycle_runs()
        assert outcome.all() == {"a": "now", "b": "wait: TooManyAtOnce"}
        assert (outcome.facts("b")["running"], outcome.facts("b")["most"]) == (2, 2)
        assert outcome.facts("b")["short_by"] == 1

    def test_a_job_over_two_hosts_is_one_job_and_a_leaked_one_is_none(self) -> None:
        given = Given().tenant("lab").pool("train", granted=False).hosts(("n1", "n2"), 8).granted("lab", most_at_once=2)
        given.running("gone", "n1", 1, state=AllocationState.LEAKED).job("wide", 5, replicas=2).job("a", 1).job("b", 1)
        assert given.when_the_cycle_runs().all() == {"wide": "now", "a": "now", "b": "wait: TooManyAtOnce"}


class TestEstimate:
    def estimate(self, given: Given, job: str = "a", steps: int = 32) -> Estimate | None:
        return given.when_the_cycle_runs(Rules(forecast_steps=steps)).waiting(job).estimate

    def test_the_job_starts_when_enough_limits_have_passed(self) -> None:
        given = a_lab().running("r", "n1", 4, ends_in=HOUR).running("s", "n1", 3, ends_in=2 * HOUR).job("a", 8)
        assert self.estimate(given) == Estimate(NOON + 2 * HOUR, NOON + 2 * HOUR)

    def test_no_time_is_told_when_a_holder_has_no_limit(self) -> None:
        assert self.estimate(a_lab().running("r", "n1", 4).running("s", "n1", 3, ends_in=1).job("a", 8)) is None

    def test_a_holder_without_a_limit_that_is_not_in_the_way_does_not_matter(self) -> None:
        given = a_lab("n1", "n2").running("r", "n1", 4).running("s", "n2", 3, ends_in=HOUR).job("a", 8)
        assert self.estimate(given) == Estimate(NOON + HOUR, NOON + HOUR)

    def test_those_behind_others_are_promised_no_latest_time(self) -> None:
        given = a_lab().running("r", "n1", 4, ends_in=HOUR).job("first", 8).job("a", 6)
        assert self.estimate(given) == Estimate(NOON + HOUR, None)

    def test_jobs_started_in_this_pass_end_at_their_limit(self) -> None:
        given = a_lab().job("now", 8, time_limit_ms=HOUR).job("a", 8)
        assert self.estimate(given) == Estimate(NOON + HOUR, NOON + HOUR)

    def test_a_job_beyond_its_limit_ends_any_moment(self) -> None:
        given = a_lab().running("r", "n1", 8, ends_in=-MINUTE).job("a", 8)
        assert self.estimate(given) == Estimate(NOON, NOON)

    def test_what_is_being_released_is_soon_free_and_what_leaked_is_not(self) -> None:
        going = a_lab().running("r", "n1", 8, state=AllocationState.RELEASING).job("a", 8)
        assert self.estimate(going) == Estimate(NOON, NOON)
        gone = a_lab().running("r", "n1", 8, state=AllocationState.LEAKED, ends_in=HOUR).job("a", 8)
        assert self.estimate(gone) is None

    def test_quota_and_the_number_of_jobs_are_waited_for_as_well(self) -> None:
        given = a_lab("n1", "n2").quota("lab", nominal=8).running("r", "n1", 8, ends_in=HOUR).job("a", 8)
        assert self.estimate(given) == Estimate(NOON + HOUR, NOON + HOUR)
        given = Given().tenant("lab").pool("train", granted=False).host("n1", 8).granted("lab", most_at_once=1)
        given.running("r", "n1", 1, ends_in=HOUR).job("a", 1)
        assert self.estimate(given) == Estimate(NOON + HOUR, NOON + HOUR)

    def test_fewer_steps_give_a_wider_window(self) -> None:
        given = a_lab()
        for number in range(8):
            given.running(f"r{number}", "n1", 1, ends_in=(number + 1) * HOUR)
        given.job("a", 6)
        assert self.estimate(given, steps=8) == Estimate(NOON + 6 * HOUR, NOON + 6 * HOUR)
        assert self.estimate(given, steps=2) == Estimate(NOON + 5 * HOUR, NOON + 8 * HOUR)
        assert self.estimate(given, steps=0) is None

    def test_a_cordoned_node_gives_no_time(self) -> None:
        given = a_lab("n1").host("n2", 8, blocked="cordoned").running("r", "n1", 8).job("a", 8)
        assert self.estimate(given) is None


class TestHeld:
    def hold(self, reason: Reason, **facts: Any) -> Hold:
        return Hold(reason, facts)

    def test_a_held_job_says_so_and_is_not_in_the_queue(self) -> None:
        hold = self.hold(Reason.APPROVAL_PENDING, role="lead", age=NOON - HOUR)
        outcome = a_lab().job("a", 1, hold=hold).job("b", 1).when_the_cycle_runs()
        assert outcome.all() == {"a": "wait: ApprovalPending", "b": "now"}
        assert outcome.facts("a") == {"role": "lead", "age": NOON - HOUR}
        assert (outcome.waiting("a").position, outcome.waiting("a").estimate) == (None, None)

    def test_a_hold_of_a_team_holds_its_projects(self) -> None:
        hold = self.hold(Reason.PROJECT_HELD, project="Team", cause="budget")
        given = Given().tenant("team", hold=hold).tenant("lab", "team").tenant("free").pool("train").host("n1", 8)
        outcome = given.job("a", 1).job("b", 1, tenant="free").when_the_cycle_runs()
        assert outcome.all() == {"a": "wait: ProjectHeld", "b": "now"}

    def test_the_nearest_hold_is_told(self) -> None:
        outer = self.hold(Reason.PROJECT_HELD, project="Team", cause="outer")
        inner = self.hold(Reason.PROJECT_HELD, project="Lab", cause="inner")
        given = Given().tenant("team", hold=outer).tenant("lab", "team", hold=inner).pool("train").host("n1", 8)
        assert given.job("a", 1).when_the_cycle_runs().facts("a")["cause"] == "inner"

    def test_a_paused_pool_holds_its_jobs_unless_another_takes_them(self) -> None:
        hold = self.hold(Reason.POOL_PAUSED, pool="Train", cause="upgrade")
        given = Given().tenant("lab").pool("train", hold=hold).pool("spare").host("n1", 8).host("s1", 8, pool="spare")
        outcome = given.job("a", 1).job("b", 1, pools=("train", "spare")).when_the_cycle_runs()
        assert outcome.all() == {"a": "wait: PoolPaused", "b": "now"}

    def test_a_failed_start_is_tried_again_only_later(self) -> None:
        given = a_lab().job("a", 1, not_before_ms=NOON + MINUTE, attempt=3).job("b", 1, not_before_ms=NOON)
        outcome = given.when_the_cycle_runs()
        assert outcome.all() == {"a": "wait: BackedOff", "b": "now"}
        assert outcome.facts("a") == {"t": NOON + MINUTE, "i": 3}

    def test_a_pool_that_is_not_granted_is_held_and_says_which_are(self) -> None:
        given = Given().tenant("lab").pool("train", granted=False).pool("spare").host("n1", 8)
        outcome = given.job("a", 1).when_the_cycle_runs()
        assert outcome.says("a") == "wait: PoolNotGranted"
        assert outcome.facts("a") == {"pool": "Train", "project": "Lab", "list": ("Spare",)}

    @pytest.mark.parametrize(
        ("bounds", "said"),
        [
            ({"starts_ms": NOON}, "now"),
            ({"starts_ms": NOON + 1}, "wait: GrantNotStarted"),
            ({"ends_ms": NOON}, "wait: PoolNotGranted"),
            ({"ends_ms": NOON + 1}, "now"),
        ],
    )
    def test_a_grant_counts_from_its_start_until_just_before_its_end(self, bounds: dict[str, int], said: str) -> None:
        given = Given().tenant("lab").pool("train", granted=False).host("n1", 8).granted("org", **bounds)
        assert given.job("a", 1).when_the_cycle_runs().says("a") == said

    def test_a_pool_where_it_waits_is_told_before_one_it_may_not_use(self) -> None:
        given = (
            Given().tenant("lab").pool("train", granted=False).pool("spare").host("n1", 8).host("s1", 8, pool="spare")
        )
        outcome = given.running("r", "s1", 8).job("a", 1, pools=("train", "spare")).when_the_cycle_runs()
        assert outcome.says("a") == "wait: InsufficientCapacity"
        assert [option.pool for option in outcome.waiting("a").why.options] == ["train", "spare"]

    def test_a_pool_it_may_not_use_is_told_before_one_where_it_never_fits(self) -> None:
        given = (
            Given().tenant("lab").pool("train").pool("spare", granted=False).host("n1", 4).host("s1", 8, pool="spare")
        )
        outcome = given.job("a", 8, pools=("train", "spare")).when_the_cycle_runs()
        assert outcome.says("a") == "wait: PoolNotGranted"
        assert (outcome.waiting("a").why.pool, outcome.waiting("a").position) == ("spare", None)

    def test_a_job_without_any_pool_asks_for_a_grant(self) -> None:
        assert a_lab().job("a", 1, pools=()).when_the_cycle_runs().says("a") == "wait: NoPool"

    def test_never_is_told_before_a_hold(self) -> None:
        hold = self.hold(Reason.APPROVAL_PENDING, role="lead", age=NOON)
        assert a_lab().job("a", 9, hold=hold).when_the_cycle_runs().says("a") == "never: AboveLargestNode"


class TestMaxWait:
    def test_a_job_that_may_not_wait_ends_when_it_cannot_start_now(self) -> None:
        given = a_lab().running("r", "n1", 8).job("a", 1, submitted_ms=NOON, max_wait_ms=0)
        decision = given.when_the_cycle_runs().of("a")
        assert isinstance(decision, Expire)
        assert (decision.why.reason, decision.why.facts) == (Reason.MAX_WAIT, {"limit": 0})
        assert decision.blocked_by.reason is Reason.INSUFFICIENT_CAPACITY

    def test_it_starts_when_it_can(self) -> None:
        assert a_lab().job("a", 1, submitted_ms=NOON, max_wait_ms=0).when_the_cycle_runs().says("a") == "now"

    @pytest.mark.parametrize(("waited", "verdict"), [(HOUR - 1, "wait"), (HOUR, "end")])
    def test_the_bound_is_counted_from_submission(self, waited: int, verdict: str) -> None:
        given = a_lab().running("r", "n1", 8).job("a", 1, submitted_ms=NOON - waited, max_wait_ms=HOUR)
        assert given.when_the_cycle_runs().of("a").verdict == verdict


def test_jobs_of_one_shape_share_one_reason_and_differ_in_place() -> None:
    given = a_lab().running("r", "n1", 8)
    for number in range(3):
        given.job(f"j{number}", 2, priority=number)
    outcome = given.when_the_cycle_runs()
    waits = [outcome.waiting(f"j{number}") for number in range(3)]
    assert all(wait.why is waits[0].why for wait in waits)
    assert [wait.position for wait in waits] == [3, 2, 1]
    assert outcome.result.stats.shapes == 1


@pytest.mark.parametrize(
    "facts",
    [
        {"tenant": "other"},
        {"pools": ("train", "spare")},
        {"priority_class": PriorityClass.PRODUCTION},
        {"time_limit_ms": 5},
        {"labels": (("a", "b"),)},
        {"excluded_hosts": ("n9",)},
        {"cheapest_first": True},
        {"alternatives": (alternative("only", cards=2, cores=1, gib=2),)},
    ],
)
def test_whatever_may_change_the_answer_makes_another_shape(facts: dict[str, Any]) -> None:
    given = a_lab().tenant("other").pool("spare").job("a", 2).job("b", 2, **facts)
    assert given.when_the_cycle_runs().result.stats.shapes == 2


def test_memory_is_told_in_bytes() -> None:
    facts = a_lab().running("r", "n1", 0, gib=255).job("a", 0, gib=2).when_the_cycle_runs().facts("a")
    assert (facts["resource"], facts["need"], facts["have"], "whole" in facts) == ("memory", 2 * GIB, GIB, False)
