"""The memory of a simulated cluster on disk: shared, whole or not at all, and safe in a child process."""

import multiprocessing
import os
import threading
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from resources.drivers.base import DriverUnavailable, Phase, WorkloadRejected
from resources.drivers.simulated.faults import FaultKind
from resources.drivers.simulated.sqlite import FILE, SqliteStore
from tests.unit.drivers.simulated_world import SmallWorld, after

LONG = {"duration_ms": 60_000}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "world"


def world(folder: Path) -> SmallWorld:
    return SmallWorld(SqliteStore(folder))


def in_child(do: Callable[[], None]) -> int | None:
    process = multiprocessing.get_context("fork").Process(target=do)
    process.start()
    process.join(20)
    return process.exitcode


def test_what_one_driver_does_another_sees(folder: Path) -> None:
    one, other = world(folder), world(folder)
    workload = one.apply(hints=LONG)
    assert other.seen(workload) == one.seen(workload)
    fault = other.driver.inflict(FaultKind.NODE_DEATH, node="sim-a", since=after(5))
    other.stop(workload)
    stopped = one.seen(workload)
    assert stopped is not None and stopped.stopping
    one.driver.relent(fault)
    assert other.driver.store.read().faults == one.driver.store.read().faults
    one.later(5)
    one.forget(workload)
    assert other.seen(workload) is None
    with pytest.raises(WorkloadRejected):
        other.driver.apply(workload)


def test_all_is_there_after_a_restart(folder: Path) -> None:
    one = world(folder)
    workload = one.apply(cards=2, hints={"duration_ms": 60_000, "log": [[0, "数"]]}, gang=False, time_limit_ms=9_000)
    one.driver.foretell("job-later", reason="Error", duration_ms=1)
    one.driver.inflict(FaultKind.LEAKED_DEVICE, workload=workload.name)
    again = world(folder)
    assert again.driver.store.read().records == one.driver.store.read().records
    assert again.driver.store.read().faults == one.driver.store.read().faults
    later = again.apply("later", nodes=("sim-b",))
    again.later(5)
    assert (again.member(later).phase, again.log(workload)) == (Phase.FAILED, "数\n")


def test_a_transaction_that_fails_leaves_nothing(folder: Path) -> None:
    one = world(folder)
    workload = one.apply()
    record = one.driver.store.read().records[workload.name]
    with pytest.raises(RuntimeError), one.driver.store.write() as transaction:
        transaction.remove(workload.name)
        transaction.put(record)
        transaction.remove(workload.name)
        raise RuntimeError
    for each in (one, world(folder)):
        assert each.driver.store.read().records == {workload.name: record}


def test_deferred_changes_are_seen_by_others_at_the_end_and_lost_with_an_error(folder: Path) -> None:
    one, other = world(folder), world(folder)
    with one.driver.store.deferred():
        workload = one.apply()
        with pytest.raises(WorkloadRejected):
            one.apply(attempt_id="another")
        assert one.seen(workload) is not None and other.seen(workload) is None
    assert other.seen(workload) == one.seen(workload)
    with pytest.raises(RuntimeError), one.driver.store.deferred():
        lost = one.apply("lost")
        raise RuntimeError
    assert one.seen(lost) is None and one.seen(workload) is not None
    one.driver.apply(lost)
    assert other.seen(lost) is not None


def test_a_child_process_opens_the_file_anew(folder: Path) -> None:
    one = world(folder)
    workload = one.apply()

    def child() -> None:
        os._exit(0 if one.seen(workload) and one.apply("two", nodes=("sim-b",)) else 1)

    assert in_child(child) == 0
    assert len(one.driver.store.read().records) == 2
    assert one.apply("three", nodes=("sim-c",))


def test_a_child_made_while_a_thread_is_inside_is_not_stuck(folder: Path) -> None:
    one = world(folder)
    one.apply()
    inside, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with one.driver.store.write():
            inside.set()
            leave.wait(20)

    thread = threading.Thread(target=hold)
    thread.start()
    inside.wait(20)
    try:
        assert in_child(lambda: os._exit(0 if len(one.driver.store.read().records) == 1 else 1)) == 0
    finally:
        leave.set()
        thread.join()


@pytest.mark.parametrize(("point", "left"), [("before_commit", 0), ("after_commit", 1)])
def test_a_kill_leaves_all_of_it_or_nothing(folder: Path, point: str, left: int) -> None:
    one = world(folder)

    def child() -> None:
        os.environ["PORTAL_FAILPOINTS"] = f"simulated.store.{point}=kill"
        one.apply()

    assert in_child(child) == -9
    assert len(world(folder).driver.store.read().records) == left
    one.apply()
    assert len(world(folder).driver.store.read().records) == 1


def test_processes_killed_at_random_leave_a_memory_that_can_be_read(folder: Path) -> None:
    world(folder).driver.observe()

    def child() -> None:
        own, number = world(folder), 0
        while True:
            number += 1
            workload = own.apply(f"p{os.getpid()}-{number}", nodes=("sim-c",), hints={"duration_ms": 0})
            own.stop(workload)
            if number % 2:
                own.later(60)
                own.forget(workload)

    fork = multiprocessing.get_context("fork")
    for delay in (0.05, 0.11, 0.17, 0.23):
        processes = [fork.Process(target=child) for _ in range(2)]
        for process in processes:
            process.start()
        time.sleep(delay)
        for process in processes:
            process.kill()
            process.join()
        fresh = world(folder)
        fresh.later(86_400)
        observation = fresh.driver.observe()
        assert len({one.name for one in observation.workloads}) == len(observation.workloads)
        ended = (Phase.SUCCEEDED, Phase.FAILED)
        assert [one for one in observation.workloads if not all(m.phase in ended for m in one.members)] == []
        assert world(folder).apply(f"after-{delay * 100:.0f}", hints={"duration_ms": 0})


def test_many_threads_share_one_driver(folder: Path) -> None:
    one = world(folder)
    failures: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for turn in range(10):
                workload = one.apply(f"t{number}-{turn}", nodes=("sim-c",), hints={"duration_ms": 0})
                assert one.seen(workload) is not None
                one.release(workload)
                one.stop(workload)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failures == []
    assert len(one.driver.store.read().records) == 60 == len(world(folder).driver.store.read().records)


def test_a_file_that_is_no_memory_is_an_outage_not_a_crash(folder: Path) -> None:
    folder.mkdir()
    (folder / FILE).write_bytes(b"not a database" * 100)
    with pytest.raises(DriverUnavailable) as failure:
        world(folder).driver.observe()
    assert failure.value.reason == "StoreFailed"


def test_a_folder_that_cannot_be_made_is_an_outage_not_a_crash(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(DriverUnavailable):
        world(tmp_path / "file" / "world").driver.observe()
