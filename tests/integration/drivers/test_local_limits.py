"""What a job may use on this machine, and what it cannot leave behind (F35, F36, F44)."""

import socket
import time
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from resources.drivers.base import DriverUnavailable, Phase
from resources.drivers.local.inventory import usable_cpus
from tests.integration.drivers.local_harness import LocalHarness
from tests.integration.drivers.steps import ended, members, run_to_end, started, wait_for

MIB = 1 << 20


def log_of(harness: LocalHarness, name: str) -> bytes:
    return harness.driver().logs(name, member=0, offset=0, limit=4 * MIB)[0]


# --- CPU and memory


def test_a_member_runs_on_as_many_cpus_as_it_asked_for(harness: LocalHarness) -> None:
    script = "exec python3 -c 'import os; print(os.sched_getaffinity(0), os.environ[\"OMP_NUM_THREADS\"])'"
    workload = harness.workload(script)
    run_to_end(harness.driver(), workload)
    cpus, threads = log_of(harness, workload.name).decode().rsplit(" ", 1)
    assert len(eval(cpus)) == 1 and threads.strip() == "1"


@pytest.mark.skipif(len(usable_cpus()) < 2, reason="one CPU leaves nothing to choose")
def test_members_are_spread_over_cpus(harness: LocalHarness) -> None:
    script = "python3 -c 'import os; print(os.sched_getaffinity(0))'"
    driver, workload = harness.driver(), harness.workload(script, members=2, gang=False)
    run_to_end(driver, workload)
    first, second = (driver.logs(workload.name, member=index, offset=0, limit=99)[0] for index in (0, 1))
    assert b"{" in first and b"{" in second and first != second


def test_cpus_named_by_the_placement_are_used(harness: LocalHarness) -> None:
    last = usable_cpus()[-1]
    workload = harness.workload("python3 -c 'import os; print(*os.sched_getaffinity(0))'")
    workload = replace(workload, members=(replace(workload.members[0], cpus=(last,)),))
    run_to_end(harness.driver(), workload)
    assert log_of(harness, workload.name) == f"{last}\n".encode()


def test_memory_shared_by_children_counts_once(harness: LocalHarness) -> None:
    script = """exec python3 -c '
import os, time
held = bytearray(100 << 20)
held[::4096] = b"x" * len(held[::4096])
children = [os.fork() for _ in range(3) if os.getpid() == os.getsid(0)]
time.sleep(1.5)
'"""
    (member,) = run_to_end(harness.driver(), harness.workload(script, memory_bytes=230 * MIB))
    assert (member.phase, member.message) == (Phase.SUCCEEDED, ""), "four times 100 MiB shared, not 400"


def test_memory_held_in_files_of_shared_memory_counts(isolated: LocalHarness) -> None:
    workload = isolated.workload(
        "head -c 100m /dev/zero > /dev/shm/held; exec python3 -c 'import time; h = bytearray(60 << 20); time.sleep(9)'",
        memory_bytes=128 * MIB,
    )
    (member,) = run_to_end(isolated.driver(), workload)
    assert member.reason == "MemoryLimit"


def test_the_peak_is_told_in_the_message(harness: LocalHarness) -> None:
    script = "exec python3 -c 'import time; held = bytearray(300 << 20); time.sleep(9)'"
    (member,) = run_to_end(harness.driver(), harness.workload(script, memory_bytes=200 * MIB))
    assert member.reason == "MemoryLimit"
    assert str(200 * MIB) in member.message


# --- processes


def test_nothing_a_program_started_outlives_it(harness: LocalHarness) -> None:
    script = "setsid sh -c 'trap \"\" TERM; while :; do sleep 0.1; done' & sleep 0.2; exit 0"
    workload = harness.workload(script)
    (member,) = run_to_end(harness.driver(), workload)
    assert member.phase is Phase.SUCCEEDED
    reading = harness.driver().release(workload.name, attempt_id=workload.attempt_id)
    assert reading.objects_left == 0


def test_a_stop_reaches_those_in_a_session_of_their_own(harness: LocalHarness) -> None:
    script = "setsid sh -c 'trap \"\" TERM HUP; echo up; while :; do sleep 0.1; done' & wait"
    driver, workload = harness.driver(), harness.workload(script)
    driver.apply(workload)
    wait_for(lambda: log_of(harness, workload.name) == b"up\n")
    driver.stop(workload.name, attempt_id=workload.attempt_id, grace_ms=300)
    ended(driver, workload)
    assert driver.release(workload.name, attempt_id=workload.attempt_id).objects_left == 0


def test_a_fork_bomb_is_bounded_and_stoppable(isolated: LocalHarness) -> None:
    options = replace(isolated.settings["options"], processes=100)
    driver = isolated.driver(options=options)
    workload = isolated.workload("bomb() { bomb | bomb & }; bomb; sleep 30")
    driver.apply(workload)
    time.sleep(0.3)
    left = driver.release(workload.name, attempt_id=workload.attempt_id).objects_left
    assert left is not None and left <= 102, "the limit, the launcher and the first process"
    driver.stop(workload.name, attempt_id=workload.attempt_id, grace_ms=0)
    assert ended(driver, workload)[0].reason == "Stopped"
    assert driver.release(workload.name, attempt_id=workload.attempt_id).objects_left == 0


# --- logs and files


def test_a_flood_of_output_is_cut_but_its_last_words_are_kept(plain_state: Path) -> None:
    harness = LocalHarness(plain_state, isolated=False, log_head_bytes=100_000, log_tail_bytes=5_000)
    workload = harness.workload("echo first; head -c 50000000 /dev/zero; echo; echo last words; exit 5")
    (member,) = run_to_end(harness.driver(), workload)
    assert member.exit_code == 5, "the program is neither slowed to a halt nor broken by its own output"
    log = log_of(harness, workload.name)
    assert len(log) < 106_000
    assert log.startswith(b"first\n") and log.endswith(b"last words\n")
    assert b"bytes left out" in log


def test_temporary_files_are_removed_whatever_their_shape(harness: LocalHarness) -> None:
    script = """exec python3 -c '
import os
for _ in range(1200):
    os.mkdir("d"); os.chdir("d")
open("bottom", "w").write("x")
os.chdir(os.environ["HOME"])
os.symlink("/usr", "link"); os.mkfifo("fifo")
os.mkdir("closed"); open("closed/file", "w").write("x"); os.chmod("closed", 0)
'"""
    workload = harness.workload(script)
    run_to_end(harness.driver(), workload)
    reading = harness.driver().release(workload.name, attempt_id=workload.attempt_id)
    assert reading.temporary_files == 4
    assert not (harness.state / "local" / "scratch" / workload.name).exists()
    assert Path("/usr/bin").is_dir()


# --- services


def test_a_stranger_on_the_port_is_not_the_service(harness: LocalHarness) -> None:
    workload = harness.workload("sleep 30", serves=True)
    driver = harness.driver()
    driver.apply(workload)
    (member,) = started(driver, workload)
    with socket.create_server(("127.0.0.1", int(member.address.rpartition(":")[2]))):
        seen = wait_for(lambda: [m for m in members(driver, workload) if "another process" in m.message])
    assert seen[0].ready_at is None


# --- start


def test_a_member_starts_soon(harness: LocalHarness) -> None:
    """Budget of the whole portal: submit to running in 2 s."""
    times = []
    for _ in range(3):
        workload = harness.workload("exit 0")
        (member,) = run_to_end(harness.driver(), workload)
        assert member.started_at and member.bound_at
        times.append((member.started_at - member.bound_at).total_seconds())
    assert min(times) < 0.5


def test_a_full_disk_is_an_unknown_outcome_not_a_crash(harness: LocalHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*arguments: object, **options: object) -> SimpleNamespace:
        raise OSError(28, "No space left on device")

    workload = harness.workload("exit 0")
    with monkeypatch.context() as patched, pytest.raises(DriverUnavailable):
        patched.setattr("resources.drivers.local.store.Store.write_record", full)
        harness.driver().apply(workload)
    (member,) = run_to_end(harness.driver(), workload)
    assert member.phase is Phase.SUCCEEDED
