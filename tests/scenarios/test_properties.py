"""What holds of every pass, on random worlds."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jobs.reasons import Kind
from jobs.scheduler.cycle import cycle, evaluate_one
from jobs.scheduler.decision import Admit, CycleResult, Expire, Never, Wait
from jobs.scheduler.rules import Rules
from jobs.scheduler.snapshot import Snapshot, WaitingJob
from tests.scenarios.given import applied
from tests.scenarios.worlds import QUICK, only, overdrawn, overfull, snapshots

few = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
EXACT = Rules(forecast_steps=100)


def admits(result: CycleResult) -> list[Admit]:
    return [decision for decision in result.decisions if isinstance(decision, Admit)]


def jobs_of(snapshot: Snapshot) -> dict[str, WaitingJob]:
    return {job.key: job for job in snapshot.waiting}


@few
@given(snapshots(pod_sets=2))
def test_no_host_and_no_device_is_given_out_twice(snapshot: Snapshot) -> None:
    assert overfull(snapshot) == []
    assert overfull(applied(snapshot, cycle(snapshot, QUICK))) == []


@few
@given(snapshots(pod_sets=2))
def test_no_quota_is_passed_at_any_level(snapshot: Snapshot) -> None:
    after = applied(snapshot, cycle(snapshot, QUICK))
    assert overdrawn(after) <= overdrawn(replace(snapshot, holdings=()))


@few
@given(snapshots(pod_sets=2))
def test_a_job_starts_with_all_its_replicas_in_one_cluster_or_not_at_all(snapshot: Snapshot) -> None:
    hosts = {host.key: host for host in snapshot.hosts}
    for admit in admits(cycle(snapshot, QUICK)):
        job = jobs_of(snapshot)[admit.job]
        (way,) = [way for way in job.alternatives if way.key == admit.alternative]
        assert Counter(p.pod_set for p in admit.placements) == {pods.name: pods.count for pods in way.pod_sets}
        assert {(hosts[p.host].cluster, hosts[p.host].pool) for p in admit.placements} == {(admit.cluster, admit.pool)}
        assert admit.pool in job.pools


@few
@given(snapshots(pod_sets=2))
def test_only_hosts_and_devices_that_may_be_used_are_used(snapshot: Snapshot) -> None:
    hosts = {host.key: host for host in snapshot.hosts}
    stale = {cluster.key for cluster in snapshot.clusters if cluster.stale}
    for admit in admits(cycle(snapshot, QUICK)):
        job = jobs_of(snapshot)[admit.job]
        assert admit.cluster not in stale
        for placement in admit.placements:
            host = hosts[placement.host]
            assert host.key not in job.excluded_hosts and job.host in (None, host.key)
            assert host.blocked is None or (host.trial and job.host == host.key)
            assert set(job.labels) <= set(host.labels)
            healthy = {device.key for device in host.devices if device.healthy}
            assert {share.device for share in placement.devices} <= healthy


@few
@given(snapshots(pod_sets=2))
def test_every_waiting_job_gets_exactly_one_answer(snapshot: Snapshot) -> None:
    result = cycle(snapshot, QUICK)
    assert Counter(decision.job for decision in result.decisions) == Counter(job.key for job in snapshot.waiting)
    assert result.stats.waiting == len(snapshot.waiting)
    assert result.stats.admitted == len(admits(result))


@few
@given(snapshots(pod_sets=2), st.integers(0, 2**32))
def test_the_same_facts_give_the_same_bytes_in_whatever_order_they_come(snapshot: Snapshot, seed: int) -> None:
    expected = cycle(snapshot, EXACT).to_json()
    assert cycle(Snapshot.from_json(snapshot.to_json()), EXACT).to_json() == expected
    shuffled = {}
    for name in ("hosts", "waiting", "holdings", "tenants", "cells", "grants", "pools", "classes", "clusters"):
        rows = list(getattr(snapshot, name))
        random.Random(seed).shuffle(rows)
        shuffled[name] = tuple(rows)
    assert cycle(replace(snapshot, **shuffled), EXACT).to_json() == expected


@few
@given(snapshots())
def test_a_second_pass_finds_nothing_more_to_start(snapshot: Snapshot) -> None:
    assert admits(cycle(applied(snapshot, cycle(snapshot, QUICK)), QUICK)) == []


@few
@given(snapshots())
def test_never_means_not_even_alone_on_an_empty_pool_and_wait_means_then_at_once(snapshot: Snapshot) -> None:
    for decision in cycle(snapshot, QUICK).decisions:
        (alone,) = cycle(only(snapshot, decision.job), QUICK).decisions
        if isinstance(decision, Never):
            assert not isinstance(alone, Admit)
            assert decision.why.reason.kind is Kind.NEVER
            assert all(option.reason.kind is Kind.NEVER for option in decision.why.options)
        elif isinstance(decision, Wait) and decision.position is not None:
            assert isinstance(alone, Admit)


@few
@given(snapshots(pod_sets=2))
def test_never_does_not_depend_on_what_is_held_or_out_of_service(snapshot: Snapshot) -> None:
    for decision in cycle(snapshot, QUICK).decisions:
        (alone,) = cycle(only(snapshot, decision.job), QUICK).decisions
        assert isinstance(decision, Never) == isinstance(alone, Never)


@few
@given(snapshots(pod_sets=2))
def test_every_reason_comes_with_its_facts_and_the_three_numbers(snapshot: Snapshot) -> None:
    for decision in cycle(snapshot, EXACT).decisions:
        if isinstance(decision, Admit):
            continue
        reasons = [(decision.why.reason, decision.why.facts)]
        reasons += [(option.reason, option.facts) for option in decision.why.options]
        for reason, facts in reasons:
            assert reason.required_facts <= facts.keys(), (reason, facts)
            if {"need", "have", "short_by"} & facts.keys() == {"need", "have", "short_by"}:
                assert facts["short_by"] == facts["need"] - facts["have"]
                assert facts["have"] >= 0
                assert facts["short_by"] > 0 or reason.value == "BehindOthers", (reason, facts)


@few
@given(snapshots(pod_sets=2))
def test_the_preview_of_a_job_is_what_the_cycle_decides(snapshot: Snapshot) -> None:
    decided = {decision.job: decision for decision in cycle(snapshot, EXACT).decisions}
    for job in snapshot.waiting:
        others = replace(snapshot, waiting=tuple(other for other in snapshot.waiting if other.key != job.key))
        assert evaluate_one(others, EXACT, job) == decided[job.key]
        assert evaluate_one(snapshot, EXACT, job) == decided[job.key]


@few
@given(snapshots())
def test_an_equal_job_never_overtakes(snapshot: Snapshot) -> None:
    twins = tuple(replace(job, key=f"{job.key}-twin", submitted_ms=job.submitted_ms + 1) for job in snapshot.waiting)
    result = cycle(replace(snapshot, waiting=(*snapshot.waiting, *twins)), QUICK)
    started = {admit.job for admit in admits(result)}
    assert all(key.removesuffix("-twin") in started for key in started)


@few
@given(snapshots())
def test_positions_count_the_queue_of_each_pool_without_gaps(snapshot: Snapshot) -> None:
    places: dict[str, list[int]] = {}
    totals: dict[str, set[int]] = {}
    for decision in cycle(snapshot, QUICK).decisions:
        if isinstance(decision, Wait) and decision.position is not None:
            assert decision.total is not None
            places.setdefault(decision.why.pool, []).append(decision.position)
            totals.setdefault(decision.why.pool, set()).add(decision.total)
    for pool, positions in places.items():
        expired_too = max(totals[pool])
        assert positions == sorted(positions) and set(positions) <= set(range(1, expired_too + 1))
        assert len(totals[pool]) == 1


@few
@given(snapshots())
def test_at_the_estimated_time_the_job_starts_and_not_before(snapshot: Snapshot) -> None:
    for decision in cycle(snapshot, EXACT).decisions:
        if isinstance(decision, Wait) and decision.estimate is not None:
            at = decision.estimate.earliest_ms
            admitted_ahead = [a for a in admits(cycle(snapshot, EXACT))]
            begun = applied(snapshot, cycle(snapshot, EXACT)) if admitted_ahead else snapshot
            assert isinstance(_alone_at(begun, decision.job, at, ended=at), Admit)
            if at > snapshot.at_ms:
                assert not isinstance(_alone_at(begun, decision.job, at - 1, ended=at - 1), Admit)


def _alone_at(snapshot: Snapshot, job: str, at_ms: int, ended: int) -> object:
    """The decision about one job with nobody else waiting, once all that ends by `ended` has."""
    held = tuple(
        h
        for h in snapshot.holdings
        if h.state.value != "RELEASING" and (h.state.value == "LEAKED" or h.ends_ms is None or h.ends_ms > ended)
    )
    waiting = tuple(replace(row, max_wait_ms=None) for row in snapshot.waiting if row.key == job)
    (decision,) = cycle(replace(snapshot, at_ms=at_ms, holdings=held, waiting=waiting), QUICK).decisions
    return decision


@few
@given(snapshots(pod_sets=2))
def test_only_jobs_with_a_bound_on_waiting_end_by_it(snapshot: Snapshot) -> None:
    for decision in cycle(snapshot, QUICK).decisions:
        if isinstance(decision, Expire):
            job = jobs_of(snapshot)[decision.job]
            assert job.max_wait_ms is not None
            assert snapshot.at_ms - job.submitted_ms >= job.max_wait_ms
