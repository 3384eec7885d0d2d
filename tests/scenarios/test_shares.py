"""Given several tenants, when the cycle runs, whose turn it is."""

from __future__ import annotations

from dataclasses import replace

from jobs.scheduler.cycle import cycle
from jobs.scheduler.rules import Rules
from jobs.scheduler.snapshot import PriorityClass, Spent
from tests.scenarios.given import HOUR, NOON, Given


def two_teams(*hosts: str) -> Given:
    """Teams red and blue with one project each, on hosts of eight cards."""
    given = Given()
    for team in ("red", "blue"):
        given = given.tenant(team).tenant(f"{team}-lab", parent=team)
    return given.pool("train").hosts(hosts or ("n1",), 8)


def started(given: Given, rules: Rules | None = None) -> list[str]:
    """The jobs that start, in their turn."""
    outcome = given.when_the_cycle_runs(rules)
    return [d.job for d in outcome.result.decisions if outcome.says(d.job) == "now"]


def test_who_holds_less_goes_first() -> None:
    given = two_teams("n1", "n2").running("r", "n1", 4, tenant="red-lab")
    given.job("red", 8, tenant="red-lab", submitted_ms=NOON - 5 * HOUR).job("blue", 8, tenant="blue-lab")
    assert started(given) == ["blue"]


def test_turns_go_back_and_forth_as_shares_grow() -> None:
    given = two_teams()
    for number in range(4):
        given.job(f"red-{number}", 2, tenant="red-lab")
    for number in range(4):
        given.job(f"blue-{number}", 2, tenant="blue-lab")
    assert started(given) == ["red-0", "blue-0", "red-1", "blue-1"]


def test_the_job_at_hand_is_counted_in() -> None:
    """A large gang does not look free because its team holds nothing yet."""
    given = two_teams("n1", "n2").running("r", "n1", 1, tenant="red-lab")
    given.job("blue-gang", 5, replicas=2, tenant="blue-lab").job("red-one", 1, tenant="red-lab")
    outcome = given.when_the_cycle_runs()
    assert next(d.job for d in outcome.result.decisions) == "red-one"


def test_a_share_is_of_what_is_normally_ones_own() -> None:
    given = two_teams("n1", "n2").quota("red", nominal=12).quota("blue", nominal=4)
    given.running("r", "n1", 4, tenant="red-lab").running("b", "n2", 2, tenant="blue-lab")
    given.job("blue", 1, tenant="blue-lab", submitted_ms=NOON - HOUR).job("red", 1, tenant="red-lab")
    assert [d.job for d in given.when_the_cycle_runs().result.decisions] == ["red", "blue"]  # 5/12 against 3/4


def test_what_is_guaranteed_does_not_count() -> None:
    given = two_teams("n1", "n2").quota("red", guarantee=4, nominal=8).quota("blue", nominal=8)
    given.running("r", "n1", 4, tenant="red-lab").running("b", "n2", 2, tenant="blue-lab")
    given.job("blue", 1, tenant="blue-lab").job("red", 1, tenant="red-lab")
    assert [d.job for d in given.when_the_cycle_runs().result.decisions] == ["red", "blue"]


def test_shares_count_at_every_level_of_the_tree() -> None:
    """Blue's second project holds nothing, but its team holds more than red."""
    given = two_teams("n1", "n2").tenant("blue-new", parent="blue").running("b", "n1", 3, tenant="blue-lab")
    given.running("r", "n2", 2, tenant="red-lab")
    given.job("blue", 1, tenant="blue-new", submitted_ms=NOON - HOUR).job("red", 1, tenant="red-lab")
    assert [d.job for d in given.when_the_cycle_runs().result.decisions] == ["red", "blue"]


def test_the_largest_share_over_all_amounts_counts() -> None:
    given = two_teams("n1").running("r", "n1", 0, cores=48, tenant="red-lab")
    given.running("b", "n1", 4, tenant="blue-lab")
    given.job("red", 1, tenant="red-lab", submitted_ms=NOON - HOUR).job("blue", 1, tenant="blue-lab")
    assert [d.job for d in given.when_the_cycle_runs().result.decisions] == ["blue", "red"]


def test_between_equal_shares_who_used_less_before_goes_first() -> None:
    given = two_teams().job("red", 8, tenant="red-lab", submitted_ms=NOON - HOUR).job("blue", 8, tenant="blue-lab")
    snapshot = given.snapshot()
    assert started(given) == ["red"]
    spent = (Spent("red-lab", "train", 90), Spent("blue-lab", "train", 10))
    assert [d.job for d in cycle(replace(snapshot, spent=spent), Rules()).decisions] == ["blue", "red"]


def test_the_class_goes_before_the_share_and_the_share_before_priority() -> None:
    given = two_teams().running("r", "n1", 1, tenant="red-lab")
    given.job("red", 7, tenant="red-lab", priority_class=PriorityClass.PRODUCTION).job("blue", 7, tenant="blue-lab")
    assert started(given) == ["red"]
    given = two_teams().running("r", "n1", 1, tenant="red-lab")
    given.job("red", 7, tenant="red-lab", priority=100).job("blue", 7, tenant="blue-lab")
    assert started(given) == ["blue"]


def test_age_raises_a_job_within_its_tenant_up_to_a_bound() -> None:
    rules = Rules(aging_step_ms=HOUR, aging_cap=2)
    given = two_teams().job("urgent", 8, tenant="red-lab", priority=3, submitted_ms=NOON)
    given.job("old", 8, tenant="red-lab", priority=2, submitted_ms=NOON - 2 * HOUR)
    assert started(given, rules) == ["old"]
    given = two_teams().job("urgent", 8, tenant="red-lab", priority=3, submitted_ms=NOON)
    given.job("older", 8, tenant="red-lab", submitted_ms=NOON - 99 * HOUR)
    assert started(given, rules) == ["urgent"]


def test_a_pool_that_only_one_uses_does_not_count_in_another() -> None:
    given = two_teams().pool("other").host("m1", 8, pool="other").running("r", "m1", 8, tenant="red-lab")
    given.job("red", 8, tenant="red-lab", submitted_ms=NOON - HOUR).job("blue", 8, tenant="blue-lab")
    assert started(given) == ["red"]
