"""What a workload will do: habits of the fleet, its own parameters, and hints."""

from dataclasses import replace
from typing import Any

import pytest

from resources.drivers.base import Phase, WorkloadRejected
from resources.drivers.simulated.behaviour import BadBehaviour, behaviour_of, read_hints
from resources.drivers.simulated.chance import Span, roll
from resources.drivers.simulated.fleet import LATENCY
from tests.unit.drivers.simulated_world import SmallWorld, after, small_fleet

DURATIONS = {"training": Span(60_000, 600_000)}


def behaviour(task_type: str, *, fleet: Any = None, foretold: Any = None, **changes: Any) -> Any:
    workload = SmallWorld().workload(task_type=task_type, **changes)
    return behaviour_of(fleet or small_fleet(durations=DURATIONS), workload, foretold or {})


def test_the_same_name_always_behaves_the_same_and_another_differs() -> None:
    fleet = small_fleet(durations=DURATIONS, latency=LATENCY)
    assert behaviour("training", fleet=fleet) == behaviour("training", fleet=fleet)
    others = {behaviour("training", fleet=fleet, name=f"j-{n}-a1").duration_ms for n in range(20)}
    assert len(others) > 15 and all(60_000 <= duration <= 600_000 for duration in others)
    assert behaviour("training", fleet=replace(fleet, seed=1)) != behaviour("training", fleet=fleet)


def test_a_habitual_duration_keeps_within_the_time_limit() -> None:
    assert behaviour("training", time_limit_ms=10_000).duration_ms == 8_000


def test_a_session_lives_as_long_as_it_says_and_an_operation_repeats_as_long() -> None:
    assert behaviour("experiment", params={"time_to_live": 1_800_000}).duration_ms == 1_800_000
    assert behaviour("batch", params={"duration": 10_000}).duration_ms == 10_000


def test_a_service_runs_until_it_is_stopped() -> None:
    fleet = small_fleet(durations={"inference": Span(1, 1)})
    assert behaviour("inference", fleet=fleet, serves=True).duration_ms is None


def test_hints_count_for_more_the_nearer_they_are_to_the_workload() -> None:
    world = SmallWorld()
    told = {"duration_ms": 3, "start_ms": 3, "ready_ms": 3}
    workload = world.workload(
        hints={"duration_ms": 2, "start_ms": 2}, environment={"SIM_BEHAVIOUR": '{"duration_ms": 1}'}
    )
    found = behaviour_of(world.fleet, workload, told)
    assert (found.duration_ms, found.start_ms, found.ready_ms) == (1, 2, 3)


@pytest.mark.parametrize(
    ("hints", "reason", "code", "signal"),
    [
        ({"exit_code": 3}, "Error", 3, None),
        ({"signal": 11}, "Error", None, 11),
        ({"reason": "OOMKilled"}, "OOMKilled", None, 9),
        ({"reason": "Error"}, "Error", 1, None),
        ({"reason": "Evicted", "exit_code": 143}, "Evicted", 143, None),
        ({"reason": "Completed"}, "Completed", 0, None),
        ({"memory_bytes": 2 << 30}, "OOMKilled", None, 9),
        ({"memory_bytes": 1 << 30}, "Completed", 0, None),
        ({}, "Completed", 0, None),
    ],
)
def test_an_end_is_told_with_as_little_as_is_needed(hints: Any, reason: str, code: Any, signal: Any) -> None:
    found = behaviour("batch", foretold=hints)
    assert (found.reason, found.exit_code, found.signal) == (reason, code, signal)


@pytest.mark.parametrize(
    "hints",
    [
        {"nonsense": 1},
        {"duration_ms": -1},
        {"duration_ms": "5m"},
        {"duration_ms": True},
        {"bind_ms": None},
        {"log": [["a", 1]]},
        {"log": [[0]]},
        {"reason": 7},
        {"message": "x" * 501},
        {"duration_ms": 10**15},
    ],
)
def test_hints_that_cannot_be_understood_are_refused(hints: Any) -> None:
    with pytest.raises(BadBehaviour):
        read_hints(hints)


@pytest.mark.parametrize("text", ["{", "[]", '{"duration_ms": "soon"}'])
def test_a_workload_with_such_hints_is_rejected(text: str) -> None:
    world = SmallWorld()
    with pytest.raises(WorkloadRejected) as refusal:
        world.apply(environment={"SIM_BEHAVIOUR": text})
    assert refusal.value.reason == "InvalidBehaviour"
    assert world.driver.observe().workloads == ()


def test_so_many_in_a_thousand_fail_by_habit() -> None:
    shares = {"training": {"Error": 100, "OOMKilled": 50}}
    fleet = small_fleet(durations=DURATIONS, failures=shares)
    found = [behaviour("training", fleet=fleet, name=f"j-{n}-a1") for n in range(2_000)]
    reasons = [one.reason for one in found]
    assert 140 < reasons.count("Error") < 260 and 60 < reasons.count("OOMKilled") < 140
    assert all(one.fail_ms <= one.duration_ms for one in found if one.reason != "Completed")
    assert behaviour("batch", fleet=fleet).reason == "Completed"


def test_what_was_foretold_of_a_job_counts_from_then_on() -> None:
    world = SmallWorld()
    world.driver.foretell("job-one", duration_ms=5_000, reason="Error")
    workload = world.apply()
    world.driver.foretell("job-one", duration_ms=50_000)
    world.later(7.7)
    assert (world.member(workload).phase, world.member(workload).finished_at) == (Phase.FAILED, after(7.6))
    with pytest.raises(BadBehaviour):
        world.driver.foretell("job-one", duration=1)


def test_chance_is_even_and_a_span_keeps_its_bounds() -> None:
    counts = [0] * 10
    for number in range(5_000):
        counts[roll(1, number, of=10)] += 1
    assert all(400 < count < 600 for count in counts)
    drawn = {Span(3, 5).draw(0, number) for number in range(100)}
    assert drawn == {3, 4, 5}
