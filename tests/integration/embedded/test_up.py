"""`up` as a whole: it heals, it is alone, it ends together, and nothing survives its sudden death."""

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from portal.embedded.paths import CHECKOUT, StateFolder
from portal.embedded.stack import Stack, start_stack
from portal.embedded.up import Up
from tests.e2e import disk
from tests.e2e.web_client import WebClient
from tests.integration.embedded.probes import descendants, eventually, owner_query, processes_of

CHILDREN = ("postgres", "valkey", "web", "worker-io", "worker-cycle", "beat")
HEAL_SECONDS = 30.0
ORDERLY_SECONDS = 10.0


@dataclass
class Home:
    """The running portal; a test may replace it by the next `up` on the same state folder."""

    stack: Stack


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    it = Home(start_stack(tmp_path_factory.mktemp("up") / "state"))
    yield it
    it.stack.stop()


@pytest.fixture
def stack(home: Home) -> Stack:
    return home.stack


def is_healthy(stack: Stack) -> bool:
    """Whether the health page answers 200."""
    try:
        with urllib.request.urlopen(f"{stack.url}healthz", timeout=5) as answer:
            return bool(answer.status == 200)
    except OSError:
        return False


def manage(stack: Stack, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A management command on the stack's state folder, in a shell that knows nothing else."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("PORTAL_")}
    return subprocess.run(
        [sys.executable, "manage.py", *arguments],
        cwd=CHECKOUT,
        env={**env, "PORTAL_STATE_DIR": str(stack.state.root)},
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def test_every_child_runs_and_the_health_page_says_so(stack: Stack) -> None:
    assert set(stack.pids) == set(CHILDREN)
    assert is_healthy(stack)


@pytest.mark.parametrize("name", CHILDREN)
def test_a_killed_child_is_started_again(stack: Stack, name: str) -> None:
    before = stack.pids
    os.kill(before[name], signal.SIGKILL)
    assert eventually(lambda: stack.pids.get(name) not in (None, before[name]), within=HEAL_SECONDS)
    assert eventually(lambda: is_healthy(stack), within=HEAL_SECONDS)
    assert set(stack.pids) == set(CHILDREN)
    assert "ended (SIGKILL); starting it again" in stack.output.read_text()


@pytest.mark.parametrize("name", ["postgres", "web"])
def test_a_killed_process_below_a_child_is_replaced(stack: Stack, name: str) -> None:
    assert eventually(lambda: len(descendants(stack.pids[name])) > 1, within=HEAL_SECONDS)
    before = descendants(stack.pids[name])
    victim = max((process for process in before if process.pid != stack.pids[name]), key=lambda found: found.pid)
    with contextlib.suppress(ProcessLookupError):  # a backend that ended by itself meanwhile
        os.kill(victim.pid, signal.SIGKILL)
    assert eventually(lambda: not victim.is_alive(), within=5)
    assert eventually(lambda: bool(descendants(stack.pids[name]) - before), within=HEAL_SECONDS)
    assert eventually(lambda: is_healthy(stack), within=HEAL_SECONDS)


def test_the_workers_answer_again_after_the_kills(stack: Stack) -> None:
    ping = [sys.executable, "-m", "celery", "-A", "portal.celery:app", "inspect", "ping", "--timeout", "2"]

    def both_answer() -> bool:
        env = {**os.environ, **stack.environment}
        said = subprocess.run(ping, cwd=CHECKOUT, env=env, capture_output=True, text=True, check=False).stdout
        return "io@armillary" in said and "cycle@armillary" in said

    assert eventually(both_answer, within=60)


def test_a_second_up_says_who_runs_and_ends(stack: Stack) -> None:
    second = manage(stack, "up", "--port", "1")
    assert second.returncode == 1
    assert f"already runs on {stack.state.root} (process {stack.process.pid}) at {stack.url}" in second.stderr
    assert is_healthy(stack)


def test_other_commands_use_the_servers_that_run(stack: Stack) -> None:
    shown = manage(stack, "showmigrations", "--plan")
    assert shown.returncode == 0, shown.stderr
    assert "[X]" in shown.stdout
    assert "[ ]" not in shown.stdout


def test_the_portal_does_not_run_as_the_owner_of_its_tables(stack: Stack) -> None:
    def users() -> set[str]:
        rows = owner_query(stack.environment, "SELECT usename FROM pg_stat_activity WHERE datname = 'portal'")
        return {row[0] for row in rows}

    # portal_owner is this query itself; the others come and go with their connections.
    assert eventually(lambda: users() == {"portal_app", "portal_owner"}, within=HEAL_SECONDS)


def test_a_taken_port_is_said_with_the_fix(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        env = {name: value for name, value in os.environ.items() if not name.startswith("PORTAL_")}
        done = subprocess.run(
            [sys.executable, "manage.py", "up", "--port", str(port)],
            cwd=CHECKOUT,
            env={**env, "PORTAL_STATE_DIR": str(tmp_path)},
            capture_output=True,
            text=True,
            check=False,
            timeout=30,
        )
    assert done.returncode == 1
    assert f"127.0.0.1:{port}" in done.stderr
    assert f"./dev up --port {port + 1}" in done.stderr


def test_an_orderly_stop_is_quick_and_the_next_start_finds_everything(home: Home) -> None:
    first = home.stack
    key = first.state.secret_key()
    owner_query(first.environment, "CREATE TABLE kept (n int); INSERT INTO kept VALUES (7)")
    processes = descendants(first.process.pid)
    began = time.monotonic()
    assert first.stop() == 0
    assert time.monotonic() - began <= ORDERLY_SECONDS
    assert not any(process.is_alive() for process in processes)
    assert processes_of(first.state.root) == []
    assert not first.state.run_file.exists()
    home.stack = second = start_stack(first.state.root)
    assert second.state.secret_key() == key
    assert owner_query(second.environment, "SELECT n FROM kept") == [(7,)]


def test_nothing_survives_a_killed_supervisor_and_the_next_start_takes_over(home: Home) -> None:
    first = home.stack
    assert eventually(lambda: len(descendants(first.process.pid)) > len(CHILDREN), within=ORDERLY_SECONDS)
    processes = descendants(first.process.pid)
    first.kill()
    gone = eventually(lambda: processes_of(first.state.root) == [], within=ORDERLY_SECONDS)
    assert gone, processes_of(first.state.root)
    ended = eventually(lambda: not any(process.is_alive() for process in processes), within=ORDERLY_SECONDS)
    assert ended, [process for process in processes if process.is_alive()]
    home.stack = start_stack(first.state.root)
    assert is_healthy(home.stack)


def test_a_kill_during_the_start_leaves_nothing_and_does_not_look_finished(tmp_path: Path) -> None:
    env = {name: value for name, value in os.environ.items() if not name.startswith("PORTAL_")}
    for delay in (0.1, 0.3, 0.5, 0.8):
        process = subprocess.Popen(
            [sys.executable, "manage.py", "up", "--port", "18999"],
            cwd=CHECKOUT,
            env={**env, "PORTAL_STATE_DIR": str(tmp_path)},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        time.sleep(delay)
        process.kill()
        process.wait()
        assert eventually(lambda: processes_of(tmp_path) == [], within=ORDERLY_SECONDS), processes_of(tmp_path)
    stack = start_stack(tmp_path)
    try:
        assert is_healthy(stack)
    finally:
        stack.stop()


def test_an_empty_installation_has_one_administrator_and_nothing_else(tmp_path: Path) -> None:
    stack = start_stack(tmp_path / "state", extra={"PORTAL_DEMO": "none"})
    try:
        assert list(stack.accounts) == ["admin"]
        counts = {
            table: disk.rows(stack, f"SELECT count(*) AS n FROM {table}")[0]["n"]
            for table in ("tenants_team", "tenants_project", "resources_cluster", "resources_pool", "jobs_job")
        }
        assert counts == {
            "tenants_team": 1,
            "tenants_project": 0,
            "resources_cluster": 0,
            "resources_pool": 0,
            "jobs_job": 0,
        }
        client = WebClient(stack.url.rstrip("/"))
        client.sign_in("admin", stack.accounts["admin"])
        for path in ("/", "/setup", "/setup/pilot", "/jobs", "/queue", "/nodes", "/pools", "/teams", "/usage/projects"):
            assert client.get(path).status == 200, path
    finally:
        assert stack.stop() == 0


def test_empty_is_said_to_the_portals_processes(tmp_path: Path) -> None:
    state = StateFolder(tmp_path)
    assert Up(state, tmp_path, "127.0.0.1", 1, {}, empty=True).env["PORTAL_DEMO"] == "none"
    assert "PORTAL_DEMO" not in Up(state, tmp_path, "127.0.0.1", 1, {}).env
