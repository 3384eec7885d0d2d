"""A worker is killed at every named point of our code, once, and the next converges: nothing lost, doubled or leaked.

The points are those of `portal.lib.failpoints`; a new one is visited by itself. One that is not reached fails.
"""

import contextlib
import json
import os
import signal
import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import psycopg
import pytest
from psycopg.rows import dict_row

from portal.embedded.paths import CHECKOUT
from portal.embedded.servers import DATABASE_URL, OWNER_URL, running_servers
from portal.embedded.temporary import temporary_state
from portal.lib.failpoints import FAILPOINTS
from tests.integration.kill.witness import Witness

# A simulated cluster is killed at its own points by the tests of its store and of its contract; a validation at its own
# by test_validation_kill.py, what stops jobs for others by tests/integration/jobs/test_preempting.py.
OTHERS = ("simulated.", "kubernetes.", "jobs.validate.", "jobs.preempt.", "jobs.cycle.after_preempt")
POINTS = [point for point in FAILPOINTS if not point.startswith(OTHERS)]


@dataclass
class Nursery:
    """Workers on servers and a machine of their own; see nursery.py."""

    process: subprocess.Popen[str]
    environment: dict[str, str]
    state: Path
    seen: int = 0

    def work(self, act: str, *, armed: str = "", **order: str) -> dict[str, Any]:
        """What became of a worker with that order."""
        assert self.process.stdin and self.process.stdout
        self.process.stdin.write(json.dumps({"act": act, "armed": armed, **order}) + "\n")
        self.process.stdin.flush()
        answer: dict[str, Any] = json.loads(self.process.stdout.readline())
        return answer

    def do(self, act: str, **order: str) -> Any:
        """The result of a worker that is left in peace."""
        answer = self.work(act, **order)
        assert (answer["signal"], answer["code"]) == (0, 0), answer["said"]
        return answer["result"]

    def rows(self, statement: str, *values: object) -> list[dict[str, Any]]:
        """The rows of one statement."""
        with psycopg.connect(self.environment[DATABASE_URL], row_factory=dict_row) as connection:
            return connection.execute(statement.encode(), values).fetchall()


@dataclass(frozen=True)
class Expected:
    """How a job ends that was disturbed at a point, in how many attempts, and which of them ran the program."""

    state: str = "SUCCEEDED"
    reason: str = "Succeeded"
    attempts: int = 1


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with temporary_state() as state, contextlib.ExitStack() as stack:
        clean = {name: value for name, value in os.environ.items() if not name.startswith("PORTAL_")}
        servers = stack.enter_context(running_servers(state, clean, durable=False))
        environment = {**clean, **servers, "PORTAL_MODE": "embedded"}
        prepare = [sys.executable, "-m", "portal.embedded.prepare"]
        subprocess.run(prepare, cwd=CHECKOUT, env={**environment, "PORTAL_AS_OWNER": "true"}, check=True)
        environment.pop(OWNER_URL)
        process = stack.enter_context(
            subprocess.Popen(
                [sys.executable, "-m", "tests.integration.kill.nursery"],
                cwd=CHECKOUT,
                env=environment,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
        )
        yield Nursery(process, environment, state.root)
        assert process.stdin
        process.stdin.close()


def plain(nursery: Nursery, armed: str) -> tuple[str, Expected]:
    """The worker is killed while it submits the job or carries it on."""
    key = uuid.uuid4().hex
    answer = nursery.work("submit", armed=armed, key=key)
    if answer["signal"] == 0:
        answer = nursery.work("settle", armed=armed, job=answer["result"])
    _assert_killed(answer)
    return nursery.do("submit", key=key), Expected()


def cancelled(nursery: Nursery, armed: str) -> tuple[str, Expected]:
    """The worker is killed while it ends a job whose user cancelled it."""
    job = nursery.do("submit", key=uuid.uuid4().hex, duration="30s")
    nursery.do("run", job=job)
    nursery.do("cancel", job=job)
    _assert_killed(nursery.work("settle", armed=armed, job=job))
    return job, Expected("CANCELLED", "CancelledByUser")


def overdue(nursery: Nursery, armed: str) -> tuple[str, Expected]:
    """The worker is killed while it ends a job that is past its run limit."""
    job = nursery.do("submit", key=uuid.uuid4().hex, duration="30s")
    nursery.do("run", job=job)
    _assert_killed(nursery.work("settle_late", armed=armed, job=job))
    return job, Expected("FAILED", "TimeLimitReached")


def unclaimed(nursery: Nursery, armed: str) -> tuple[str, Expected]:
    """The launchers are killed before they have claimed their members: they are started again."""
    job = nursery.do("submit", key=uuid.uuid4().hex)
    assert nursery.do("lose_launcher", armed=armed, job=job) == "lost"
    return job, Expected()


def launched(nursery: Nursery, armed: str) -> tuple[str, Expected]:
    """The launchers are killed when their program may have run: how it ended is unknown, the job is tried again."""
    job = nursery.do("submit", key=uuid.uuid4().hex)
    assert nursery.do("lose_launcher", armed=armed, job=job) == "lost"
    return job, Expected(attempts=2)


WAYS: dict[str, Callable[[Nursery, str], tuple[str, Expected]]] = {
    "jobs.reconcile.after_stop_intent": overdue,
    "local.stop.after_request": cancelled,
    "local.launcher.before_claim": unclaimed,
    "local.launcher.after_claim": launched,
    "local.launcher.after_start": launched,
    "local.launcher.before_exit_record": launched,
}
"""How to reach the points that a job which simply runs does not pass."""


@pytest.mark.parametrize("point", POINTS)
def test_after_a_kill_at_this_point_the_next_worker_converges(nursery: Nursery, point: str) -> None:
    with Witness("batch.py") as witness:
        job, expected = WAYS.get(point, plain)(nursery, f"{point}=kill")
        assert nursery.do("settle", job=job) == [expected.state, expected.reason]
    _started_at_most_once(nursery, job, expected, witness)
    _given_back(nursery, job)
    _told_whole(nursery, job, expected)


def test_the_witness_of_single_starts_was_not_blind(nursery: Nursery) -> None:
    assert nursery.seen >= len(POINTS), "two members each, of which it may have missed every other one"


def test_the_audit_chain_holds_after_all_kills(nursery: Nursery) -> None:
    command = [sys.executable, "manage.py", "verify-audit"]
    done = subprocess.run(command, cwd=CHECKOUT, env=nursery.environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def _assert_killed(answer: dict[str, Any]) -> None:
    assert answer["signal"] == signal.SIGKILL, f"the point was not reached: {answer}"


def _started_at_most_once(nursery: Nursery, job: str, expected: Expected, witness: Witness) -> None:
    attempts = nursery.rows("SELECT id::text, number FROM jobs_attempt WHERE job_id = %s ORDER BY number", job)
    assert [row["number"] for row in attempts] == list(range(1, expected.attempts + 1))
    starts = [witness.starts(row["id"]) for row in attempts]
    assert all(count == 1 for of_attempt in starts for count in of_attempt.values()), starts
    assert not witness.doubled
    nursery.seen += sum(map(len, starts))
    for index in (0, 1):
        log = _log(nursery, job, attempts[-1]["id"], index)
        assert log.count("pass=1 ") == 1, "the last attempt ran the program, once"


def _log(nursery: Nursery, job: str, attempt: str, index: int) -> str:
    [row] = nursery.rows(
        "SELECT location FROM jobs_artifact WHERE job_id = %s AND attempt_id = %s AND name = %s",
        *(job, attempt, f"member-{index}.log"),
    )
    return Path(row["location"]).read_text(encoding="utf-8")


def _given_back(nursery: Nursery, job: str) -> None:
    allocations = nursery.rows(
        "SELECT a.state, r.completed_at, r.objects_gone_at, r.capacity_free_at FROM jobs_allocation a"
        " JOIN jobs_attempt t ON t.id = a.attempt_id LEFT JOIN jobs_releaserecord r ON r.allocation_id = a.id"
        " WHERE t.job_id = %s",
        job,
    )
    assert allocations and all(row["state"] == "RELEASED" and None not in row.values() for row in allocations)
    assert nursery.rows("SELECT id FROM jobs_attempt WHERE job_id = %s AND NOT closed", job) == []
    for kept in ("jobs", "scratch"):
        left = list((nursery.state / "local" / kept).glob(f"*{job.replace('-', '')}*"))
        assert left == [], "the driver has forgotten it, and its temporary files are gone"
    assert [process for process in psutil.process_iter() if _belongs_to(process, job)] == []


def _belongs_to(process: psutil.Process, job: str) -> bool:
    try:
        return process.environ().get("PORTAL_JOB_ID") == job and process.status() != psutil.STATUS_ZOMBIE
    except psutil.Error:
        return False


def _told_whole(nursery: Nursery, job: str, expected: Expected) -> None:
    """History, audit and files are complete, and nothing is told twice."""
    moves = nursery.rows("SELECT old, new FROM jobs_jobevent WHERE job_id = %s AND kind = 'state'", job)
    assert _end_of_path([(row["old"], row["new"]) for row in moves]) == expected.state
    told = nursery.rows("SELECT kind FROM jobs_jobevent WHERE job_id = %s AND kind IN ('archive', 'release')", job)
    assert sorted(row["kind"] for row in told) == ["archive", *["release"] * expected.attempts]
    audited = nursery.rows("SELECT verb FROM tenants_auditevent WHERE target_id = %s", job)
    assert [row["verb"] for row in audited].count("job.submitted") == 1
    files = nursery.rows("SELECT name, location FROM jobs_artifact WHERE job_id = %s", job)
    kept = {row["name"] for row in files if Path(row["location"]).exists()}
    results = {"result-0", "result-1"} if expected.state == "SUCCEEDED" else set()
    assert kept == {"member-0.log", "member-1.log"} | results


def _end_of_path(moves: list[tuple[str, str]]) -> str:
    """Where the moves lead, each used once, beginning at nowhere; fails when they are not one path."""
    here, left = "", list(moves)
    while left:
        step = next((move for move in left if move[0] == here), None)
        assert step, f"no way on from {here!r}: {moves}"
        left.remove(step)
        here = step[1]
    return here
