"""Given a job that cannot start, when the cycle runs, what is kept for it and who may pass it."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jobs.scheduler.cycle import cycle
from jobs.scheduler.decision import Admit, Reserved, Wait
from jobs.scheduler.rules import Order, Rules
from jobs.scheduler.snapshot import WHOLE_DEVICE, Holding, Snapshot
from jobs.states import AllocationState
from tests.scenarios.given import HOUR, MINUTE, NOON, Given, a_lab, applied
from tests.scenarios.worlds import snapshots

BY_TIME = Rules(order=Order.PRIORITY, aging_cap=0, forecast_steps=0)


def half_busy() -> Given:
    """Two hosts of eight cards; four of `n1` are busy for another hour, and `large` needs all eight of it."""
    lab = a_lab("n1", "n2").running("r", "n1", 4, ends_in=HOUR).running("s", "n2", 4)
    return lab.job("large", 8, time_limit_ms=HOUR)


def test_room_is_kept_for_the_first_that_cannot_start() -> None:
    wait = half_busy().when_the_cycle_runs().waiting("large")
    assert wait.reserved == Reserved("train", "dc", ("n1",), NOON + HOUR)


def test_who_ends_in_time_may_pass_and_who_does_not_may_not() -> None:
    outcome = half_busy().job("long", 4, time_limit_ms=2 * HOUR).job("short", 4, time_limit_ms=HOUR)
    says = outcome.job("later", 4, time_limit_ms=HOUR).when_the_cycle_runs()
    assert (says.says("long"), says.hosts("long")) == ("now", ["n2"])  # which is not kept
    assert (says.says("short"), says.hosts("short")) == ("now", ["n1"])
    assert says.says("later") == "wait: BehindOthers"


def test_kept_room_is_not_taken_by_a_job_that_stays_too_long_or_says_nothing() -> None:
    lab = half_busy().running("t", "n2", 4)
    outcome = lab.job("long", 4, time_limit_ms=2 * HOUR).job("silent", 4).when_the_cycle_runs()
    assert outcome.says("long") == "wait: KeptForEarlier"
    facts = outcome.facts("long")
    assert (facts["held"], facts["t"], facts["gap"]) == (8 * WHOLE_DEVICE, NOON + HOUR, HOUR)
    assert outcome.says("silent") == "wait: NoRunLimit"
    assert outcome.waiting("silent").why.kept_for == "large"


def test_what_the_kept_host_has_over_may_be_used_for_any_time() -> None:
    lab = a_lab("n1").running("r", "n1", 4, ends_in=HOUR).job("six", 6, time_limit_ms=HOUR)
    outcome = lab.job("two", 2).job("another", 2).when_the_cycle_runs()
    assert outcome.says("two") == "now"
    assert outcome.says("another") == "wait: NoRunLimit"


def test_where_nothing_says_when_it_ends_only_other_hosts_may_be_used() -> None:
    lab = a_lab("n1", "n2").running("r", "n1", 4).running("s", "n2", 5)
    outcome = lab.job("large", 8, time_limit_ms=HOUR).job("short", 4, time_limit_ms=MINUTE).when_the_cycle_runs()
    wait = outcome.waiting("large")
    assert wait.reserved is not None and wait.reserved.at_ms is None
    assert outcome.says("short") == "wait: KeptWithoutTime"


def test_what_is_being_given_back_is_not_taken_from_who_waits_for_it() -> None:
    lab = a_lab("n1").running("r", "n1", 4, state=AllocationState.RELEASING).job("large", 8)
    outcome = lab.job("small", 4, time_limit_ms=MINUTE).when_the_cycle_runs()
    assert outcome.says("small") == "wait: KeptWithoutTime"


def test_quota_is_kept_too() -> None:
    """Small jobs of the same project would otherwise use its quota up for ever."""
    lab = a_lab("n1", "n2").quota("lab", nominal=8).running("r", "n1", 4, ends_in=HOUR)
    lab.job("large", 8, time_limit_ms=HOUR).job("small", 1)
    outcome = lab.job("brief", 1, time_limit_ms=MINUTE).when_the_cycle_runs()
    assert outcome.says("large") == "wait: QuotaFull"
    assert outcome.says("small") == "wait: NoRunLimit"
    assert outcome.says("brief") == "now"


def test_a_job_keeps_room_in_one_pool_and_leaves_the_others_to_the_next() -> None:
    lab = a_lab("n1").pool("other").host("m1", 8, pool="other")
    lab.running("r", "n1", 4, ends_in=2 * HOUR).running("s", "m1", 4, ends_in=HOUR)
    lab.job("both", 8, pools=("train", "other")).job("here", 8).job("there", 8, pools=("other",))
    outcome = lab.when_the_cycle_runs()
    reserved = {key: outcome.waiting(key).reserved for key in ("both", "here", "there")}
    assert reserved["both"] == Reserved("other", "dc", ("m1",), NOON + HOUR)
    assert reserved["here"] == Reserved("train", "dc", ("n1",), NOON + 2 * HOUR)
    assert reserved["there"] is None


def test_nothing_is_kept_for_what_no_end_would_let_start() -> None:
    lab = a_lab("n1").host("n2", 8, blocked="cordoned").running("r", "n1", 4, ends_in=HOUR)
    outcome = lab.job("pair", 8, replicas=2).job("large", 8).job("small", 4).when_the_cycle_runs()
    assert outcome.waiting("pair").reserved is None
    assert outcome.waiting("large").reserved is not None
    assert outcome.says("small") == "wait: NoRunLimit"


def test_nothing_is_kept_for_a_job_that_will_not_wait() -> None:
    lab = a_lab("n1").running("r", "n1", 4, ends_in=HOUR)
    outcome = lab.job("now-or-never", 8, max_wait_ms=0).job("small", 4).when_the_cycle_runs()
    assert outcome.says("small") == "now"


few = settings(max_examples=40, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


@few
@given(snapshots())
def test_whoever_passes_leaves_the_kept_job_its_room_at_its_time(snapshot: Snapshot) -> None:
    result = cycle(snapshot, BY_TIME)
    for decision in result.decisions:
        if isinstance(decision, Wait) and decision.reserved is not None and decision.reserved.at_ms is not None:
            at = decision.reserved.at_ms
            after = applied(snapshot, result)
            left = tuple(h for h in after.holdings if not _has_ended(h, at))
            alone = tuple(replace(job, max_wait_ms=None) for job in after.waiting if job.key == decision.job)
            (answer,) = cycle(replace(after, at_ms=at, holdings=left, waiting=alone), BY_TIME).decisions
            assert isinstance(answer, Admit), (decision, answer)


def _has_ended(holding: Holding, at_ms: int) -> bool:
    if holding.state is AllocationState.LEAKED:
        return False
    return holding.state is AllocationState.RELEASING or (holding.ends_ms is not None and holding.ends_ms <= at_ms)


@few
@given(st.lists(st.tuples(st.integers(1, 6), st.integers(1, 5), st.integers(0, 3)), min_size=1, max_size=30))
def test_a_large_job_starts_by_the_first_time_it_was_told_however_many_small_ones_come(
    arrivals: list[tuple[int, int, int]],
) -> None:
    """Cards, minutes to run and minutes between two: all of them fit before it, and none delays it."""
    lab = a_lab("n1", "n2").running("r", "n1", 5, ends_in=10 * MINUTE).running("s", "n2", 7, ends_in=4 * MINUTE)
    lab.job("large", 8, replicas=2, time_limit_ms=HOUR, submitted_ms=NOON - HOUR)
    snapshot = lab.snapshot()
    promised = None
    at = NOON
    for number, (cards, minutes, gap) in enumerate(arrivals):
        job = a_lab().job(f"s{number}", cards, time_limit_ms=minutes * MINUTE, submitted_ms=at).jobs[0]
        snapshot = replace(snapshot, at_ms=at, waiting=(*snapshot.waiting, job))
        result = cycle(snapshot, BY_TIME)
        first = next(d for d in result.decisions if d.job == "large")
        if isinstance(first, Admit):
            break
        assert isinstance(first, Wait) and first.reserved is not None and first.reserved.at_ms is not None
        assert promised is None or first.reserved.at_ms <= promised
        promised = first.reserved.at_ms
        snapshot = applied(snapshot, result)
        at += gap * MINUTE
        snapshot = replace(snapshot, holdings=tuple(h for h in snapshot.holdings if not _has_ended(h, at)))
    assert promised is None or promised <= NOON + 10 * MINUTE
