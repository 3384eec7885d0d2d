"""What a job can see and touch, proved by a program that tries (T16, T17, trust.md)."""

import json
import os
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from resources.drivers.base import Mount, Phase, WorkloadRejected
from resources.drivers.local.isolation import NOT_ISOLATED, Prober
from resources.drivers.local.launcher.syscalls import can_shut_out_abstract_sockets
from tests.integration.drivers import intruder
from tests.integration.drivers.local_harness import LocalHarness, apply_as_user
from tests.integration.drivers.steps import PATIENCE_S, ended, run_to_end, started, wait_for

SECRET = "the-secret-nobody-may-read"


@pytest.fixture
def servers(tmp_path: Path) -> Iterator[dict[str, str]]:
    """Sockets as the portal's database and broker have them, and one of the abstract kind."""
    paths = {
        "database": str(tmp_path / ".s.PGSQL.5432"),
        "broker": str(tmp_path / "valkey.sock"),
        "abstract": f"@armillary-test-{tmp_path.name}-{os.getpid()}",
    }
    listening = [serve(path) for path in paths.values()]
    yield paths
    for server in listening:
        server.shutdown(socket.SHUT_RDWR)
        server.close()


def serve(path: str) -> socket.socket:
    server = socket.socket(socket.AF_UNIX)
    server.bind("\0" + path[1:] if path.startswith("@") else path)
    server.listen()

    def answer() -> None:
        try:
            while True:
                client = server.accept()[0]
                client.sendall(SECRET.encode())
                client.close()
        except OSError:
            return

    threading.Thread(target=answer, daemon=True).start()
    return server


@pytest.fixture
def attempts(isolated: LocalHarness, servers: dict[str, str], tmp_path: Path) -> Iterator[dict[str, list[str]]]:
    """What the intruder tries, each thing being really there."""
    state = isolated.state
    (state / "secret.key").write_text(SECRET)
    other = isolated.workload('echo mine > own; echo mine > "$PORTAL_OUTPUT_DIR/result"; sleep 60')
    isolated.driver().apply(other)
    started(isolated.driver(), other)
    wait_for((isolated.output(other) / "result").exists)
    home = Path.home() / ".armillary-test-canary"
    home.write_text(SECRET)
    with subprocess.Popen(["sleep", "61.5"]) as victim:
        tried = {
            "state folder": ["read", str(state)],
            "secret key": ["read", str(state / "secret.key")],
            "control folder": ["read", str(state / "local" / "jobs")],
            "scratch of another job": ["read", str(state / "local" / "scratch" / other.name / "0" / "work")],
            "output of another job": ["read", other.output_dir],
            "home folder": ["read", str(home)],
            "host's /run": ["read", "/run/../run/."],
            "this checkout": ["read", __file__],
            "anything by name": ["walk", "secret.key"],
            "the host's /tmp": ["read", str(tmp_path)],
            "database socket": ["connect", servers["database"]],
            "broker socket": ["connect", servers["broker"]],
            "processes": ["look_at", "61.5"],
            "signals": ["kill", str(victim.pid)],
        }
        if can_shut_out_abstract_sockets():
            tried["abstract socket"] = ["connect", servers["abstract"]]
        yield tried
        victim.kill()
    home.unlink()


def outside(attempts: dict[str, list[str]]) -> dict[str, str]:
    """The same program, not isolated."""
    return intruder.attempt_all(attempts)


def run_intruder(harness: LocalHarness, attempts: dict[str, list[str]], *, as_user: bool = False) -> dict[str, str]:
    harness.settings["programs"] = {"intruder": Path(intruder.__file__)}
    workload = harness.workload("", program="intruder", command=(), params=attempts)
    if as_user:
        assert apply_as_user(harness, workload) == "user"
    else:
        harness.driver().apply(workload)
    (member,) = ended(harness.driver(), workload)
    log = harness.driver().logs(workload.name, member=0, offset=0, limit=1 << 20)[0].decode()
    assert member.phase is Phase.SUCCEEDED, log
    got: dict[str, str] = json.loads((harness.output(workload) / "got.json").read_text())
    return got


SEES_ITS_OWN = {"host's /run": ""}
"""/run exists inside, and is empty."""


@pytest.mark.parametrize("way", ["as the driver chooses", "as an ordinary user"])
def test_a_job_gets_nothing_that_is_not_its_own(
    isolated: LocalHarness, attempts: dict[str, list[str]], way: str
) -> None:
    got_outside = outside(attempts)
    assert got_outside.keys() == attempts.keys(), "the program is able to get each of these"
    as_user = way == "as an ordinary user"
    if as_user and os.geteuid() != 0:
        pytest.skip("the driver's own choice is already that of an ordinary user")
    assert run_intruder(isolated, attempts, as_user=as_user) == SEES_ITS_OWN


def test_what_a_job_runs_from_cannot_be_changed_by_it(isolated: LocalHarness) -> None:
    places = ["/usr", "/usr/lib", "/etc", "/", "/dev", "/proc/sys/kernel", sys.prefix, sys.base_prefix]
    places += ["/portal", "/portal/programs", os.path.dirname(os.__file__)]
    got = run_intruder(isolated, {place: ["write", place] for place in places})
    assert got == {}
    own = ["/portal/scratch", "/portal/output", "/tmp", "/dev/shm"]
    got = run_intruder(isolated, {place: ["write", place] for place in own})
    assert got == dict.fromkeys(own, "written")


def test_a_job_cannot_get_at_the_process_that_guards_it(isolated: LocalHarness) -> None:
    inner = ["environ", "maps", "mem", "root", "root/etc", "cwd", "fd/0", "fd/3", "fd/4", "fd/5", "fd/6", "fd/7"]
    got = run_intruder(isolated, {name: ["read", f"/proc/1/{name}"] for name in inner})
    assert got == {}


def test_a_job_has_no_privileges_and_cannot_gain_any(isolated: LocalHarness) -> None:
    script = (
        "grep -E '^(Cap|NoNewPrivs)' /proc/self/status;"
        "unshare --user true && echo made a namespace;"
        "unshare --mount true && echo made mounts;"
        "mount -t tmpfs none /tmp && echo mounted; true"
    )
    workload = isolated.workload(script)
    run_to_end(isolated.driver(), workload)
    log = isolated.driver().logs(workload.name, member=0, offset=0, limit=1 << 20)[0].decode()
    status = dict(line.split(":") for line in log.splitlines() if line.startswith(("Cap", "NoNew")))
    assert {value.strip() for name, value in status.items() if name.startswith("Cap")} == {"0" * 16}
    assert status["NoNewPrivs"].strip() == "1"
    assert "made" not in log and "mounted" not in log


def test_the_environment_holds_only_what_is_meant_for_the_job(isolated: LocalHarness) -> None:
    os.environ["ARMILLARY_TEST_CANARY"] = SECRET
    try:
        workload = isolated.workload("env", environment={"EPOCHS": "3"})
        run_to_end(isolated.driver(), workload)
    finally:
        del os.environ["ARMILLARY_TEST_CANARY"]
    log = isolated.driver().logs(workload.name, member=0, offset=0, limit=1 << 20)[0].decode()
    names = {line.partition("=")[0] for line in log.splitlines()}
    allowed = {"PATH", "LANG", "HOME", "PWD", "EPOCHS", "PYTHONUNBUFFERED"}
    rest = {name for name in names - allowed if not name.startswith("PORTAL_")}
    assert all(name.endswith(("_NUM_THREADS", "_DEVICES", "_ORDINAL")) for name in rest), rest
    assert SECRET not in log and str(isolated.state) not in log


def test_a_job_reads_and_writes_exactly_what_it_was_given(isolated: LocalHarness) -> None:
    data = isolated.state / "data" / "set"
    data.mkdir()
    (data / "rows").write_text("rows")
    (isolated.state / "data" / "model").mkdir()
    os.chmod(isolated.state / "data" / "model", 0o777)
    script = (
        'cat "$DATA/rows"; touch "$DATA/new" || echo read-only; touch "$MODEL/new" && echo writable;'
        'echo c > "$PORTAL_CHECKPOINT_DIR/step"; echo $PORTAL_RESUME'
    )
    workload = isolated.workload(
        script,
        checkpoint_dir=str(isolated.state / "data" / "deep" / "checkpoint"),
        resume=True,
        mounts=(
            Mount("DATA", str(data)),
            Mount("MODEL", str(isolated.state / "data" / "model"), writable=True),
        ),
    )
    run_to_end(isolated.driver(), workload)
    log = isolated.driver().logs(workload.name, member=0, offset=0, limit=1 << 20)[0].decode()
    assert log.startswith("rows") and "read-only" in log and "writable" in log and log.endswith("1\n")
    assert (isolated.state / "data" / "deep" / "checkpoint" / "step").read_text() == "c\n"


def test_a_link_planted_after_the_check_leads_nowhere(isolated: LocalHarness) -> None:
    """Between `apply`'s check and the launcher's mount another job might swap a folder for a link."""
    data, aim = isolated.state / "data" / "swapped", isolated.state / "secret.key"
    aim.write_text(SECRET)
    data.mkdir()
    (data / "inner").mkdir()
    workload = isolated.workload('cat "$DATA"', mounts=(Mount("DATA", str(data / "inner")),))
    caller = isolated.caller(workload, "local.apply.after_intent=sleep:700")
    record = isolated.state / "local" / "jobs" / workload.name / "record.json"
    wait_for(record.exists)
    (data / "inner").rmdir()
    (data / "inner").symlink_to(aim)
    assert caller.wait(PATIENCE_S) == 0
    (member,) = ended(isolated.driver(), workload)
    assert (member.reason, "symbolic link" in member.message) == ("StartFailed", True)


def test_without_isolation_only_shipped_programs_run(plain: LocalHarness) -> None:
    capability = plain.driver().capability()
    assert not capability.isolation and "only shipped programs" in capability.isolation_detail
    with pytest.raises(WorkloadRejected) as refusal:
        plain.driver().apply(plain.workload("exit 0", shipped=False))
    assert refusal.value.reason == "IsolationUnavailable"


def test_a_machine_that_forbids_namespaces_is_found_out(isolated: LocalHarness, tmp_path: Path) -> None:
    """The probe runs a program: here one that cannot start, which must count as no isolation, with the cause."""
    harness = LocalHarness(tmp_path / "state", python=Path("/nonexistent/python"))
    capability = harness.driver().capability()
    assert (capability.isolation, capability.isolation_detail) == (False, NOT_ISOLATED)
    assert "/nonexistent/python" in capability.isolation_cause


def test_nothing_starts_while_the_portal_listens_beyond_loopback(plain: LocalHarness) -> None:
    driver = plain.driver(listens_beyond_loopback=True)
    with pytest.raises(WorkloadRejected) as refusal:
        driver.apply(plain.workload("exit 0"))
    assert refusal.value.reason == "NotLoopback"
    assert not driver.inventory().nodes[0].schedulable


def test_the_probe_is_remembered(isolated: LocalHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Prober, "_try", lambda self, mode: "asked again")
    assert isolated.driver().capability().isolation


def test_a_python_environment_below_the_machines_tmp_is_shown_in_the_jobs_own_tmp(isolated, tmp_path_factory):
    """A checkout may lie anywhere: also below /tmp, of which a job has its own."""
    home = tmp_path_factory.mktemp("checkout") / "env"
    (home / "bin").mkdir(parents=True)
    (home / "bin" / "python").symlink_to(sys.executable)
    state = tmp_path_factory.mktemp("state")
    harness = LocalHarness(state, python=home / "bin" / "python")
    try:
        inside = f"{home}/bin/python -c 'print(1)' && ls /tmp"
        workload = harness.workload(inside)
        driver = harness.driver()
        members = run_to_end(driver, workload)
        log, _ = driver.logs(workload.name, member=0, offset=0, limit=10_000)
        assert members[0].phase is Phase.SUCCEEDED, log
        assert b"1\n" in log and state.name.encode() not in log
    finally:
        harness.end_everything()
