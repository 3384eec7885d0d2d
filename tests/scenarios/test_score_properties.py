"""What holds of placement by score, on random worlds with random records."""

from __future__ import annotations

import random
from dataclasses import replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from jobs.scheduler.cycle import cycle
from jobs.scheduler.decision import Admit, CycleResult
from jobs.scheduler.snapshot import WHOLE_DEVICE, Asked, Leftover, Snapshot
from tests.scenarios.given import applied, lines
from tests.scenarios.worlds import QUICK, overfull, snapshots

few = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
CLASSES = (("a100",), ("old",), ("a100", "old"), ("gone",))


@st.composite
def taught(draw: st.DrawFn, pod_sets: int = 1) -> Snapshot:
    """A random world with records, and with jobs that like all their alternatives equally among the others."""
    snapshot = draw(snapshots(pod_sets))
    cards = st.sampled_from((0, 0.25, 0.5, 0.9, 1, 2))
    shapes = draw(st.lists(st.tuples(cards, st.integers(0, 3), st.sampled_from(CLASSES)), min_size=1, max_size=5))
    history = {
        (classes if size else (), round(size * WHOLE_DEVICE), lines(cores=cores)): draw(st.integers(1, 9))
        for size, cores, classes in shapes
    }
    idle = {free: draw(st.integers(0, free)) for free in draw(st.sets(st.integers(0, 1000), max_size=4))}
    return replace(
        snapshot,
        waiting=tuple(replace(job, cheapest_first=draw(st.booleans())) for job in snapshot.waiting),
        history=tuple(Asked(*shape, weight) for shape, weight in history.items()),
        leftovers=tuple(Leftover(free, kept) for free, kept in idle.items()),
    )


def admits(result: CycleResult) -> list[Admit]:
    return [decision for decision in result.decisions if isinstance(decision, Admit)]


@few
@given(taught(pod_sets=2))
def test_no_host_and_no_device_is_given_out_twice(snapshot: Snapshot) -> None:
    assert overfull(applied(snapshot, cycle(snapshot, QUICK))) == []


@few
@given(taught())
def test_nothing_waits_that_fits(snapshot: Snapshot) -> None:
    assert admits(cycle(applied(snapshot, cycle(snapshot, QUICK)), QUICK)) == []


@few
@given(taught(), st.integers(0, 2**32))
def test_the_same_facts_give_the_same_bytes_in_whatever_order_they_come(snapshot: Snapshot, seed: int) -> None:
    expected = cycle(snapshot, QUICK).to_json()
    assert cycle(Snapshot.from_json(snapshot.to_json()), QUICK).to_json() == expected
    shuffled = {}
    for name in ("hosts", "waiting", "holdings", "classes", "clusters", "history", "leftovers"):
        rows = list(getattr(snapshot, name))
        random.Random(seed).shuffle(rows)
        shuffled[name] = tuple(rows)
    assert cycle(replace(snapshot, **shuffled), QUICK).to_json() == expected


@few
@given(taught())
def test_whether_a_job_alone_can_start_does_not_depend_on_records(snapshot: Snapshot) -> None:
    for job in snapshot.waiting:
        alone = replace(snapshot, waiting=(job,))
        plain = replace(alone, history=(), leftovers=())
        assert bool(admits(cycle(alone, QUICK))) == bool(admits(cycle(plain, QUICK)))
