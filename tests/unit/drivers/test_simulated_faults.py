"""What can go wrong on a simulated cluster, and how it shows."""

from typing import Any

import pytest

from resources.drivers.base import WHOLE_DEVICE, DriverUnavailable, Idle, Phase, Workload
from resources.drivers.simulated.faults import FaultKind
from tests.unit.drivers.simulated_world import SmallWorld, after

SLOW_END = {"duration_ms": 60_000}


def running(world: SmallWorld, **changes: Any) -> Workload:
    """One that runs since 0.4 s."""
    workload = world.apply(**{"hints": SLOW_END, **changes})
    world.later(3)
    assert {m.phase for m in world.members(workload)} == {Phase.RUNNING}
    return workload


def test_starts_are_slow_while_it_lasts() -> None:
    world = SmallWorld()
    fault = world.driver.inflict(FaultKind.SLOW_START, delay_ms=20_000)
    slow = world.apply("slow")
    world.later(1)
    world.driver.relent(fault)
    world.later(1)
    usual = world.apply("usual", nodes=("sim-b",))
    world.later(60)
    assert world.member(slow).started_at == after(22.6)
    assert world.member(usual).started_at == after(4.6)


def test_starts_wait_for_the_end_of_the_fault() -> None:
    world = SmallWorld()
    world.driver.inflict(FaultKind.NEVER_STARTS, workload="job-one", until=after(100))
    workload = world.apply()
    world.later(99)
    assert world.member(workload).phase is Phase.PENDING
    world.later(1.5)
    assert world.member(workload).started_at == after(100.5)


def test_a_service_is_not_ready_before_the_end_of_the_fault() -> None:
    world = SmallWorld()
    fault = world.driver.inflict(FaultKind.NEVER_READY, workload="j-one-a1")
    workload = world.apply(serves=True)
    world.later(1_000)
    assert (world.member(workload).phase, world.member(workload).ready_at) == (Phase.RUNNING, None)
    world.driver.relent(fault)
    world.later(1)
    assert world.member(workload).ready_at == after(1_000.001)


def test_an_image_that_cannot_be_pulled_is_tried_again_in_the_clusters_words() -> None:
    world = SmallWorld()
    fault = world.driver.inflict(FaultKind.IMAGE_FAILURE, node="sim-a")
    workload = world.apply()
    world.later(2.1)
    assert (world.member(workload).phase, world.member(workload).reason) == (Phase.PENDING, "ErrImagePull")
    world.later(10)
    assert world.member(workload).reason == "ImagePullBackOff"
    world.driver.relent(fault)
    world.later(3)
    assert world.member(workload).phase is Phase.RUNNING


def test_an_image_that_will_never_be_there_fails_the_start() -> None:
    world = SmallWorld()
    world.driver.inflict(FaultKind.IMAGE_FAILURE, mode="final")
    workload = world.apply()
    world.later(2.1)
    member = world.member(workload)
    assert (member.phase, member.reason, member.started_at) == (Phase.FAILED, "StartFailed", None)
    assert "ErrImagePull" in member.message


def test_out_of_memory_kills_after_a_while() -> None:
    world = SmallWorld()
    workload = running(world)
    world.driver.inflict(FaultKind.OUT_OF_MEMORY, workload=workload.name, delay_ms=10_000)
    world.later(20)
    member = world.member(workload)
    assert (member.phase, member.reason, member.signal, member.finished_at) == (
        Phase.FAILED,
        "OOMKilled",
        9,
        after(12.6),
    )


def test_a_preempted_workload_gets_its_grace() -> None:
    world = SmallWorld()
    workload = running(world, grace_ms=5_000, hints={**SLOW_END, "stop_ms": None})
    world.driver.inflict(FaultKind.PREEMPTED, workload=workload.job_id, until=after(4))
    world.later(10)
    member = world.member(workload)
    assert (member.reason, member.signal, member.finished_at) == ("Preempted", 9, after(8.001))


def test_a_vanished_workload_holds_nothing_and_may_be_applied_again() -> None:
    world = SmallWorld()
    workload = running(world)
    uid = world.member(workload).uid
    world.driver.inflict(FaultKind.VANISHED, workload=workload.name, until=after(3.1))
    world.later(1)
    assert world.seen(workload) is None
    assert world.log(workload) == ""
    assert world.release(workload).objects_left == 0
    world.driver.apply(workload)
    world.later(3)
    assert world.member(workload).phase is Phase.RUNNING
    assert world.member(workload).uid != uid


def test_a_vanished_workload_that_was_to_stop_is_not_applied_again() -> None:
    world = SmallWorld()
    workload = running(world)
    world.stop(workload)
    world.driver.inflict(FaultKind.VANISHED, workload=workload.name, until=after(3.1))
    world.later(1)
    world.driver.apply(workload)
    assert world.seen(workload) is None


def test_a_vanished_member_fails_its_gang() -> None:
    world = SmallWorld()
    workload = running(world, nodes=("sim-a", "sim-b"))
    world.driver.inflict(FaultKind.VANISHED, node="sim-b", until=after(3.1))
    world.later(5)
    (left,) = world.members(workload)
    assert (left.index, left.reason) == (0, "GangFailed")


def test_a_dead_node_leaves_unknowns_and_reads_nothing() -> None:
    world = SmallWorld()
    workload = running(world, cards=1)
    world.driver.inflict(FaultKind.NODE_DEATH, node="sim-a", until=after(100))
    world.later(1)
    node = next(node for node in world.driver.inventory().nodes if node.name == "sim-a")
    assert (node.ready, node.schedulable, node.reason) == (False, False, "NodeStatusUnknown")
    member = world.member(workload)
    assert (member.phase, member.reason, member.finished_at) == (Phase.UNKNOWN, "NodeLost", None)
    reading = world.release(workload)
    assert (reading.objects_left, reading.used_cpu_milli, reading.cpu_idle) == (None, None, Idle.NOT_OBSERVED)
    assert reading.devices == {world.card(): Idle.NOT_OBSERVED}
    with pytest.raises(DriverUnavailable):
        world.forget(workload)
    world.later(96)
    assert next(node for node in world.driver.inventory().nodes if node.name == "sim-a").ready
    assert world.member(workload).phase is Phase.UNKNOWN, "nobody will ever know"
    reading = world.release(workload)
    assert (reading.objects_left, reading.devices) == (0, {world.card(): Idle.IDLE})
    world.forget(workload)


def test_a_dead_node_may_take_its_pods_with_it() -> None:
    world = SmallWorld()
    workload = running(world)
    world.driver.inflict(FaultKind.NODE_DEATH, node="sim-a", mode="vanish")
    world.later(1)
    assert world.seen(workload) is None


def test_a_pod_that_comes_to_a_dead_node_starts_when_the_node_is_back() -> None:
    world = SmallWorld()
    world.driver.inflict(FaultKind.NODE_DEATH, node="sim-a", until=after(50))
    workload = world.apply()
    world.later(10)
    assert (world.member(workload).phase, world.member(workload).reason) == (Phase.PENDING, "NodeNotReady")
    world.later(41)
    assert world.member(workload).started_at == after(50.5)


def test_an_unhealthy_device_is_capacity_but_not_allocatable_and_refuses_pods() -> None:
    world = SmallWorld()
    card = world.card()
    fault = world.driver.inflict(FaultKind.DEVICE_UNHEALTHY, node="sim-a", device=card, mode="simulated: Xid 48")
    world.later(1)
    group = world.driver.inventory().nodes[0].groups[0]
    assert (group.capacity_parts, group.allocatable_parts) == (2 * WHOLE_DEVICE, WHOLE_DEVICE)
    assert [(d.healthy, d.detail) for d in group.devices] == [(False, "simulated: Xid 48"), (True, "")]
    workload = world.apply(cards=1)
    world.later(1)
    assert (world.member(workload).phase, world.member(workload).reason) == (Phase.FAILED, "UnexpectedAdmissionError")
    world.driver.relent(fault)
    world.later(1)
    assert world.driver.inventory().nodes[0] == world.fleet.nodes[0]


def test_what_ends_may_be_held_for_longer() -> None:
    world = SmallWorld()
    workload = running(world, cards=1, hints={"duration_ms": 5_000})
    world.driver.inflict(FaultKind.RELEASE_LAG, workload=workload.name, delay_ms=60_000)
    world.later(30)
    lagging = world.release(workload)
    assert (lagging.objects_left, lagging.devices) == (0, {world.card(): Idle.BUSY})
    world.later(40)
    assert world.release(workload).devices == {world.card(): Idle.IDLE}


def test_objects_may_be_held_for_longer() -> None:
    world = SmallWorld()
    workload = running(world, hints={"duration_ms": 5_000})
    world.driver.inflict(FaultKind.RELEASE_LAG, workload=workload.name, delay_ms=60_000, mode="objects")
    world.later(30)
    assert world.release(workload).objects_left == 1
    with pytest.raises(DriverUnavailable):
        world.forget(workload)
    world.later(40)
    assert world.release(workload).objects_left == 0


def test_a_leaked_device_stays_busy_until_somebody_sees_to_it() -> None:
    world = SmallWorld()
    workload = running(world, cards=2, hints={"duration_ms": 1_000})
    fault = world.driver.inflict(FaultKind.LEAKED_DEVICE, workload=workload.name, device=world.card())
    world.later(86_400)
    assert world.release(workload).devices[world.card()] is Idle.BUSY
    assert world.release(workload).objects_left == 0
    world.driver.relent(fault)
    world.later(1)
    assert set(world.release(workload).devices.values()) == {Idle.IDLE}


def test_an_unreachable_cluster_answers_nothing_and_forgets_nothing() -> None:
    world = SmallWorld()
    workload = running(world)
    world.driver.inflict(FaultKind.UNREACHABLE, until=after(10))
    world.later(1)
    calls = [
        world.driver.observe,
        world.driver.inventory,
        lambda: world.driver.apply(workload),
        lambda: world.stop(workload),
        lambda: world.release(workload),
        lambda: world.log(workload),
        lambda: world.forget(workload),
    ]
    for call in calls:
        with pytest.raises(DriverUnavailable):
            call()
    assert world.driver.capability().simulated
    world.later(10)
    one = world.seen(workload)
    assert one is not None and not one.stopping and one.members[0].phase is Phase.RUNNING


def test_a_lost_call_has_happened_or_not_and_is_repeated_until_it_has() -> None:
    world = SmallWorld()
    world.driver.inflict(FaultKind.LOSSY, chance=700)
    world.later(1)
    outcomes = set()
    for number in range(40):
        key = f"n{number}"
        workload = world.workload(key, hints=SLOW_END)
        while True:
            world.later(0.01)
            try:
                world.driver.apply(workload)
                break
            except DriverUnavailable:
                outcomes.add(workload.name in {one.name for one in world.driver.store.read().records.values()})
        assert [r.name for r in world.driver.store.read().records.values()].count(workload.name) == 1
    assert outcomes == {True, False}


def test_a_workload_listed_twice_is_one() -> None:
    world = SmallWorld()
    workload = running(world)
    other = world.apply("two", nodes=("sim-b",))
    world.driver.inflict(FaultKind.DUPLICATE, workload=workload.name)
    world.later(1)
    names = [one.name for one in world.driver.observe().workloads]
    assert (names.count(workload.name), names.count(other.name)) == (2, 1)
    assert len({one.members for one in world.driver.observe().workloads if one.name == workload.name}) == 1
    world.driver.apply(workload)
    assert len(world.driver.store.read().records) == 2


def test_partial_lists_leave_something_out_and_say_so() -> None:
    world = SmallWorld()
    for number in range(20):
        world.apply(f"n{number}", nodes=("sim-b",))
    fault = world.driver.inflict(FaultKind.PARTIAL)
    sizes = set()
    for _ in range(20):
        world.later(1)
        observation, inventory = world.driver.observe(), world.driver.inventory()
        assert not observation.complete and not inventory.complete
        sizes.add((len(observation.workloads), len(inventory.nodes)))
    assert len(sizes) > 5
    world.driver.relent(fault)
    world.later(1)
    assert world.driver.observe().complete and len(world.driver.observe().workloads) == 20


def test_chance_picks_some_and_always_the_same() -> None:
    world = SmallWorld()
    workloads = [world.apply(f"n{n}", nodes=("sim-abc"[:4] + "abc"[n % 3],), hints=SLOW_END) for n in range(24)]
    world.driver.inflict(FaultKind.OUT_OF_MEMORY, chance=300)
    world.later(10)
    killed = [w.name for w in workloads if world.member(w).reason == "OOMKilled"]
    assert 2 <= len(killed) <= 14
    world.later(10)
    assert killed == [w.name for w in workloads if world.member(w).reason == "OOMKilled"]


def test_a_fault_told_now_does_not_change_what_was() -> None:
    world = SmallWorld()
    workload = running(world, hints={"duration_ms": 1_000})
    world.later(5)
    before = world.members(workload)
    fault = world.driver.inflict(FaultKind.NODE_DEATH, node="sim-a", since=after(0))
    assert fault.since_ms > int(after(8).timestamp() * 1_000)
    world.later(1)
    assert world.members(workload) == before


def test_a_fault_may_be_told_for_later() -> None:
    world = SmallWorld()
    workload = running(world)
    world.driver.inflict(FaultKind.NODE_DEATH, node="sim-a", since=after(30), until=after(40))
    world.later(20)
    assert world.member(workload).phase is Phase.RUNNING
    world.later(8)
    assert world.member(workload).phase is Phase.UNKNOWN
