"""Submits over HTTP through the web server, open loop: a request leaves when its time has come, answered or not.

The clock of a request runs from that time, so a portal that falls behind is not excused. Each job asks for the whole
machine, of which a small session holds a piece: what is measured is the submit, with the scheduler at work on a growing
queue, not six hundred programs that start.
"""

import http.client
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from tests.bench.report import Figure, NotRun, at_least, at_most, report
from tests.bench.running import SMALL, Portal, percentile, running_portal
from tests.e2e import disk
from tests.e2e.person import until

PER_SECOND = 10
SECONDS = 60
LIMIT_MS = 150.0
THREADS = 64
LARGEST_MEMBER_MILLI = 16_000
WARM_UP = 20


@dataclass(frozen=True, slots=True)
class Taken:
    """How long one submit took, and the job it gave; None is an error."""

    ms: float
    job: str | None


def main() -> int:
    """Measure and report."""
    with running_portal() as portal:
        session = _hold_a_piece(portal)
        try:
            figures = _measure(portal, SMALL | _whole_machine(portal))
        finally:
            portal.researcher.post(f"/jobs/{session}/cancel")
            until(lambda: _has(portal, session, "archived_at IS NOT NULL"), within=60, what="the session does not end")
    return report(figures)


def _measure(portal: Portal, fields: dict[str, str]) -> list[Figure]:
    for number in range(WARM_UP):
        portal.researcher.submit("run-operation", name=f"warm {number}", **fields)
    total = PER_SECOND * SECONDS
    begin = time.monotonic() + 0.5
    with ThreadPoolExecutor(THREADS) as pool:
        waiting = [pool.submit(_one, portal, fields, begin + number / PER_SECOND, number) for number in range(total)]
        taken = [future.result() for future in waiting]
    stored = disk.rows(portal.stack, "SELECT count(*) AS n FROM jobs_job WHERE name LIKE 'open %%'")[0]["n"]
    p95, median = (percentile([answer.ms for answer in taken], percent) for percent in (95, 50))
    return [
        at_most(f"submit p95 at {PER_SECOND}/s for {SECONDS} s", p95, "ms", LIMIT_MS),
        at_most("submit median", median, "ms", LIMIT_MS),
        at_most("submit errors", sum(answer.job is None for answer in taken), "errors", 0),
        at_least("submit jobs stored", stored, "jobs", total),
    ]


def _one(portal: Portal, fields: dict[str, str], at: float, number: int) -> Taken:
    time.sleep(max(0.0, at - time.monotonic()))
    try:
        job = portal.researcher.submit("run-operation", name=f"open {number}", **fields)
    except (OSError, http.client.HTTPException):
        job = None
    return Taken((time.monotonic() - at) * 1000, job)


def _whole_machine(portal: Portal) -> dict[str, str]:
    """The size fields of a job as large as the machine."""
    milli = int(disk.rows(portal.stack, "SELECT cpu_allocatable_milli AS milli FROM resources_node")[0]["milli"])
    members = -(-milli // LARGEST_MEMBER_MILLI)
    return {"members": str(members), "cpu": f"{milli // members}m"}


def _hold_a_piece(portal: Portal) -> str:
    """A session that holds a tenth of a core for longer than the bench takes."""
    fields = {"params-time_to_live": "30m", "params-heartbeat": "10m", "params-note": ""}
    job = portal.researcher.submit("open-session", name="holds", **fields, cpu="100m", memory="256Mi")
    if job is None:
        raise NotRun("no session could be opened")
    until(lambda: _has(portal, job, "state = 'RUNNING'"), within=30, what="the session does not run")
    return job


def _has(portal: Portal, job: str, condition: str) -> bool:
    return bool(disk.rows(portal.stack, f"SELECT id FROM jobs_job WHERE id = %s AND {condition}", job))


if __name__ == "__main__":
    raise SystemExit(main())
