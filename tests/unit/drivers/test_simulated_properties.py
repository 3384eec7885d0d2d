"""Whatever is asked of a simulated cluster and whatever goes wrong there: what is seen never contradicts itself."""

from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from portal.lib.clock import from_ms
from resources.drivers.base import (
    DriverUnavailable,
    Observation,
    Phase,
    SeenMember,
    SeenWorkload,
    Workload,
    WorkloadRejected,
)
from resources.drivers.simulated.faults import OF_CALLS, Fault, FaultKind
from resources.drivers.simulated.sqlite import SqliteStore
from tests.unit.drivers.simulated_world import SmallWorld

JOBS, ATTEMPTS = 2, 2
NODES = ("sim-a", "sim-b", "sim-c")
ENDED = (Phase.SUCCEEDED, Phase.FAILED, Phase.UNKNOWN)
RANK = {Phase.PENDING: 0, Phase.RUNNING: 1, Phase.SUCCEEDED: 2, Phase.FAILED: 2, Phase.UNKNOWN: 2}
TIMES = ("bound_at", "started_at", "ready_at", "finished_at")
LOSES = frozenset({FaultKind.VANISHED, FaultKind.NODE_DEATH})
"""Faults after which a workload may be missing from a complete list."""

which = st.tuples(st.integers(0, JOBS - 1), st.integers(1, ATTEMPTS))
spans = st.sampled_from([0, 1, 500, 3_000, 3_000, 20_000]) | st.integers(0, 20_000)
hints = st.fixed_dictionaries(
    {},
    optional={
        "duration_ms": st.none() | spans,
        "fail_ms": spans,
        "reason": st.sampled_from(["Completed", "Error", "OOMKilled", "StartFailed", "Evicted"]),
        "failing_member": st.integers(0, 2),
        "stop_ms": st.none() | st.integers(0, 5_000),
        "ready_ms": st.none() | spans,
        "bind_ms": st.sampled_from([0, 1, 500]),
        "pull_ms": spans,
        "objects_ms": st.sampled_from([0, 3_000]),
    },
)
shapes = st.fixed_dictionaries(
    {
        "nodes": st.lists(st.sampled_from(NODES), min_size=1, max_size=3).map(lambda n: tuple(dict.fromkeys(n))),
        "cards": st.integers(0, 2),
        "gang": st.booleans(),
        "serves": st.booleans(),
        "time_limit_ms": st.none() | st.integers(1, 30_000),
        "grace_ms": st.integers(0, 5_000),
        "hints": hints,
    }
)
faults = st.fixed_dictionaries(
    {
        "kind": st.sampled_from(FaultKind),
        "node": st.sampled_from(["", "", *NODES]),
        "workload": st.sampled_from(["", "", "job-0", "job-1", "j-1-a1"]),
        "chance": st.sampled_from([1_000, 1_000, 500]),
        "delay_ms": st.sampled_from([0, 0, 500, 10_000]),
        "mode": st.sampled_from(["", "final", "vanish", "objects"]),
        "starts_in": st.sampled_from([0, 0, 0, 500, 5_000]),
        "lasts": st.sampled_from([None, None, 1, 3_000, 20_000]),
    }
)
applies = st.tuples(st.just("apply"), which, shapes)
waits = st.tuples(st.just("wait"), st.sampled_from([0, 1, 1, 500, 3_000, 10_000, 40_000]), st.none())
steps = st.one_of(
    applies,
    st.tuples(st.just("stop"), which, st.sampled_from([0, 500, 5_000])),
    st.tuples(st.just("forget"), which, st.none()),
    st.tuples(st.just("inflict"), faults, st.none()),
    st.tuples(st.just("relent"), st.integers(0, 20), st.none()),
    waits,
    waits,
)
courses = st.tuples(st.lists(applies, min_size=1, max_size=3), st.lists(steps, max_size=30)).map(
    lambda c: [*c[0], *c[1]]
)


class Witness:
    """Does the steps, looks after each, and remembers what it saw and what it was promised."""

    def __init__(self, world: SmallWorld) -> None:
        self.world = world
        self.faults: list[Fault] = []
        self.applied: dict[str, Workload] = {}
        self.promised: set[str] = set()
        self.newest: dict[str, int] = {}
        self.refused_for_ever: set[str] = set()
        self.seen: dict[str, tuple[SeenMember, datetime]] = {}
        self.absent: set[str] = set()
        self.logs: dict[str, str] = {}

    def do(self, step: tuple[Any, Any, Any]) -> None:
        verb, first, second = step
        try:
            getattr(self, verb)(first, second)
        except DriverUnavailable as error:
            assert error.reason in ("StillRunning", "Unreachable", "Unanswered")
        self.look()

    def apply(self, key: tuple[int, int], shape: dict[str, Any]) -> None:
        job, attempt = key
        name = f"j-{job}-a{attempt}"
        workload = self.applied.get(name) or self._workload(job, attempt, shape)
        self.applied[name] = workload
        try:
            self.world.driver.apply(workload)
        except WorkloadRejected as error:
            assert error.reason == "FencedOut"
            self.refused_for_ever.add(name)
            return
        assert name not in self.refused_for_ever, "what is fenced out once is so for ever"
        assert attempt >= self.newest.get(workload.job_id, 0), "an older generation must not run"
        self.newest[workload.job_id] = attempt
        self.promised.add(name)

    def _workload(self, job: int, attempt: int, shape: dict[str, Any]) -> Workload:
        workload = self.world.workload(f"{job}", **shape)
        return replace(workload, name=f"j-{job}-a{attempt}", attempt_id=f"attempt-{job}-{attempt}", generation=attempt)

    def stop(self, key: tuple[int, int], grace_ms: int) -> None:
        job, attempt = key
        name = f"j-{job}-a{attempt}"
        self.world.driver.stop(name, attempt_id=f"attempt-{job}-{attempt}", grace_ms=grace_ms)

    def forget(self, key: tuple[int, int], _: None) -> None:
        job, attempt = key
        name = f"j-{job}-a{attempt}"
        was_promised = name in self.promised
        self.promised.discard(name)  # it may be forgotten even when the answer is lost
        try:
            self.world.driver.forget(name, attempt_id=f"attempt-{job}-{attempt}")
        except DriverUnavailable as error:
            if error.reason == "StillRunning" and was_promised:
                self.promised.add(name)
            raise
        if was_promised:
            self.refused_for_ever.add(name)

    def inflict(self, told: dict[str, Any], _: None) -> None:
        since = self.world.now + timedelta(milliseconds=told.pop("starts_in"))
        lasts = told.pop("lasts")
        until = None if lasts is None else since + timedelta(milliseconds=lasts)
        self.faults.append(self.world.driver.inflict(since=since, until=until, **told))

    def relent(self, number: int, _: None) -> None:
        if self.faults:
            self.world.driver.relent(self.faults[number % len(self.faults)])

    def wait(self, ms: int, _: None) -> None:
        self.world.now += timedelta(milliseconds=ms)

    # --- what must hold at every look

    def look(self) -> None:
        now = int(self.world.now.timestamp() * 1_000)
        current = [f for f in self.world.driver.store.read().faults.all if f.covers(now)]
        try:
            observation = self.world.driver.observe()
        except DriverUnavailable as error:
            assert error.reason == "Unreachable"
            assert any(f.kind is FaultKind.UNREACHABLE for f in current)
            return
        assert observation.at == self.world.now
        self._check_list(observation, current)
        for one in observation.workloads:
            assert one.name in self.applied
            for member in one.members:
                self._check_member(one, member)
        if observation.complete:
            self.absent |= self.seen.keys() - {m.uid for one in observation.workloads for m in one.members}
        self._check_devices(observation)
        self._check_logs(observation)

    def _check_list(self, observation: Observation, current: list[Fault]) -> None:
        counts = Counter(one.name for one in observation.workloads)
        if not any(f.kind is FaultKind.DUPLICATE for f in current):
            assert set(counts.values()) <= {1}
        assert len({one.name: one for one in observation.workloads}) == len(set(observation.workloads))
        partial = any(f.kind is FaultKind.PARTIAL and not f.node and not f.workload for f in current)
        sure = any(f.chance >= 1_000 for f in current if f.kind is FaultKind.PARTIAL and not f.node and not f.workload)
        assert observation.complete or partial
        assert not (observation.complete and sure)
        if observation.complete and not any(f.kind in LOSES for f in self.faults):
            assert self.promised <= counts.keys()

    def _check_member(self, one: SeenWorkload, member: SeenMember) -> None:
        now = self.world.now
        moments = [getattr(member, name) for name in TIMES]
        known = [moment for moment in moments if moment is not None]
        assert all(moment <= now for moment in known), "nothing before it happened"
        bound, started, ready, finished = moments
        order = [moment for moment in (bound, started, finished) if moment is not None]
        assert order == sorted(order)
        assert ready is None or (started is not None and started <= ready <= (finished or now))
        assert (started is None) or bound is not None
        assert (finished is not None) == (member.phase in (Phase.SUCCEEDED, Phase.FAILED))
        assert member.phase is not Phase.RUNNING or started is not None
        assert member.phase is not Phase.PENDING or started is None
        assert member.uid not in self.absent, "what is gone does not come back"
        before, at = self.seen.get(member.uid, (None, now))
        if before is not None:
            self._check_forward(before, member, at)
        self.seen[member.uid] = member, now

    def _check_forward(self, before: SeenMember, member: SeenMember, at: datetime) -> None:
        assert RANK[before.phase] <= RANK[member.phase], "phases only move forward"
        if before.phase in ENDED:
            assert member == before, "an end is final"
        for name in TIMES:
            old, new = getattr(before, name), getattr(member, name)
            assert old == new if old is not None else new is None or new >= at, f"{name} was rewritten"

    def _check_devices(self, observation: Observation) -> None:
        """No card is used by two members that run."""
        used: Counter[str] = Counter()
        for one in set(observation.workloads):
            specs = {spec.index: spec for spec in self.applied[one.name].members}
            for member in one.members:
                if member.phase is Phase.RUNNING:
                    used.update(uuid for uuids in specs[member.index].devices.values() for uuid in uuids)
        assert set(used.values()) <= {1}

    def _check_logs(self, observation: Observation) -> None:
        for one in observation.workloads[:3]:
            member = one.members[0]
            try:
                text = self.world.log(self.applied[one.name], member.index)
            except DriverUnavailable:
                continue
            assert text.startswith(self.logs.get(member.uid, "")), "what was printed stays"
            assert bool(text) == (member.started_at is not None)
            self.logs[member.uid] = text


@given(courses)
@settings(max_examples=3 * settings.default.max_examples, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_what_is_seen_never_contradicts_itself(course: list[tuple[Any, Any, Any]]) -> None:
    witness = Witness(SmallWorld())
    for step in course:
        witness.do(step)


@given(courses, st.integers(0, 19))
@settings(max_examples=settings.default.max_examples // 2, deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_on_disk_and_after_a_restart_all_is_as_in_memory(course: list[tuple[Any, Any, Any]], restart: int) -> None:
    with TemporaryDirectory() as folder:
        memory, disk = Witness(SmallWorld()), Witness(SmallWorld(SqliteStore(Path(folder))))
        for number, step in enumerate(course):
            if number == restart:
                disk.world.driver.store = SqliteStore(Path(folder))
            verb, first, second = step
            memory.do((verb, dict(first) if verb == "inflict" else first, second))
            disk.do((verb, dict(first) if verb == "inflict" else first, second))
            assert memory.seen == disk.seen
        assert _records(memory) == _records(disk)


def _records(witness: Witness) -> dict[str, Any]:
    return dict(witness.world.driver.store.read().records)


@given(courses)
@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
def test_a_driver_that_never_looked_before_sees_the_same(course: list[tuple[Any, Any, Any]]) -> None:
    """What a driver remembers of its own answers is never older than the facts."""
    witness = Witness(SmallWorld())
    for step in course:
        witness.do(step)
    fresh = SmallWorld(witness.world.driver.store)
    fresh.now = witness.world.now
    now = int(fresh.now.timestamp() * 1_000)
    if not any(f.kind in OF_CALLS and f.covers(now) for f in witness.faults):
        try:
            assert fresh.driver.observe() == witness.world.driver.observe()
        except DriverUnavailable as error:
            assert error.reason == "Unreachable"
    assert from_ms(now) == fresh.now
