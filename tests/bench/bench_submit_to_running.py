"""How long a person waits between pressing Submit and a running job, on the local driver.

Jobs are submitted one after another at a pace the machine can follow; the clock runs from the click until the
portal says RUNNING (or more), read every few milliseconds.
"""

import time

from tests.bench.report import Figure, NotRun, at_most, report
from tests.bench.running import SMALL, Portal, percentile, running_portal
from tests.e2e import disk

JOBS = 40
PACE_SECONDS = 1.2
LIMIT_SECONDS = 2.0
POLL_SECONDS = 0.02
GIVE_UP_SECONDS = 30.0
WARM_UP = 3
UNDER_WAY = ("QUEUED", "ADMITTED", "STARTING")


def main() -> int:
    """Measure and report."""
    with running_portal() as portal:
        figures = _measure(portal)
        portal.await_archived(within=60)
    return report(figures)


def _measure(portal: Portal) -> list[Figure]:
    seconds = []
    for number in range(WARM_UP + JOBS):
        began = time.monotonic()
        seconds.append(_until_running(portal, f"paced {number}"))
        time.sleep(max(0.0, PACE_SECONDS - (time.monotonic() - began)))
    counted = seconds[WARM_UP:]
    return [
        at_most(f"submit-to-running p95 of {JOBS}", percentile(counted, 95), "s", LIMIT_SECONDS),
        at_most("submit-to-running median", percentile(counted, 50), "s", LIMIT_SECONDS),
    ]


def _until_running(portal: Portal, name: str) -> float:
    began = time.monotonic()
    job = portal.researcher.submit("run-operation", name=name, **SMALL)
    if job is None:
        raise NotRun("a submit was refused")
    while (state := _state(portal, job)) in UNDER_WAY:
        if time.monotonic() - began > GIVE_UP_SECONDS:
            raise NotRun(f"a job is still {state} after {GIVE_UP_SECONDS:g} s")
        time.sleep(POLL_SECONDS)
    return time.monotonic() - began


def _state(portal: Portal, job: str) -> str:
    return str(disk.rows(portal.stack, "SELECT state FROM jobs_job WHERE id = %s", job)[0]["state"])


if __name__ == "__main__":
    raise SystemExit(main())
