"""The price of a job per hour."""

from jobs.scheduler.price import price_per_hour
from jobs.scheduler.snapshot import WHOLE_DEVICE, Rate
from tests.scenarios.given import CARDS, CPU, GIB, MEMORY, a_lab, alternative, lines

RATES = [Rate(CARDS, 12_000_000, WHOLE_DEVICE), Rate(CPU, 100_000, 1000), Rate(MEMORY, 10_001, GIB)]


def test_the_price_is_the_exact_sum_over_all_lines() -> None:
    assert price_per_hour(lines(cards=2, cores=4, gib=16), RATES) == 24_000_000 + 400_000 + 160_016


def test_a_third_of_a_card_costs_a_third_and_is_rounded_once() -> None:
    assert price_per_hour(lines(cards=1 / 3), RATES) == 4_000_000
    assert price_per_hour(lines(gib=0.5), RATES) == 5_001  # 5,000.5
    assert price_per_hour(lines(gib=0.25), RATES) == 2_500  # 2,500.25


def test_unrated_is_not_free() -> None:
    assert price_per_hour(lines(cards=1, cores=1), RATES[1:]) is None
    assert price_per_hour(lines(cores=1), RATES[1:]) == 100_000


def test_the_price_counts_every_replica_and_is_told_now_and_while_waiting() -> None:
    given = a_lab().rate(CARDS, 12_000_000, WHOLE_DEVICE).rate(CPU, 1, 1000).rate(MEMORY, 1, GIB)
    outcome = given.job("a", 2, replicas=3).job("b", 4).when_the_cycle_runs()
    assert outcome.admitted("a").price_micro_per_hour == 72_000_006
    assert outcome.waiting("b").price_micro_per_hour == 48_000_002


def test_a_job_that_names_no_class_gets_the_cheapest_that_fits() -> None:
    given = a_lab().device_class("old").device_class("gift").host("m1", 4, of="old").host("g1", 4, of="gift")
    given.rate(CARDS, 9, 1).rate(CPU, 1, 1000).rate(MEMORY, 1, GIB)
    given.rate(lines(1, of="old")[0].axis, 2, 1)  # gift has no price: not known to be cheap
    ways = tuple(alternative(of, cards=4, cores=1, gib=1, of=of) for of in ("a100", "gift", "old"))
    for name in ("first", "second", "third"):
        given.job(name, alternatives=ways, cheapest_first=True)
    outcome = given.when_the_cycle_runs()
    assert [outcome.admitted(name).alternative for name in ("first", "second", "third")] == ["old", "a100", "a100"]


def test_a_job_that_names_its_classes_gets_them_in_its_own_order() -> None:
    given = a_lab().device_class("old").host("m1", 4, of="old").rate(CARDS, 9, 1).rate(lines(1, of="old")[0].axis, 1, 1)
    given.job("picky", alternatives=(alternative("new", cards=1), alternative("old", cards=1, of="old")))
    assert given.when_the_cycle_runs().admitted("picky").alternative == "new"
