"""Given a fleet and a queue, when the cycle runs, who starts where: order, gang, placement, classes, clusters."""

import pytest

from jobs.reasons import Reason
from jobs.scheduler.decision import Wait
from jobs.scheduler.rules import Rules
from jobs.scheduler.snapshot import WHOLE_DEVICE, Alternative, DeviceShare, Line, PodSet, PriorityClass
from tests.scenarios.given import CARDS, HOUR, NOON, Given, a_lab, alternative, applied, lines

PASSING = Rules(reserve=False)
"""Nothing is kept for whom cannot start, where that is not what a scenario is about."""


class TestOrder:
    def test_the_class_goes_before_everything_else(self) -> None:
        given = a_lab()
        given.job("old-batch", 8, priority=99, priority_class=PriorityClass.BEST_EFFORT)
        given.job("research", 8, priority=99)
        given.job("product", 8, priority_class=PriorityClass.PRODUCTION)
        given.job("service", 8, priority_class=PriorityClass.RESERVED)
        given.job("system", 8, priority_class=PriorityClass.SYSTEM)
        outcome = given.when_the_cycle_runs()
        assert [d.job for d in outcome.result.decisions] == ["system", "service", "product", "research", "old-batch"]
        assert [name for name, said in outcome.all().items() if said == "now"] == ["system"]

    def test_within_a_class_priority_goes_before_time_and_time_before_key(self) -> None:
        given = a_lab().job("late", 8, priority=1).job("early", 8)
        given.job("b", 8, submitted_ms=NOON - 2 * HOUR).job("a", 8, submitted_ms=NOON - 2 * HOUR)
        outcome = given.when_the_cycle_runs()
        assert [d.job for d in outcome.result.decisions] == ["late", "a", "b", "early"]

    def test_a_smaller_job_passes_one_that_cannot_start(self) -> None:
        given = a_lab().running("r", "n1", 4, ends_in=HOUR)
        outcome = given.job("large", 8).job("small", 4, time_limit_ms=HOUR).when_the_cycle_runs()
        assert outcome.says("large") == "wait: InsufficientCapacity"
        assert outcome.says("small") == "now"

    def test_the_queue_numbers_only_those_who_stay_in_it(self) -> None:
        given = a_lab().pool("other").host("m1", 8, pool="other").running("r", "n1", 8).running("s", "m1", 8)
        given.job("first", 2).job("elsewhere", 1, pools=("other",)).job("second", 1).job("never", 9)
        given.job("both", 1, pools=("train", "other"))
        outcome = given.when_the_cycle_runs()
        places = {d.job: (d.position, d.total) for d in outcome.result.decisions if isinstance(d, Wait)}
        assert places == {"first": (1, 3), "elsewhere": (1, 1), "second": (2, 3), "both": (3, 3)}


class TestGang:
    def test_all_replicas_start_together_or_none(self) -> None:
        given = a_lab("n1", "n2").running("r", "n2", 1)
        outcome = given.job("gang", 8, replicas=2).job("pair", 7, replicas=2).when_the_cycle_runs(PASSING)
        assert outcome.says("gang") == "wait: InsufficientCapacity"
        assert sorted(outcome.hosts("pair")) == ["n1", "n2"]

    def test_a_job_of_two_pod_sets_starts_whole(self) -> None:
        pods = (PodSet("master", 1, lines(cores=60)), PodSet("workers", 2, lines(cards=4, cores=30)))
        job = Alternative("only", pods)
        outcome = a_lab("n1", "n2").job("trainer", alternatives=(job,)).when_the_cycle_runs()
        placed = outcome.admitted("trainer").placements
        assert [(p.pod_set, p.replica) for p in placed] == [("master", 0), ("workers", 0), ("workers", 1)]
        assert {p.host for p in placed if p.pod_set == "workers"} == {"n1"} != {placed[0].host}

    def test_the_pod_sets_are_tried_in_another_order_before_giving_up(self) -> None:
        # One card and 40 cores, or no card and 30: card replicas first would take the host the other needs.
        pods = (PodSet("cards", 1, lines(cards=1, cores=10)), PodSet("cores", 1, lines(cores=60)))
        given = Given().tenant("lab").pool("train").host("big", 1, 64).host("small", 2, 16)
        given.job("mixed", alternatives=(Alternative("only", pods),))
        assert given.when_the_cycle_runs().hosts("mixed") == ["small", "big"]

    def test_one_pod_set_that_does_not_fit_leaves_nothing_taken(self) -> None:
        pods = (PodSet("a", 1, lines(cards=8)), PodSet("b", 1, lines(cards=8)))
        given = a_lab("n1", "n2").running("r", "n2", 1)
        outcome = (
            given.job("both", alternatives=(Alternative("only", pods),)).job("one", 8).when_the_cycle_runs(PASSING)
        )
        assert outcome.says("both") == "wait: InsufficientCapacity"
        assert outcome.hosts("one") == ["n1"]

    def test_a_gang_stays_in_one_cluster(self) -> None:
        given = a_lab("n1").cluster("edge").host("e1", 8, cluster="edge").host("e2", 8, cluster="edge")
        outcome = given.job("gang", 8, replicas=2).when_the_cycle_runs()
        assert (outcome.admitted("gang").cluster, outcome.hosts("gang")) == ("edge", ["e1", "e2"])

    def test_finished_groups_count_nothing(self) -> None:
        """C13: a new group starts however many have ended before it; they hold nothing, so they are not here."""
        assert a_lab().job("new", 8).when_the_cycle_runs().says("new") == "now"


class TestPlacement:
    def test_the_host_with_fewest_free_cards_that_fits_is_taken(self) -> None:
        given = a_lab("n1", "n2", "n3").running("r", "n2", 5).running("s", "n3", 7)
        assert given.job("a", 2).when_the_cycle_runs().hosts("a") == ["n2"]

    def test_work_without_cards_keeps_off_hosts_that_have_some(self) -> None:
        given = Given().tenant("lab").pool("train").host("cards", 8).host("plain", 0)
        assert given.job("a", cores=8).when_the_cycle_runs().hosts("a") == ["plain"]

    def test_equal_hosts_are_taken_by_name(self) -> None:
        given = a_lab("n3", "n1", "n2").job("a", 8).job("b", 8)
        outcome = given.when_the_cycle_runs()
        assert outcome.hosts("a") + outcome.hosts("b") == ["n1", "n2"]

    def test_a_gang_uses_few_hosts(self) -> None:
        given = a_lab("n1", "n2", "n3").running("r", "n1", 6).running("s", "n2", 4)
        assert sorted(given.job("a", 1, replicas=8).when_the_cycle_runs().hosts("a")) == ["n3"] * 8

    def test_what_is_over_goes_where_it_fits_best(self) -> None:
        given = a_lab("n1", "n2", "n3").running("r", "n2", 7)
        assert sorted(given.job("a", 1, replicas=9).when_the_cycle_runs().hosts("a")) == ["n1"] * 8 + ["n2"]

    def test_a_decision_names_the_devices(self) -> None:
        given = a_lab(cards=4).running("r", "n1", 1)
        (placement,) = given.job("a", 2).when_the_cycle_runs().admitted("a").placements
        assert placement.devices == (DeviceShare("n1/1", WHOLE_DEVICE), DeviceShare("n1/2", WHOLE_DEVICE))
        assert Line(CARDS, 2 * WHOLE_DEVICE) in placement.lines

    def test_two_jobs_of_one_pass_never_get_the_same_device(self) -> None:
        given = a_lab().device_class("a100", divisible=True)
        for number in range(10):
            given.job(f"j{number}", 0.75)
        outcome = given.when_the_cycle_runs()
        given_out = [p.devices[0].device for d in outcome.result.decisions for p in getattr(d, "placements", ())]
        assert len(given_out) == len(set(given_out)) == 8

    def test_parts_of_cards_share_a_card(self) -> None:
        given = a_lab(cards=2).device_class("a100", divisible=True).job("a", 0.5).job("b", 0.5).job("c", 1)
        outcome = given.when_the_cycle_runs()
        devices = {name: outcome.admitted(name).placements[0].devices[0].device for name in "abc"}
        assert devices == {"a": "n1/0", "b": "n1/0", "c": "n1/1"}

    @pytest.mark.parametrize("fault", [{"blocked": "cordoned"}, {"broken": 8}, {"slots": 0}])
    def test_a_host_out_of_service_is_not_used(self, fault: dict[str, object]) -> None:
        given = Given().tenant("lab").pool("train").host("n1", 8, **fault).host("n2", 8)
        assert given.job("a", 1).when_the_cycle_runs().hosts("a") == ["n2"]

    def test_only_hosts_with_all_labels_are_used(self) -> None:
        given = a_lab("n1").host("n2", 8, labels=(("zone", "b"),))
        given.host("n3", 8, labels=(("arch", "arm64"), ("zone", "b")))
        outcome = given.job("a", 1, labels=(("zone", "b"), ("arch", "arm64"))).when_the_cycle_runs()
        assert outcome.hosts("a") == ["n3"]

    def test_a_host_that_failed_this_job_is_left_out_for_it_alone(self) -> None:
        given = a_lab("n1", "n2").job("again", 1, excluded_hosts=("n1",)).job("other", 1)
        outcome = given.when_the_cycle_runs()
        assert (outcome.hosts("again"), outcome.hosts("other")) == (["n2"], ["n2"])
        assert a_lab().job("a", 1, excluded_hosts=("n1",)).when_the_cycle_runs().says("a") == "wait: HostsExcluded"

    def test_a_host_on_trial_takes_the_job_that_is_pinned_to_it_and_no_other(self) -> None:
        given = a_lab("n1").host("n2", 8, blocked="Validating", trial=True).host("n3", 8, blocked="cordoned")
        given.job("trial", 8, host="n2").job("pinned", 1, host="n3").job("wide", 9).job("other", 8)
        outcome = given.when_the_cycle_runs()
        assert (outcome.hosts("trial"), outcome.hosts("other")) == (["n2"], ["n1"])
        assert (outcome.says("pinned"), outcome.facts("pinned")["nodes"]) == ("wait: NodesUnavailable", 1)

    def test_a_job_that_is_pinned_to_a_host_too_small_for_it_can_never_start(self) -> None:
        outcome = a_lab("n1").host("n2", 4).job("a", 8, host="n2").when_the_cycle_runs()
        assert outcome.says("a") == "never: AbovePoolRoom"

    def test_a_card_without_memory_beside_it_is_not_given(self) -> None:
        """C12: the node has a free card but no memory."""
        given = Given().tenant("lab").pool("train").host("n1", 8, gib=4).running("r", "n1", 1, gib=3)
        outcome = given.job("a", 1, gib=2).when_the_cycle_runs()
        assert outcome.says("a") == "wait: InsufficientCapacity"
        assert (outcome.facts("a")["resource"], outcome.facts("a")["have"]) == ("memory", 1 << 30)

    def test_a_withdrawn_card_that_is_held_leaves_nothing_free(self) -> None:
        """C22: total 8, held 8, one withdrawn: free is 0, not a giant number."""
        given = Given().tenant("lab").pool("train").host("n1", 8, broken=1).running("r", "n1", 8)
        outcome = given.job("a", 1).when_the_cycle_runs()
        assert (outcome.facts("a")["free"], outcome.facts("a")["total"]) == (0, 7 * WHOLE_DEVICE)


class TestAlternatives:
    def given(self) -> Given:
        ways = (alternative("new", 2, cards=4), alternative("old", 1, cards=8, of="old"))
        given = a_lab().device_class("old").host("m1", 8, of="old")
        return given.job("either", alternatives=ways)

    def test_the_first_way_is_taken_when_it_fits(self) -> None:
        assert self.given().when_the_cycle_runs().admitted("either").alternative == "new"

    def test_the_next_way_is_taken_when_the_first_does_not(self) -> None:
        admit = self.given().running("r", "n1", 1).when_the_cycle_runs().admitted("either")
        assert (admit.alternative, len(admit.placements)) == ("old", 1)

    def test_quota_of_the_class_really_used_is_charged(self) -> None:
        given = self.given().quota("lab", nominal=4)
        assert given.when_the_cycle_runs().admitted("either").alternative == "old"

    def test_all_ways_are_told_when_none_fits(self) -> None:
        given = self.given().running("r", "n1", 1).running("s", "m1", 1, of="old")
        why = given.when_the_cycle_runs().waiting("either").why
        assert [(o.alternative, o.reason) for o in why.options] == [
            ("new", Reason.INSUFFICIENT_CAPACITY),
            ("old", Reason.INSUFFICIENT_CAPACITY),
        ]
        assert (why.alternative, why.pool) == ("new", "train")

    def test_a_way_that_waits_is_told_before_one_that_never_can_be(self) -> None:
        ways = (alternative("huge", cards=99), alternative("fine", cards=8))
        outcome = a_lab().running("r", "n1", 1).job("a", alternatives=ways).when_the_cycle_runs()
        why = outcome.waiting("a").why
        assert (why.alternative, next(o.reason for o in why.options)) == ("fine", Reason.ABOVE_LARGEST_NODE)

    def test_pools_are_tried_in_order(self) -> None:
        given = a_lab().pool("spare").host("s1", 8, pool="spare").running("r", "n1", 8)
        admit = given.job("a", 1, pools=("train", "spare")).when_the_cycle_runs().admitted("a")
        assert admit.pool == "spare"


def test_after_the_pass_nothing_is_left_that_a_second_pass_would_start() -> None:
    given = a_lab("n1", "n2").quota("lab", nominal=12)
    for number, cards in enumerate((8, 3, 4, 2, 1, 1)):
        given.job(f"j{number}", cards, time_limit_ms=HOUR)
    outcome = given.when_the_cycle_runs()
    again = Given(**vars(given))
    snapshot = applied(outcome.snapshot, outcome.result)
    again.jobs, again.holdings = list(snapshot.waiting), list(snapshot.holdings)
    assert "now" not in again.when_the_cycle_runs().all().values()
    assert sum(line.amount for h in snapshot.holdings for line in h.lines if line.axis == CARDS) == 12 * WHOLE_DEVICE
