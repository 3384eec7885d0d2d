"""The local driver when processes die, pids are taken by others and records are broken (F01–F05, F44)."""

import dataclasses
import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from resources.drivers.base import DriverUnavailable, Phase, Workload
from resources.drivers.local.launch import launch
from resources.drivers.local.launcher import records
from tests.integration.drivers.local_harness import LocalHarness
from tests.integration.drivers.steps import (
    NOTE_START,
    PATIENCE_S,
    ended,
    lines,
    members,
    run_to_end,
    seen,
    started,
    wait_for,
)

STUBBORN = 'trap "" TERM; while :; do sleep 0.05; done'


def member_folder(harness: LocalHarness, workload: Workload, index: int = 0) -> Path:
    return harness.state / "local" / "jobs" / workload.name / "members" / str(index)


def launcher_of(harness: LocalHarness, workload: Workload) -> int:
    record = records.read(member_folder(harness, workload) / records.START)
    assert record is not None
    return int(record["pid"])


def left(harness: LocalHarness, workload: Workload) -> int | None:
    return harness.driver().release(workload.name, attempt_id=workload.attempt_id).objects_left


# --- a launcher that dies


def test_a_launcher_killed_before_its_claim_is_replaced(harness: LocalHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    workload = harness.workload(NOTE_START)
    with monkeypatch.context() as armed, pytest.raises(DriverUnavailable) as failure:
        armed.setenv("PORTAL_FAILPOINTS", "local.launcher.before_claim=kill")
        options = dataclasses.replace(harness.settings["options"], claim_time_out_s=0.5)
        harness.driver(options=options).apply(workload)
    assert failure.value.reason == "LaunchTimedOut"
    assert members(harness.driver(), workload)[0].phase is Phase.PENDING
    run_to_end(harness.driver(), workload)
    assert lines(harness.output(workload) / "starts") == ["0"]


@pytest.mark.parametrize("point", ["after_claim", "after_start", "before_exit_record"])
def test_a_launcher_killed_after_its_claim_is_never_replaced(harness: LocalHarness, point: str) -> None:
    workload = harness.workload(NOTE_START + ("" if point == "before_exit_record" else "sleep 30"))
    harness.caller(workload, f"local.launcher.{point}=kill").wait(PATIENCE_S)
    driver = harness.driver()
    (member,) = ended(driver, workload)
    assert (member.phase, member.reason) == (Phase.UNKNOWN, "LauncherLost")
    assert member.finished_at is None
    driver.apply(workload)
    time.sleep(0.3)
    assert len(lines(harness.output(workload) / "starts")) <= 1
    assert members(driver, workload)[0].phase is Phase.UNKNOWN


def test_a_program_dies_with_its_launcher(harness: LocalHarness) -> None:
    workload = harness.workload("(setsid sleep 30 &) ; sleep 30")
    driver = harness.driver()
    driver.apply(workload)
    started(driver, workload)
    os.kill(launcher_of(harness, workload), signal.SIGKILL)
    wait_for(lambda: left(harness, workload) == 0, "everything below the launcher gone")
    assert members(driver, workload)[0].reason == "LauncherLost"


def kill_launcher_and_first_process(harness: LocalHarness, workload: Workload) -> None:
    """At once, so that neither can clean up after the other."""
    state = records.read(member_folder(harness, workload) / records.STATE)
    assert state is not None
    os.kill(launcher_of(harness, workload), signal.SIGSTOP)
    os.kill(state["first_pid"], signal.SIGKILL)
    os.kill(launcher_of(harness, workload), signal.SIGKILL)


def test_the_driver_climbs_the_ladder_where_nobody_else_is_left(plain: LocalHarness) -> None:
    script = 'trap "echo asked > \\"$PORTAL_OUTPUT_DIR/asked\\"" TERM; while :; do sleep 0.05; done'
    workload = plain.workload(f"exec >/dev/null 2>&1; setsid sh -c '{script}' & {STUBBORN}")
    driver = plain.driver()
    driver.apply(workload)
    started(driver, workload)
    time.sleep(0.2)
    kill_launcher_and_first_process(plain, workload)
    wait_for(lambda: members(driver, workload)[0].phase is Phase.UNKNOWN)
    assert left(plain, workload), "the program and a grandchild in a session of its own live on"
    driver.stop(workload.name, attempt_id=workload.attempt_id, grace_ms=400)
    wait_for(lambda: lines(plain.output(workload) / "asked"), "TERM first")
    assert left(plain, workload), "it ignores TERM"
    time.sleep(0.4)
    driver.observe()
    wait_for(lambda: left(plain, workload) == 0, "KILL after the grace")


def test_a_lost_member_fails_its_gang(harness: LocalHarness) -> None:
    driver, workload = harness.driver(), harness.workload("sleep 30", members=2, grace_ms=200)
    driver.apply(workload)
    started(driver, workload)
    os.kill(launcher_of(harness, workload), signal.SIGKILL)
    lost, other = ended(driver, workload)
    assert (lost.phase, other.reason) == (Phase.UNKNOWN, "GangFailed")


def test_what_was_accepted_is_not_refused_later(isolated: LocalHarness) -> None:
    """A refusal says "surely not created", which is not true any more once the record is written."""
    workload = isolated.workload(NOTE_START + "sleep 0.2", members=2)
    isolated.caller(workload, "local.apply.between_members=kill").wait(PATIENCE_S)
    options = dataclasses.replace(isolated.settings["options"], isolate=False)
    isolated.driver(options=options).apply(workload)
    assert [member.phase for member in ended(isolated.driver(), workload)] == [Phase.SUCCEEDED] * 2
    assert sorted(lines(isolated.output(workload) / "starts")) == ["0", "1"]
    exposed = isolated.driver(listens_beyond_loopback=True)
    exposed.apply(workload)


# --- a portal that dies


def test_launchers_finish_a_stop_whose_caller_died(harness: LocalHarness) -> None:
    driver, workload = harness.driver(), harness.workload(STUBBORN)
    driver.apply(workload)
    started(driver, workload)
    caller = harness.caller(workload, "local.stop.after_request=kill", verb="stop")
    assert caller.wait(PATIENCE_S) == -signal.SIGKILL
    exit_record = member_folder(harness, workload) / records.EXIT
    wait_for(exit_record.exists, "the end without any driver")
    assert members(driver, workload)[0].reason == "Stopped"


def test_a_release_killed_while_cleaning_keeps_its_count(harness: LocalHarness) -> None:
    workload = harness.workload("for i in 1 2 3; do echo x > $i; done; mkdir d; echo x > /tmp/in-tmp-$$")
    run_to_end(harness.driver(), workload)
    caller = harness.caller(workload, "local.release.while_cleaning=kill", verb="release")
    assert caller.wait(PATIENCE_S) == -signal.SIGKILL
    reading = harness.driver().release(workload.name, attempt_id=workload.attempt_id)
    assert reading.temporary_files == (4 if harness.isolated else 3)
    assert not (harness.state / "local" / "scratch" / workload.name).exists()


def test_a_forget_killed_half_way_can_be_repeated(harness: LocalHarness) -> None:
    workload = harness.workload("exit 0")
    run_to_end(harness.driver(), workload)
    caller = harness.caller(workload, "local.forget.after_fence=kill", verb="forget")
    assert caller.wait(PATIENCE_S) == -signal.SIGKILL
    harness.driver().forget(workload.name, attempt_id=workload.attempt_id)
    assert seen(harness.driver(), workload) is None
    assert not (harness.state / "local" / "jobs" / workload.name).exists()


# --- strangers, reboots, broken records


def rewrite(path: Path, **changes: Any) -> None:
    record = records.read(path)
    assert record is not None
    records.write(path, record | changes)


def test_a_stranger_with_the_recorded_pid_is_never_signalled(harness: LocalHarness) -> None:
    driver, workload = harness.driver(), harness.workload("sleep 30")
    driver.apply(workload)
    started(driver, workload)
    os.kill(launcher_of(harness, workload), signal.SIGKILL)
    wait_for(lambda: members(driver, workload)[0].phase is Phase.UNKNOWN)
    with subprocess.Popen(["sleep", "30"]) as stranger:
        try:
            folder = member_folder(harness, workload)
            rewrite(folder / records.START, pid=stranger.pid)
            rewrite(folder / records.STATE, first_pid=stranger.pid)
            driver.stop(workload.name, attempt_id=workload.attempt_id, grace_ms=0)
            driver.observe()
            time.sleep(0.2)
            assert stranger.poll() is None
        finally:
            stranger.kill()


def test_a_restart_of_the_machine_is_told_as_such(harness: LocalHarness) -> None:
    driver, workload = harness.driver(), harness.workload("sleep 30")
    driver.apply(workload)
    started(driver, workload)
    record = records.read(member_folder(harness, workload) / records.START)
    assert record is not None
    rewrite(member_folder(harness, workload) / records.START, boot="another-boot")
    (member,) = members(driver, workload)
    assert (member.phase, member.reason) == (Phase.UNKNOWN, "HostRebooted")
    records.write(member_folder(harness, workload) / records.START, record)
    assert members(driver, workload)[0].phase is Phase.RUNNING


def test_a_process_is_found_by_its_mark_when_no_record_knows_it(plain: LocalHarness) -> None:
    workload = plain.workload("exit 0")
    run_to_end(plain.driver(), workload)
    mark = {"PORTAL_ATTEMPT_ID": workload.attempt_id, "PORTAL_INDEX": "0", "PATH": os.environ["PATH"]}
    with subprocess.Popen(["sleep", "30"], env=mark) as stray:
        reading = plain.driver().release(workload.name, attempt_id=workload.attempt_id)
        assert (reading.objects_left, reading.used_cpu_milli) == (1, 1_000)
        assert reading.temporary_files is None, "nothing is removed under a living process"
        plain.driver().stop(workload.name, attempt_id=workload.attempt_id, grace_ms=0)
        assert stray.wait(PATIENCE_S) == -signal.SIGKILL
    assert left(plain, workload) == 0


def test_a_program_that_wipes_its_mark_is_found_by_its_namespace(isolated: LocalHarness) -> None:
    driver, workload = isolated.driver(), isolated.workload("echo up; exec env -i sleep 30")
    driver.apply(workload)
    started(driver, workload)
    wait_for(lambda: driver.logs(workload.name, member=0, offset=0, limit=9)[0])
    assert left(isolated, workload) == 3, "launcher, first process, program"


def test_one_unreadable_record_hides_no_other(plain: LocalHarness) -> None:
    driver, broken, whole = plain.driver(), plain.workload("exit 0"), plain.workload("exit 0")
    run_to_end(driver, broken)
    record = plain.state / "local" / "jobs" / broken.name / "record.json"
    good = record.read_text()
    for bad in ("[]", "{}", '{"name": 1', json.dumps({"name": broken.name, "members": None})):
        record.write_text(bad)
        observation = driver.observe()
        assert not observation.complete
        assert broken.name not in [one.name for one in observation.workloads]
    (member,) = run_to_end(driver, whole)
    assert member.phase is Phase.SUCCEEDED
    record.write_text(good)
    assert driver.observe().complete


def test_a_second_launcher_of_an_ended_member_does_nothing(plain: LocalHarness) -> None:
    workload = plain.workload(NOTE_START)
    run_to_end(plain.driver(), workload)
    before = (member_folder(plain, workload) / records.EXIT).read_text()
    launch(member_folder(plain, workload), marker={}, foreground=True)
    assert lines(plain.output(workload) / "starts") == ["0"]
    assert (member_folder(plain, workload) / records.EXIT).read_text() == before


def test_failpoints_do_not_reach_jobs(harness: LocalHarness) -> None:
    workload = harness.workload("env")
    harness.caller(workload, "local.launcher.before_claim=sleep:1").wait(PATIENCE_S)
    ended(harness.driver(), workload)
    log = harness.driver().logs(workload.name, member=0, offset=0, limit=1 << 20)[0]
    assert b"PORTAL_JOB_ID" in log and b"FAILPOINTS" not in log
