"""Given a job that can never start, when the cycle runs, which maximum it meets; and that nothing else is never."""

from typing import Any

import pytest

from jobs.reasons import Reason
from jobs.scheduler.snapshot import WHOLE_DEVICE, Alternative, Axis, PodSet, PriorityClass, QuotaCell, Resource
from tests.scenarios.given import HOUR, Given, a_lab, alternative, lines


def never(given: Given, job: str = "a") -> tuple[str, dict[str, Any]]:
    outcome = given.when_the_cycle_runs()
    return outcome.says(job).removeprefix("never: "), outcome.facts(job)


def cards(facts: dict[str, Any], *names: str) -> tuple[float, ...]:
    return tuple(facts[name] / WHOLE_DEVICE for name in names)


class TestInventory:
    def test_a_replica_above_the_largest_node(self) -> None:
        said, facts = never(a_lab("n1", "n2").host("small", 4).job("a", 9))
        assert said == "AboveLargestNode"
        assert cards(facts, "need", "max", "short_by") == (9, 8, 1)

    def test_the_largest_node_counts_even_when_it_is_full_cordoned_broken_or_silent(self) -> None:
        given = Given().tenant("lab").pool("train").cluster("edge", stale=True)
        given.host("n1", 8, blocked="cordoned", broken=8, cluster="edge").running("r", "n1", 8)
        given.job("a", 8, excluded_hosts=("n1",)).job("b", 9)
        outcome = given.when_the_cycle_runs()
        assert (outcome.of("a").verdict, outcome.of("b").verdict) == ("wait", "never")

    def test_a_job_above_what_the_pool_has_in_all(self) -> None:
        said, facts = never(a_lab("n1", "n2").job("a", 8, replicas=3))
        assert said == "AbovePoolTotal"
        assert cards(facts, "need", "max") == (24, 16)

    def test_the_total_is_that_of_one_cluster(self) -> None:
        given = a_lab("n1", "n2").cluster("edge").host("e1", 8, cluster="edge")
        said, facts = never(given.job("a", 8, replicas=3))
        assert (said, *cards(facts, "max")) == ("AbovePoolTotal", 16)

    def test_a_size_that_does_not_divide_the_nodes(self) -> None:
        said, facts = never(a_lab("n1", "n2").job("a", 5, replicas=3))
        assert said == "AbovePoolRoom"
        assert (facts["ready"], facts["count"]) == (2, 3)

    def test_amounts_that_no_node_has_together(self) -> None:
        given = Given().tenant("lab").pool("train").host("cards", 8, 16).host("cores", 0, 640)
        assert never(given.job("a", 1, cores=32))[0] == "AbovePoolRoom"

    def test_pod_sets_that_fit_only_one_at_a_time(self) -> None:
        pods = (PodSet("a", 1, lines(cards=5, cores=60)), PodSet("b", 1, lines(cards=1, cores=60)))
        given = a_lab("n1").host("plain", 0, 640)
        said, facts = never(given.job("a", alternatives=(Alternative("only", pods),)))
        assert (said, facts["ready"], facts["count"]) == ("AbovePoolRoom", 1, 2)

    def test_no_node_of_the_pool_has_the_class(self) -> None:
        said, facts = never(a_lab().device_class("h100").job("a", 1, of="h100"))
        assert said == "NoHostOfClass"
        assert (facts["pool"], facts["res"]) == ("Train", "H100")
        assert never(Given().tenant("lab").pool("train").job("a", 1))[0] == "NoHostOfClass"

    def test_a_class_that_exists_nowhere(self) -> None:
        said, facts = never(a_lab().job("a", 1, of="b200"))
        assert (said, facts) == ("ClassNotFound", {"class_key": "b200"})

    def test_a_class_asked_for_as_something_it_is_not(self) -> None:
        way = Alternative("only", (PodSet("w", 1, (lines(cores=1)[0]._replace(axis=Axis("cpu", Resource.DEVICE)),)),))
        assert never(a_lab().job("a", alternatives=(way,)))[0] == "ClassNotFound"

    def test_a_pool_that_does_not_exist(self) -> None:
        assert never(a_lab().job("a", 1, pools=("gone",))) == ("PoolNotFound", {"pool": "gone"})

    def test_labels_that_no_fitting_node_carries(self) -> None:
        given = a_lab("n1").host("n2", 8, labels=(("arch", "arm64"),)).host("n3", 1, labels=(("zone", "b"),))
        said, facts = never(given.job("a", 8, labels=(("arch", "arm64"), ("zone", "b"))))
        assert said == "LabelsUnmatched"
        assert (facts["match"], facts["nodes"], facts["k"], facts["label"]) == (0, 3, 2, "arch=arm64")

    def test_labels_are_not_blamed_for_what_would_not_fit_without_them(self) -> None:
        assert never(a_lab().job("a", 9, labels=(("x", "y"),)))[0] == "AboveLargestNode"
        assert never(a_lab("n1", "n2").job("a", 5, replicas=3, labels=(("x", "y"),)))[0] == "AbovePoolRoom"

    @pytest.mark.parametrize(("amount", "divisible"), [(0.5, False), (1.5, False), (1.5, True)])
    def test_an_amount_of_cards_that_cannot_be_given(self, amount: float, divisible: bool) -> None:
        given = a_lab().device_class("a100", divisible=divisible)
        assert never(given.job("a", amount))[0] == "DeviceAmount"

    @pytest.mark.parametrize(
        ("demand", "said"),
        [
            ({"cards": 10**15}, "AboveLargestNode"),
            ({"gib": 10**21}, "AboveLargestNode"),
            ({"cards": 1, "replicas": 10**30}, "AbovePoolTotal"),
            ({"cores": 0.001, "replicas": 10**6}, "AbovePoolTotal"),
        ],
    )
    def test_hostile_amounts_are_only_too_large(self, demand: dict[str, Any], said: str) -> None:
        assert never(a_lab().job("a", alternatives=(alternative("only", **demand),)))[0] == said

    @pytest.mark.parametrize(
        "ways",
        [
            (),
            (Alternative("none", ()),),
            (alternative("zero", 0, cards=1),),
            (alternative("nothing", 1),),
            (alternative("negative", 1, cores=-1),),
            (alternative("negative-count", -1, cores=1),),
        ],
    )
    def test_a_job_for_nothing_or_less(self, ways: tuple[Alternative, ...]) -> None:
        assert never(a_lab().job("a", alternatives=ways))[0] == "EmptyDemand"


class TestRules:
    def test_above_the_ceiling(self) -> None:
        given = Given().tenant("lab").pool("train", borrowing=True).hosts(("n1", "n2"), 8).quota("lab", 0, 4, 6)
        said, facts = never(given.tenant("peer").quota("peer", nominal=8).job("a", 8))
        assert said == "AboveCeiling"
        assert cards(facts, "need", "max") == (8, 6)
        assert facts["project"] == "Lab"

    def test_above_the_normal_quota_where_the_pool_does_not_lend(self) -> None:
        said, facts = never(a_lab().quota("lab", nominal=4).job("a", 8))
        assert (said, *cards(facts, "max")) == ("BorrowingOff", 4)

    def test_the_pools_room_is_told_before_the_quota(self) -> None:
        assert never(a_lab().quota("lab", nominal=4).job("a", 9))[0] == "AboveLargestNode"

    def test_a_used_up_quota_is_a_wait(self) -> None:
        given = a_lab().quota("lab", nominal=4).running("r", "n1", 4).job("a", 4)
        assert given.when_the_cycle_runs().says("a") == "wait: QuotaFull"

    @pytest.mark.parametrize(
        ("bounds", "facts", "said"),
        [
            ({"largest_job": ((Resource.DEVICE, 7 * WHOLE_DEVICE),)}, {}, "AboveLargestJob"),
            ({"largest_job": ((Resource.DEVICE, 8 * WHOLE_DEVICE),)}, {}, "now"),
            ({"largest_job": ((Resource.CPU, 1_999),)}, {}, "AboveLargestJob"),
            ({"largest_job": ((Resource.STORAGE, 0),)}, {}, "now"),
            ({"longest_limit_ms": HOUR}, {"time_limit_ms": HOUR}, "now"),
            ({"longest_limit_ms": HOUR}, {"time_limit_ms": HOUR + 1}, "AboveLongestLimit"),
            ({"longest_limit_ms": HOUR}, {}, "TimeLimitMissing"),
            ({"priority_ceiling": PriorityClass.STANDARD}, {}, "now"),
            ({"priority_ceiling": PriorityClass.BEST_EFFORT}, {}, "AbovePriorityCeiling"),
        ],
    )
    def test_the_grant_bounds_one_job(self, bounds: dict[str, Any], facts: dict[str, Any], said: str) -> None:
        given = Given().tenant("lab").pool("train", granted=False).host("n1", 8).granted("lab", **bounds)
        outcome = given.job("a", 4, cores=1, replicas=2, **facts).when_the_cycle_runs()
        assert outcome.says("a").removeprefix("never: ") == said

    def test_the_bound_is_told_in_the_unit_of_what_it_bounds(self) -> None:
        given = a_lab().granted("lab", largest_job=((Resource.CPU, 3_000), (Resource.DEVICE, 0)))
        _, facts = never(given.job("a", 2, cores=2, replicas=2))
        assert (facts["resource"], facts["need"], facts["max"]) == ("cpu", 4_000, 3_000)
        assert never(a_lab().granted("lab", largest_job=((Resource.DEVICE, 0),)).job("a", 2))[1]["res"] == "A100"

    def test_the_nearest_grant_counts(self) -> None:
        small = ((Resource.DEVICE, WHOLE_DEVICE),)
        given = a_lab().granted("lab", largest_job=small)
        assert never(given.job("a", 2))[0] == "AboveLargestJob"
        expired = a_lab().granted("lab", largest_job=small, ends_ms=1)
        assert expired.job("a", 2).when_the_cycle_runs().says("a") == "now"

    def test_every_way_is_told(self) -> None:
        ways = (alternative("one", cards=9), alternative("two", cards=99))
        given = a_lab().pool("spare").host("s1", 4, pool="spare")
        outcome = given.job("a", alternatives=ways, pools=("train", "spare")).when_the_cycle_runs()
        decision = outcome.of("a")
        assert [(o.alternative, o.pool) for o in decision.why.options] == [  # type: ignore[union-attr]
            ("one", "train"),
            ("one", "spare"),
            ("two", "train"),
            ("two", "spare"),
        ]


def test_a_quota_cell_of_an_unknown_class_or_pool_is_a_notice_and_no_crash() -> None:
    given = a_lab().job("a", 1)
    given.cells.append(QuotaCell("lab", "gone", Axis("b200", Resource.DEVICE), nominal=0))
    outcome = given.when_the_cycle_runs()
    assert outcome.says("a") == "now"
    assert [n.reason for n in outcome.result.notices] == [Reason.CLASS_NOT_FOUND, Reason.POOL_NOT_FOUND]
