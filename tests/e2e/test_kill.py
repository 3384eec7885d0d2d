"""kill -9 of whatever runs the portal, at any moment: no job is lost, none is started twice, all comes back."""

import http.client
import os
import random
import signal
import subprocess
import sys
import threading
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass, field

import psutil
import pytest

from portal.embedded.paths import CHECKOUT
from portal.embedded.stack import Stack, start_stack
from tests.e2e import disk
from tests.e2e.person import until
from tests.e2e.prepared import prepared
from tests.e2e.web_client import WebClient
from tests.integration.kill.witness import Witness

pytestmark = pytest.mark.slow

SEED = 20261130
KILLS = 20
VICTIMS = ("postgres", "valkey", "web", "worker-io", "worker-cycle")
HEAL_SECONDS = 60.0
SETTLE_SECONDS = 120.0
PAUSE_SECONDS = 0.8
SMALL = {
    **{"params-operation": "matrix-multiply", "params-matrix_size": "32", "params-duration": "1s"},
    **{"params-size_mib": "1", "params-seed": "1"},
    **{"members": "1", "cpu": "100m", "memory": "256Mi", "time_limit": "5m"},
}


@dataclass
class Flow:
    """Somebody who submits job after job, and asks again with the same key until the portal has answered."""

    client: WebClient
    jobs: dict[str, str] = field(default_factory=dict)
    refusals: int = 0

    def __post_init__(self) -> None:
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._run, daemon=True)

    def __enter__(self) -> "Flow":
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._stop.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._stop.is_set():
            key = uuid.uuid4().hex
            while (job := self._try(key)) is None:
                self.refusals += 1
                if self._stop.wait(0.1):
                    return  # a portal that takes nothing is for the test to say, not to wait for
            self.jobs[key] = job
            self._stop.wait(PAUSE_SECONDS)

    def _try(self, key: str) -> str | None:
        try:
            return self.client.submit("run-operation", key=key, name=f"flow {key[:6]}", **SMALL)
        except (OSError, http.client.HTTPException):
            return None


@dataclass
class Home:
    """The running portal; a test may replace it by the next `up` on the same state folder."""

    stack: Stack


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Home]:
    it = Home(start_stack(prepared(tmp_path_factory, "killed")))
    yield it
    it.stack.stop()


def test_twenty_kills_of_random_children_lose_no_job_and_start_none_twice(home: Home) -> None:
    stack, chance = home.stack, random.Random(SEED)
    victims = [*VICTIMS, *chance.choices(VICTIMS, k=KILLS - len(VICTIMS))]
    chance.shuffle(victims)
    with Witness("batch.py") as witness:
        with Flow(_researcher(stack)) as flow:
            until(lambda: len(flow.jobs) >= 2, within=30, what="no job was taken")
            for victim in victims:
                time.sleep(chance.uniform(0.2, 2.0))
                _kill_and_heal(stack, victim)
        _await_archived(stack)
    assert len(flow.jobs) >= KILLS and len(set(flow.jobs.values())) == len(flow.jobs)
    _nothing_lost_or_doubled(stack, dict.fromkeys(flow.jobs.values(), "SUCCEEDED"), witness)
    assert flow.refusals, "no kill was ever noticed: the flow was too slow to prove anything"


def test_running_jobs_outlive_a_killed_supervisor_and_are_adopted_by_the_next_up(home: Home) -> None:
    before = home.stack
    with Witness("batch.py") as witness:
        researcher = _researcher(before)
        long = researcher.submit(
            "run-operation", name="outlives", **SMALL | {"params-duration": "10m", "time_limit": "1h"}
        )
        short = researcher.submit("run-operation", name="ends unseen", **SMALL | {"params-duration": "3s"})
        assert long and short
        until(lambda: {_state(before, job) for job in (long, short)} == {"RUNNING"}, within=30, what="not running")
        programs = witness.look()
        before.kill()
        until(lambda: not _portal_processes(before), within=20, what="processes of the portal are left")
        until(lambda: len(witness.look()) == 1, within=20, what="the short job goes on, and ends")
        home.stack = start_stack(before.state.root)
        [survivor] = witness.look()
        assert survivor in programs, "the job was not touched by the start"
        until(lambda: _state(home.stack, short) == "SUCCEEDED", within=30, what="an end nobody saw is not read")
        assert _state(home.stack, long) == "RUNNING"
        assert _researcher(home.stack).post(f"/jobs/{long}/cancel").status == 302
        _await_archived(home.stack)
        assert witness.look() == set()
    _nothing_lost_or_doubled(home.stack, {short: "SUCCEEDED", long: "CANCELLED"}, witness)


def _researcher(stack: Stack) -> WebClient:
    client = WebClient(stack.url.rstrip("/"), time_out=10)
    client.sign_in("researcher", stack.accounts["researcher"])
    return client


def _kill_and_heal(stack: Stack, victim: str) -> None:
    before = stack.pids[victim]
    os.kill(before, signal.SIGKILL)
    until(
        lambda: stack.pids.get(victim) not in (None, before) and _is_healthy(stack),
        within=HEAL_SECONDS,
        what=f"{victim} did not come back",
    )


def _is_healthy(stack: Stack) -> bool:
    try:
        return WebClient(stack.url.rstrip("/"), time_out=5).get("/healthz").status == 200
    except (OSError, http.client.HTTPException):
        return False


def _await_archived(stack: Stack) -> None:
    def open_jobs() -> list[dict[str, object]]:
        return disk.rows(stack, "SELECT name, state, reason, facts FROM jobs_job WHERE archived_at IS NULL")

    deadline = time.monotonic() + SETTLE_SECONDS
    while found := open_jobs():
        assert time.monotonic() < deadline, found
        time.sleep(0.2)


def _nothing_lost_or_doubled(stack: Stack, jobs: dict[str, str], witness: Witness) -> None:
    stored = {row["id"]: row["state"] for row in disk.rows(stack, "SELECT id::text, state FROM jobs_job")}
    assert {job: stored.get(job) for job in jobs} == jobs, "a job whose submit was answered is gone, or ended otherwise"
    attempts = disk.rows(stack, "SELECT id::text, job_id::text AS job, workload_name FROM jobs_attempt")
    ours = [row for row in attempts if row["job"] in jobs]
    assert sorted(row["job"] for row in ours) == sorted(jobs), "each job was tried once"
    starts = [witness.starts(row["id"]) for row in ours]
    assert all(count == 1 for of_attempt in starts for count in of_attempt.values()), starts
    assert sum(map(len, starts)) * 2 >= len(ours), "the witness was blind"
    assert not witness.doubled
    for row in ours:
        log = disk.artifact(stack, row["job"], "member-0.log").read_text(encoding="utf-8")
        ends = 1 if jobs[row["job"]] == "SUCCEEDED" else 0
        assert (log.count("pass=1 "), log.count("done passes=")) == (1, ends), log
    assert disk.rows(stack, "SELECT state FROM jobs_allocation WHERE state <> 'RELEASED'") == []
    kept = stack.state.root / "local" / "jobs"
    end = time.monotonic() + 30  # forgetting is the last step, one pass behind the release
    while list(kept.iterdir()) and time.monotonic() < end:
        time.sleep(0.2)
    assert list(kept.iterdir()) == [], "the driver has forgotten them all"
    assert _verify_audit(stack) == 0


def _verify_audit(stack: Stack) -> int:
    env = {name: value for name, value in os.environ.items() if not name.startswith("PORTAL_")}
    env["PORTAL_STATE_DIR"] = str(stack.state.root)
    command = [sys.executable, "manage.py", "verify-audit"]
    return subprocess.run(command, cwd=CHECKOUT, env=env, check=False, timeout=60).returncode


def _state(stack: Stack, job: str) -> str:
    return str(disk.rows(stack, "SELECT state FROM jobs_job WHERE id = %s", job)[0]["state"])


def _portal_processes(stack: Stack) -> list[int]:
    return [process.pid for process in psutil.process_iter() if _belongs(process, stack)]


def _belongs(process: psutil.Process, stack: Stack) -> bool:
    try:
        ours = process.environ().get("PORTAL_STATE_DIR") == str(stack.state.root)
        return ours and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False
