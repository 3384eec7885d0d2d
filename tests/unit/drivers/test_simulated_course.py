"""The course of simulated workloads nobody disturbs, and of those that are stopped: exact times on a steady fleet."""

import pytest

from resources.drivers.base import Idle, MemberSpec, Phase, WorkloadRejected
from resources.drivers.simulated import clock
from resources.drivers.simulated.driver import SimulatedDriver
from tests.unit.drivers.simulated_world import GPU, START, SmallWorld, after, small_fleet


def test_a_workload_is_bound_pulled_started_and_ends_at_exact_times() -> None:
    world = SmallWorld()
    workload = world.apply(hints={"duration_ms": 10_000})
    assert (world.member(workload).phase, world.member(workload).bound_at) == (Phase.PENDING, None)
    world.later(0.1)
    assert (world.member(workload).bound_at, world.member(workload).reason) == (after(0.1), "ContainerCreating")
    world.later(2.5)
    assert (world.member(workload).phase, world.member(workload).started_at) == (Phase.RUNNING, after(2.6))
    world.later(9.999)
    assert world.member(workload).finished_at is None
    world.later(0.001)
    member = world.member(workload)
    assert (member.phase, member.finished_at, member.exit_code) == (Phase.SUCCEEDED, after(12.6), 0)


def test_a_jump_of_the_clock_gives_the_same_as_many_small_steps() -> None:
    patient, hasty = SmallWorld(), SmallWorld()
    workloads = [world.apply(hints={"duration_ms": 10_000, "exit_code": 2}) for world in (patient, hasty)]
    for _ in range(200):
        patient.later(0.1)
        patient.driver.observe()
    hasty.later(20)
    assert patient.members(workloads[0]) == hasty.members(workloads[1])


def test_a_service_is_ready_after_a_while_and_runs_until_it_is_stopped() -> None:
    world = SmallWorld()
    workload = world.apply(serves=True, task_type="inference", nodes=("sim-a", "sim-b"))
    world.later(5.6)
    assert [m.ready_at for m in world.members(workload)] == [after(5.6)] * 2
    assert [m.address for m in world.members(workload)] == [
        "j-one-a1-0.sim-a.invalid:8080",
        "j-one-a1-1.sim-b.invalid:8080",
    ]
    world.later(90 * 86_400)
    assert {m.phase for m in world.members(workload)} == {Phase.RUNNING}
    world.stop(workload)
    world.later(1)
    assert {(m.phase, m.reason, m.exit_code) for m in world.members(workload)} == {(Phase.FAILED, "Stopped", 0)}


def test_a_stop_before_the_start_ends_it_at_once() -> None:
    world = SmallWorld()
    workload = world.apply()
    world.later(1)
    world.stop(workload)
    member = world.member(workload)
    assert (member.phase, member.reason, member.started_at, member.finished_at) == (
        Phase.FAILED,
        "Stopped",
        None,
        after(1),
    )


def test_an_end_of_its_own_within_the_grace_keeps_its_exit_code() -> None:
    world = SmallWorld()
    workload = world.apply(hints={"duration_ms": 10_000, "exit_code": 5, "stop_ms": 8_000})
    world.later(7.6)
    world.stop(workload)
    world.later(10)
    member = world.member(workload)
    assert (member.reason, member.exit_code, member.finished_at) == ("Stopped", 5, after(12.6))


def test_a_stop_after_the_end_changes_nothing() -> None:
    world = SmallWorld()
    workload = world.apply(hints={"duration_ms": 0})
    world.later(5)
    before = world.members(workload)
    world.stop(workload)
    world.later(5)
    assert world.members(workload) == before


def test_the_time_limit_kills_after_the_grace_what_does_not_listen() -> None:
    world = SmallWorld()
    workload = world.apply(time_limit_ms=10_000, grace_ms=3_000, hints={"stop_ms": None})
    world.later(15.5)
    assert world.member(workload).phase is Phase.RUNNING
    world.later(0.1)
    assert (world.member(workload).reason, world.member(workload).signal) == ("TimeLimit", 9)


def test_a_stop_hastens_the_end_that_a_time_limit_has_begun_but_does_not_rename_it() -> None:
    world = SmallWorld()
    workload = world.apply(time_limit_ms=10_000, grace_ms=60_000, hints={"stop_ms": None})
    world.later(13)
    world.stop(workload, grace_s=2)
    world.later(5)
    member = world.member(workload)
    assert (member.reason, member.signal, member.finished_at) == ("TimeLimit", 9, after(15))


def test_a_failed_member_of_a_gang_ends_the_others_and_only_those_still_there() -> None:
    world = SmallWorld()
    hints = {"duration_ms": 60_000, "failing_member": 1, "fail_ms": 10_000, "exit_code": 4}
    workload = world.apply(nodes=("sim-a", "sim-b", "sim-c"), hints=hints)
    world.later(30)
    first, second, third = world.members(workload)
    assert (second.reason, second.exit_code, second.finished_at) == ("Error", 4, after(12.6))
    assert {(m.reason, m.signal, m.finished_at) for m in (first, third)} == {("GangFailed", 15, after(13.6))}


def test_release_comes_back_level_by_level() -> None:
    world = SmallWorld()
    workload = world.apply(cards=1, hints={"duration_ms": 10_000, "temporary_files": 4, "temporary_bytes": 99})
    card = world.card()
    world.later(12)
    running = world.release(workload)
    assert (running.objects_left, running.used_cpu_milli, running.used_memory_bytes) == (1, 1_000, 1 << 30)
    assert (running.devices, running.temporary_files) == ({card: Idle.BUSY}, None)
    world.later(1.5)
    ended = world.release(workload)
    assert (ended.objects_left, ended.devices[card]) == (1, Idle.BUSY)
    world.later(0.1)
    gone = world.release(workload)
    assert (gone.objects_left, gone.used_cpu_milli, gone.devices[card]) == (0, 0, Idle.BUSY)
    assert (gone.temporary_files, gone.temporary_bytes) == (4, 99)
    world.later(1)
    assert world.release(workload).devices[card] is Idle.IDLE
    world.forget(workload)
    assert world.release(workload).devices == {}


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"name": "Upper"}, "InvalidName"),
        ({"attempt_id": "../x"}, "InvalidName"),
        ({"members": ()}, "InvalidMembers"),
        ({"members": (MemberSpec(1, "sim-a", 1, 1),)}, "InvalidMembers"),
        ({"members": (MemberSpec(0, "sim-z", 1, 1),)}, "NodeUnknown"),
        ({"members": (MemberSpec(0, "sim-a", 0, 1),)}, "InvalidNumber"),
        ({"members": (MemberSpec(0, "sim-a", 1, 1, {GPU: ("GPU-none",)}),)}, "DeviceUnknown"),
        ({"generation": -1}, "InvalidNumber"),
        ({"time_limit_ms": 0}, "InvalidNumber"),
        ({"program": ""}, "InvalidCommand"),
    ],
)
def test_what_is_no_workload_is_rejected(changes: dict[str, object], reason: str) -> None:
    world = SmallWorld()
    with pytest.raises(WorkloadRejected) as refusal:
        world.apply(**changes)
    assert refusal.value.reason == reason
    assert world.driver.observe().workloads == ()


def test_a_device_of_another_resource_or_granted_twice_is_rejected() -> None:
    world = SmallWorld()
    card = world.card()
    for devices in ({"amd.com/gpu": (card,)}, {GPU: (card, card)}):
        with pytest.raises(WorkloadRejected):
            world.apply(members=(MemberSpec(0, "sim-a", 1, 1, devices),))


def test_a_node_that_is_full_does_not_take_the_pod() -> None:
    world = SmallWorld()
    full = (MemberSpec(0, "sim-c", 8_000, 1 << 30),)
    first = world.apply(members=full, hints={"duration_ms": 5_000})
    second = world.apply("two", members=full)
    world.later(1)
    member = world.member(second)
    assert (member.phase, member.reason, member.started_at) == (Phase.FAILED, "OutOfcpu", None)
    assert world.member(first).phase is Phase.PENDING
    world.later(10)
    third = world.apply("three", members=full)
    world.later(3)
    assert world.member(third).phase is Phase.RUNNING


def test_one_card_granted_to_two_workloads_is_given_to_the_first() -> None:
    world = SmallWorld()
    first, second = world.apply("one", cards=1), world.apply("two", cards=1)
    world.later(3)
    assert world.member(first).phase is Phase.RUNNING
    assert (world.member(second).phase, world.member(second).reason) == (Phase.FAILED, f"OutOf{GPU}")
    assert world.release(second).devices == {world.card(): Idle.BUSY}


def test_a_pod_on_a_node_that_was_never_ready_waits_and_says_why() -> None:
    fleet = small_fleet()
    nodes = tuple(
        node if node.name != "sim-a" else type(node)(**{f: getattr(node, f) for f in node.__slots__} | NOT_READY)
        for node in fleet.nodes
    )
    world = SmallWorld(fleet=small_fleet(nodes=nodes))
    workload = world.apply()
    world.later(1_000)
    assert (world.member(workload).phase, world.member(workload).reason) == (Phase.PENDING, "KubeletNotReady")
    world.stop(workload)
    assert world.member(workload).reason == "Stopped"


NOT_READY = {"ready": False, "schedulable": False, "reason": "KubeletNotReady"}


def test_the_log_says_that_it_is_simulated_grows_and_never_changes() -> None:
    world = SmallWorld()
    workload = world.apply(task_type="training", hints={"duration_ms": 300_000})
    assert world.log(workload) == ""
    known = ""
    for _ in range(100):
        world.later(3.7)
        text = world.log(workload)
        assert text.startswith(known)
        known = text
    assert all("[simulated]" in line for line in known.splitlines())
    assert "no program runs on cluster small" in known.splitlines()[0]
    assert known.splitlines()[-1].endswith("ended: Completed, exit code 0")
    assert len(known.splitlines()) > 20


def test_a_log_of_months_stays_short() -> None:
    world = SmallWorld()
    workload = world.apply(serves=True, task_type="inference")
    world.later(60 * 86_400)
    assert len(world.log(workload)) < 400_000


def test_capability_says_simulated_and_that_nothing_runs() -> None:
    capability = SmallWorld().driver.capability()
    assert capability.simulated and "simulated" in capability.isolation_detail


def test_a_clock_in_place_of_the_wall_clock_drives_drivers_without_one_of_their_own() -> None:
    driver, own = SimulatedDriver(fleet=small_fleet()), SmallWorld()
    with clock.driven_by(lambda: START):
        assert driver.observe().at == driver.inventory().at == START
        with clock.driven_by(lambda: after(5)):
            assert driver.observe().at == after(5)
        assert driver.observe().at == START
        own.later(7)
        assert own.driver.observe().at == after(7)
    assert driver.observe().at > after(5)
