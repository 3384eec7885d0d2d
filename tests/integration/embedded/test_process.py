"""One child and its group: what dies with it and what does not."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from portal.embedded.process import LOG_LIMIT_BYTES, Child, ProcessId, Spec, rotate, stop, tied
from tests.integration.embedded.probes import eventually


def child_running(script: str, log: Path, **options: object) -> Child:
    """A started shell script."""
    spec = Spec(
        name="script",
        title="The script",
        argv=("sh", "-c", script),
        env=dict(os.environ),
        is_ready=lambda _pid: True,
        **options,  # type: ignore[arg-type]
    )
    child = Child(spec, log)
    child.start()
    return child


def test_the_group_of_a_dead_child_ends_but_a_detached_job_lives_on(tmp_path: Path) -> None:
    child = child_running("sleep 60 & echo $!; setsid sleep 60 & echo $!; wait", tmp_path / "log")
    assert eventually(lambda: len(child.log_tail().split()) == 2, within=5)
    helper, job = (ProcessId.of(int(pid)) for pid in child.log_tail().split())
    assert child.pid and helper and job
    assert eventually(lambda: os.getsid(job.pid) == job.pid, within=5)
    try:
        os.kill(child.pid, signal.SIGKILL)
        assert eventually(lambda: child.collect() == -signal.SIGKILL, within=5)
        assert eventually(lambda: not helper.is_alive(), within=5)
        assert job.is_alive()
    finally:
        os.kill(job.pid, signal.SIGKILL)


def test_a_child_that_ignores_its_stop_signals_is_killed_at_the_deadline(tmp_path: Path) -> None:
    child = child_running("trap '' TERM; while true; do sleep 0.1; done", tmp_path / "log")
    stop([child], within=0.5)
    assert not child.is_running()


def test_stop_signals_follow_each_other(tmp_path: Path) -> None:
    script = "trap '' TERM; trap 'echo quit; exit 0' QUIT; echo begun; while true; do sleep 0.1; done"
    child = child_running(script, tmp_path / "log", stop_signals=(signal.SIGTERM, signal.SIGQUIT))
    assert eventually(lambda: "begun" in child.log_tail(), within=5)
    stop([child], within=8)
    assert child.log_tail() == "begun\nquit"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux lets a child die with its parent")
def test_a_tied_command_does_not_start_for_a_parent_that_is_gone(tmp_path: Path) -> None:
    command = list(tied(("touch", str(tmp_path / "started")), signal.SIGKILL))
    command[command.index(str(os.getpid()))] = "999999999"
    assert subprocess.run(command, check=False).returncode != 0
    assert not (tmp_path / "started").exists()


def test_a_process_is_known_by_its_number_and_its_start() -> None:
    with subprocess.Popen(["sleep", "30"]) as process:
        known = ProcessId.of(process.pid)
        assert known and known.is_alive()
        assert not ProcessId(known.pid, known.started + "0").is_alive()
        process.kill()
        assert eventually(lambda: not known.is_alive(), within=5), "a zombie counts as gone"


def test_only_a_log_over_its_limit_is_put_aside(tmp_path: Path) -> None:
    log = tmp_path / "web.log"
    log.write_bytes(b"x" * LOG_LIMIT_BYTES)
    rotate(log)
    assert log.exists()
    log.write_bytes(b"x" * (LOG_LIMIT_BYTES + 1))
    rotate(log)
    assert [file.name for file in tmp_path.iterdir()] == ["web.log.1"]
