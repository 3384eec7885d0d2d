"""What every driver must do. A driver's test file subclasses `DriverContract` and gives it a `harness`.

One that runs programs subclasses `ProgramContract`: there `$PORTAL_OUTPUT_DIR` is where jobs leave proof of what they
did.
"""

import re
import time
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from resources.drivers.base import Driver, DriverUnavailable, Idle, Phase, Workload, WorkloadRejected
from tests.integration.drivers.steps import (
    NOTE_START,
    PATIENCE_S,
    Harness,
    ProgramHarness,
    Script,
    ended,
    lines,
    members,
    run_to_end,
    seen,
    started,
    wait_for,
)

MIB = 1 << 20

NOTHING = Script("exit 0", {"duration_ms": 0})
SLEEPS = Script("sleep 30", {"duration_ms": 30_000})
EXITS_3 = Script("exit 3", {"duration_ms": 0, "exit_code": 3})
CRASHES = Script("kill -SEGV $$", {"duration_ms": 0, "signal": 11})
NOTES_START = Script(NOTE_START, {"duration_ms": 0})
NOTES_AND_SLEEPS = Script(NOTE_START + "sleep 0.3", {"duration_ms": 300})
NOTES_AND_STAYS = Script(NOTE_START + "sleep 30", {"duration_ms": 30_000})
POLITE = Script(
    'trap "echo bye; exit 7" TERM; echo ready; while :; do sleep 0.05; done',
    {"log": [[0, "ready"]], "goodbye": "bye", "stop_ms": 50, "stop_exit_code": 7},
)
STUBBORN = Script('trap "" TERM; echo ready; while :; do sleep 0.05; done', {"log": [[0, "ready"]], "stop_ms": None})
FINE_AT_TERM = Script('trap "exit 0" TERM; while :; do sleep 0.05; done', {"stop_ms": 50, "stop_exit_code": 0})
SECOND_FAILS = Script(
    '[ "$PORTAL_INDEX" = 1 ] && exit 4; sleep 30',
    {"duration_ms": 30_000, "failing_member": 1, "fail_ms": 0, "exit_code": 4},
)
SECOND_FAILS_SOON = Script(
    '[ "$PORTAL_INDEX" = 1 ] && exit 4; sleep 0.8',
    {"duration_ms": 800, "failing_member": 1, "fail_ms": 0, "exit_code": 4},
)
HUNGRY = Script(
    "exec python3 -c 'import time; held = bytearray(400 << 20); time.sleep(30)'",
    {"duration_ms": 30_000, "fail_ms": 50, "memory_bytes": 400 * MIB},
)
SPEAKS = Script("echo out; echo err >&2; echo 数", {"duration_ms": 0, "log": [[0, "out"], [0, "err"], [0, "数"]]})
SPEAKS_TWICE = Script("echo one; sleep 0.5; echo two", {"duration_ms": 500, "log": [[0, "one"], [500, "two"]]})
UNTIDY = Script(
    "head -c 70000 /dev/zero > a; mkdir d; echo x > d/b; echo ready; sleep 30",
    {"duration_ms": 30_000, "log": [[0, "ready"]], "temporary_files": 2, "temporary_bytes": 70_002},
)
SERVICE = Script(
    """exec python3 -c '
import http.server, os, time
begin = time.monotonic()
class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        ready = time.monotonic() - begin > 0.5 and self.path == os.environ["PORTAL_HEALTH_PATH"]
        self.send_response(200 if ready else 503)
        self.end_headers()
http.server.HTTPServer(("127.0.0.1", int(os.environ["PORTAL_PORT"])), Handler).serve_forever()
'""",
    {"ready_ms": 500},
)


class DriverContract:
    """The suite."""

    # --- one workload from start to end

    def test_success_is_seen_with_its_own_times(self, harness: Harness) -> None:
        driver, workload = harness.driver(), harness.workload(NOTHING)
        before = datetime.now(UTC) - timedelta(milliseconds=5)
        (member,) = run_to_end(driver, workload)
        time.sleep(0.3)
        assert members(driver, workload) == (member,), "times are those of the events, not of the look"
        assert member.phase is Phase.SUCCEEDED
        assert (member.exit_code, member.signal, member.reason) == (0, None, "Completed")
        assert member.bound_at and member.started_at and member.finished_at
        assert before <= member.bound_at <= member.started_at <= member.finished_at <= datetime.now(UTC)

    def test_identity_is_kept(self, harness: Harness) -> None:
        driver, workload = harness.driver(), harness.workload(NOTHING, generation=3)
        driver.apply(workload)
        one = seen(driver, workload)
        assert one is not None
        assert (one.job_id, one.attempt_id, one.generation) == (workload.job_id, workload.attempt_id, 3)

    def test_exit_code_is_a_failure(self, harness: Harness) -> None:
        (member,) = run_to_end(harness.driver(), harness.workload(EXITS_3))
        assert (member.phase, member.exit_code, member.signal) == (Phase.FAILED, 3, None)
        assert member.reason == "Error"

    def test_death_by_signal_is_told_apart(self, harness: Harness) -> None:
        (member,) = run_to_end(harness.driver(), harness.workload(CRASHES))
        assert (member.phase, member.exit_code, member.signal) == (Phase.FAILED, None, 11)

    def test_a_program_that_is_not_there_fails_the_start(self, harness: Harness) -> None:
        workload = harness.unstartable("no-such-program")
        (member,) = run_to_end(harness.driver(), workload)
        assert (member.phase, member.reason) == (Phase.FAILED, "StartFailed")
        assert "no-such-program" in member.message

    # --- once, and only once

    def test_applying_twice_makes_one(self, harness: Harness) -> None:
        driver, workload = harness.driver(), harness.workload(NOTES_AND_SLEEPS, members=2)
        for _ in range(3):
            driver.apply(workload)
        ended(driver, workload)
        driver.apply(workload)
        time.sleep(0.3)
        assert harness.starts(workload) == ["0", "1"]

    def test_concurrent_callers_make_one(self, harness: Harness) -> None:
        workload = harness.workload(NOTES_AND_SLEEPS, members=2)
        callers = [harness.caller(workload) for _ in range(4)]
        assert [caller.wait(PATIENCE_S) for caller in callers] == [0] * 4
        ended(harness.driver(), workload)
        assert harness.starts(workload) == ["0", "1"]

    def test_a_caller_killed_anywhere_leaves_one_after_the_next_apply(self, harness: Harness) -> None:
        for failpoint in harness.failpoints:
            workload = harness.workload(NOTES_AND_SLEEPS, members=2)
            killed = harness.caller(workload, f"{failpoint}=kill")
            assert killed.wait(PATIENCE_S) == -9, f"{failpoint} did not fire"
            driver = harness.driver()
            run_to_end(driver, workload)
            starts = harness.starts(workload)
            assert starts == ["0", "1"], f"after a kill at {failpoint}"

    # --- fences

    def test_an_older_generation_is_fenced_out(self, harness: Harness) -> None:
        driver, newer = harness.driver(), harness.workload(NOTHING, generation=5)
        driver.apply(newer)
        for generation in (4, 5):
            other = harness.workload(NOTES_START, job_id=newer.job_id, generation=generation)
            with pytest.raises(WorkloadRejected) as refusal:
                driver.apply(other)
            assert refusal.value.reason == "FencedOut"
            assert seen(driver, other) is None

    def test_a_forgotten_attempt_never_runs_again(self, harness: Harness) -> None:
        driver, workload = harness.driver(), harness.workload(NOTES_START)
        run_to_end(driver, workload)
        driver.forget(workload.name, attempt_id=workload.attempt_id)
        with pytest.raises(WorkloadRejected) as refusal:
            harness.driver().apply(workload)
        assert refusal.value.reason == "FencedOut"
        assert harness.starts(workload) == ["0"]

    def test_a_name_of_another_attempt_is_refused(self, harness: Harness) -> None:
        driver, workload = harness.driver(), harness.workload(NOTHING)
        driver.apply(workload)
        with pytest.raises(WorkloadRejected) as refusal:
            driver.apply(replace(harness.workload(NOTHING), name=workload.name))
        assert refusal.value.reason == "NameTaken"

    # --- the end that is asked for

    def test_stop_lets_the_program_say_goodbye(self, harness: Harness) -> None:
        driver, workload = harness.driver(), harness.workload(POLITE)
        driver.apply(workload)
        wait_for(lambda: self.log(driver, workload) == b"ready\n")
        driver.stop(workload.name, attempt_id=workload.attempt_id, grace_ms=5_000)
        (member,) = ended(driver, workload)
        assert (member.phase, member.reason, member.exit_code) == (Phase.FAILED, "Stopped", 7)
        assert self.log(driver, workload).endswith(b"bye\n")

    def test_stop_kills_after_the_grace(self, harness: Harness) -> None:
        driver, workload = harness.driver(), harness.workload(STUBBORN)
        driver.apply(workload)
        wait_for(lambda: self.log(driver, workload) == b"ready\n")
        asked = datetime.now(UTC)
        driver.stop(workload.name, attempt_id=workload.attempt_id, grace_ms=600)
        one = seen(driver, workload)
        assert one is not None and one.stopping and one.members[0].phase is Phase.RUNNING
        (member,) = ended(driver, workload)
        assert (member.phase, member.reason, member.signal) == (Phase.FAILED, "Stopped", 9)
        assert member.finished_at is not None
        took = member.finished_at - asked
        assert timedelta(milliseconds=500) - harness.resolution < took < timedelta(seconds=3), took

    def test_stopping_twice_is_stopping_once_and_may_hasten(self, harness: Harness) -> None:
        driver, workload = harness.driver(), harness.workload(STUBBORN)
        driver.apply(workload)
        started(driver, workload)
        driver.stop(workload.name, attempt_id=workload.attempt_id, grace_ms=60_000)
        driver.stop(workload.name, attempt_id=workload.attempt_id, grace_ms=100)
        (member,) = ended(driver, workload)
        driver.stop(workload.name, attempt_id=workload.attempt_id, grace_ms=0)
        assert members(driver, workload) == (member,)

    def test_a_foreign_or_missing_workload_is_left_alone(self, harness: Harness) -> None:
        driver, workload = harness.driver(), harness.workload(SLEEPS)
        driver.apply(workload)
        started(driver, workload)
        driver.stop(workload.name, attempt_id="another", grace_ms=0)
        driver.forget(workload.name, attempt_id="another")
        driver.stop("never-applied", attempt_id=workload.attempt_id, grace_ms=0)
        driver.forget("never-applied", attempt_id=workload.attempt_id)
        time.sleep(0.5)
        one = seen(driver, workload)
        assert one is not None and not one.stopping and one.members[0].phase is Phase.RUNNING

    def test_a_stopped_workload_is_not_started_by_a_late_apply(self, harness: Harness) -> None:
        driver, workload = harness.driver(), harness.workload(NOTES_AND_STAYS, members=2)
        killed = harness.caller(workload, f"{harness.failpoints[-1]}=kill")
        killed.wait(PATIENCE_S)
        driver.stop(workload.name, attempt_id=workload.attempt_id, grace_ms=0)
        ended(driver, workload)
        before = harness.starts(workload)
        driver.apply(workload)
        time.sleep(0.3)
        assert harness.starts(workload) == before

    # --- restart of the portal

    def test_a_running_workload_is_adopted_after_its_caller_was_killed(self, harness: Harness) -> None:
        workload = harness.workload(SLEEPS)
        caller = harness.caller(workload, f"{harness.failpoints[-1]}=kill")
        assert caller.wait(PATIENCE_S) == -9
        driver = harness.driver()
        (member,) = started(driver, workload)
        time.sleep(0.3)
        again = harness.driver()
        assert members(again, workload) == (member,)
        again.stop(workload.name, attempt_id=workload.attempt_id, grace_ms=1_000)
        assert ended(again, workload)[0].reason == "Stopped"

    # --- limits and gangs

    def test_one_failed_member_stops_a_gang(self, harness: Harness) -> None:
        driver = harness.driver()
        workload = harness.workload(SECOND_FAILS, members=3, grace_ms=500)
        first, second, third = run_to_end(driver, workload)
        assert (second.reason, second.exit_code) == ("Error", 4)
        assert {first.reason, third.reason} == {"GangFailed"}
        assert {first.phase, third.phase} == {Phase.FAILED}

    def test_members_that_are_no_gang_end_by_themselves(self, harness: Harness) -> None:
        driver = harness.driver()
        workload = harness.workload(SECOND_FAILS_SOON, members=2, gang=False)
        first, second = run_to_end(driver, workload)
        assert (first.phase, second.phase) == (Phase.SUCCEEDED, Phase.FAILED)

    def test_the_time_limit_ends_it(self, harness: Harness) -> None:
        driver = harness.driver()
        (member,) = run_to_end(driver, harness.workload(SLEEPS, time_limit_ms=400, grace_ms=300))
        assert (member.phase, member.reason, member.signal) == (Phase.FAILED, "TimeLimit", 15)
        assert member.started_at and member.finished_at
        ran = member.finished_at - member.started_at
        assert timedelta(milliseconds=390) - harness.resolution <= ran < timedelta(seconds=3)

    def test_success_at_the_time_limit_is_no_success(self, harness: Harness) -> None:
        (member,) = run_to_end(harness.driver(), harness.workload(FINE_AT_TERM, time_limit_ms=300))
        assert (member.phase, member.reason, member.exit_code) == (Phase.FAILED, "TimeLimit", 0)

    def test_the_memory_limit_ends_it(self, harness: Harness) -> None:
        (member,) = run_to_end(harness.driver(), harness.workload(HUNGRY, memory_bytes=128 * MIB))
        assert member.phase is Phase.FAILED
        assert member.reason in ("MemoryLimit", "OOMKilled")

    # --- services

    def test_a_service_is_ready_when_its_health_path_answers(self, harness: Harness) -> None:
        driver, workload = harness.driver(), harness.workload(SERVICE, serves=True, health_path="/well")
        driver.apply(workload)
        (member,) = started(driver, workload)
        assert member.ready_at is None and re.fullmatch(harness.address, member.address)
        ready = wait_for(lambda: [m for m in members(driver, workload) if m.ready_at])[0]
        assert member.started_at and ready.ready_at
        assert ready.ready_at - member.started_at >= timedelta(milliseconds=450), "it answered 503 until then"
        driver.stop(workload.name, attempt_id=workload.attempt_id, grace_ms=100)
        assert ended(driver, workload)[0].ready_at == ready.ready_at

    def test_replicas_have_addresses_of_their_own(self, harness: Harness) -> None:
        driver = harness.driver()
        workload = harness.workload(SLEEPS, members=3, serves=True, gang=False)
        driver.apply(workload)
        assert len({member.address for member in members(driver, workload)}) == 3

    # --- logs

    def log(self, driver: Driver, workload: Workload, offset: int = 0, limit: int = MIB) -> bytes:
        return driver.logs(workload.name, member=0, offset=offset, limit=limit)[0]

    def test_logs_are_read_in_pieces(self, harness: Harness) -> None:
        driver, workload = harness.driver(), harness.workload(SPEAKS)
        run_to_end(driver, workload)
        whole = "out\nerr\n数\n".encode()
        assert driver.logs(workload.name, member=0, offset=0, limit=MIB) == (whole, len(whole))
        assert driver.logs(workload.name, member=0, offset=4, limit=3) == (b"err", 7)
        assert driver.logs(workload.name, member=0, offset=-4, limit=MIB) == (whole[-4:], len(whole))
        assert driver.logs(workload.name, member=0, offset=len(whole), limit=MIB) == (b"", len(whole))

    def test_logs_can_be_followed(self, harness: Harness) -> None:
        driver, workload = harness.driver(), harness.workload(SPEAKS_TWICE)
        driver.apply(workload)
        wait_for(lambda: self.log(driver, workload) == b"one\n")
        assert members(driver, workload)[0].phase is Phase.RUNNING
        ended(driver, workload)
        assert driver.logs(workload.name, member=0, offset=4, limit=MIB) == (b"two\n", 8)

    def test_logs_of_nothing_are_empty(self, harness: Harness) -> None:
        driver = harness.driver()
        assert driver.logs("never-applied", member=0, offset=0, limit=10) == (b"", 0)
        assert driver.logs("../../etc", member=0, offset=0, limit=10) == (b"", 0)

    # --- release

    def test_release_sees_what_is_held_and_what_is_not_any_more(self, harness: Harness) -> None:
        driver, workload = harness.driver(), harness.workload(UNTIDY, memory_bytes=128 * MIB)
        driver.apply(workload)
        wait_for(lambda: self.log(driver, workload) == b"ready\n")
        held = driver.release(workload.name, attempt_id=workload.attempt_id)
        assert held.objects_left is not None and held.objects_left >= 1
        assert (held.used_cpu_milli, held.used_memory_bytes) == (1_000, 128 * MIB)
        assert (held.cpu_idle, held.temporary_files) == (Idle.BUSY if harness.sees_idle else Idle.NOT_OBSERVED, None)
        driver.stop(workload.name, attempt_id=workload.attempt_id, grace_ms=0)
        ended(driver, workload)
        free = wait_for(lambda: self.released(driver, workload))
        assert (free.objects_left, free.used_cpu_milli, free.used_memory_bytes) == (0, 0, 0)
        assert (free.cpu_idle, dict(free.devices)) == (Idle.IDLE if harness.sees_idle else Idle.NOT_OBSERVED, {})
        assert free.temporary_files == (2 if harness.sees_idle else None)
        assert not harness.sees_idle or (free.temporary_bytes is not None and free.temporary_bytes >= 70_000)
        again = harness.driver().release(workload.name, attempt_id=workload.attempt_id)
        assert replace(again, at=free.at) == free

    def released(self, driver: Driver, workload: Workload) -> Any:
        reading = driver.release(workload.name, attempt_id=workload.attempt_id)
        return reading if reading.objects_left == 0 else None

    def test_release_of_nothing_is_nothing_left(self, harness: Harness) -> None:
        reading = harness.driver().release("never-applied", attempt_id="none")
        assert (reading.objects_left, reading.used_cpu_milli, reading.used_memory_bytes) == (0, 0, 0)

    # --- the very end

    def test_forget_removes_what_is_kept(self, harness: Harness) -> None:
        driver, workload = harness.driver(), harness.workload(SPEAKS)
        run_to_end(driver, workload)
        wait_for(lambda: self.released(driver, workload))
        for _ in range(2):
            driver.forget(workload.name, attempt_id=workload.attempt_id)
        assert seen(driver, workload) is None
        assert self.log(driver, workload) == b""

    def test_what_still_runs_is_not_forgotten(self, harness: Harness) -> None:
        driver, workload = harness.driver(), harness.workload(SLEEPS)
        driver.apply(workload)
        started(driver, workload)
        with pytest.raises(DriverUnavailable):
            driver.forget(workload.name, attempt_id=workload.attempt_id)
        assert members(driver, workload)[0].phase is Phase.RUNNING

    # --- the machine

    def test_inventory_has_the_node_with_room_to_run_on(self, harness: Harness) -> None:
        inventory = harness.driver().inventory()
        node = inventory.nodes[0]
        assert inventory.complete and node.ready and node.schedulable
        assert 0 < node.cpu_allocatable_milli < node.cpu_milli
        assert 0 < node.memory_allocatable_bytes < node.memory_bytes


class ProgramContract(DriverContract):
    """The suite of a driver that runs programs."""

    def test_members_know_who_they_are(self, harness: ProgramHarness) -> None:
        script = 'cat "$PORTAL_PARAMS_FILE" > "$PORTAL_OUTPUT_DIR/$PORTAL_INDEX-of-$PORTAL_COUNT"'
        workload = harness.workload(script, members=2, params={"words": "a b 数"}, gang=False)
        run_to_end(harness.driver(), workload)
        for name in ("0-of-2", "1-of-2"):
            assert harness.output(workload).joinpath(name).read_text() == '{"words": "a b 数"}'

    def test_forget_keeps_outputs_and_removes_the_rest(self, harness: ProgramHarness) -> None:
        driver, workload = harness.driver(), harness.workload('echo log; echo kept > "$PORTAL_OUTPUT_DIR/o"')
        run_to_end(driver, workload)
        for _ in range(2):
            driver.forget(workload.name, attempt_id=workload.attempt_id)
        assert seen(driver, workload) is None
        assert self.log(driver, workload) == b""
        assert lines(harness.output(workload) / "o") == ["kept"]
