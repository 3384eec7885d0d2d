"""The demo fleet behind the first page: how long its eight weeks take, and which reasons its jobs have met.

On the machine of whoever starts it, beside the portal that is already serving.
"""

import subprocess
import time

from jobs.reasons import Kind, Reason
from portal.embedded.stack import Stack
from portal.embedded.terminal import tell
from tests.bench.report import Figure, NotRun, at_least, at_most, report
from tests.bench.running import running_portal
from tests.e2e import disk
from tests.e2e.gallery import seed

LIMIT_SECONDS = 90.0
LEAST_JOBS = 1_900
# What no code says yet, or what cannot happen on a simulated cluster, with why.
NOT_YET = {
    **dict.fromkeys((Reason.HOLD_LIFTED, Reason.APPROVAL_PENDING, Reason.HELD_BY_OPERATOR, Reason.DECLINED), "tenancy"),
    **dict.fromkeys((Reason.BACKED_OFF, Reason.HOSTS_EXCLUDED), "scheduler"),
    **dict.fromkeys((Reason.PREEMPTED, Reason.RECLAIMED, Reason.EVENED_OUT), "the past is replayed without stopping"),
    Reason.MAKING_ROOM: "the past is replayed without stopping",
    Reason.CHANGED: "only a person changes a job that waits",
    **dict.fromkeys((Reason.PLACEMENT_WITHDRAWN, Reason.POOL_PAUSED), "scheduler"),
    **dict.fromkeys((Reason.LABELS_UNMATCHED, Reason.RUNTIME_NOT_VALIDATED), "scheduler"),
    **dict.fromkeys((Reason.NO_WHOLE_DEVICE, Reason.DEVICE_AMOUNT, Reason.EMPTY_DEMAND), "devices are asked for whole"),
    **dict.fromkeys((Reason.IMAGE_UNAVAILABLE, Reason.IMAGE_MISMATCH, Reason.RUNTIME_MISMATCH), "classifier"),
    **dict.fromkeys((Reason.DEVICE_FAULT, Reason.NEVER_FITS, Reason.NODE_LOST), "classifier"),
    **dict.fromkeys((Reason.NOT_RELEASED, Reason.RELEASE_NOT_OBSERVED), "said on the page, no event"),
    **dict.fromkeys((Reason.STOP_REQUESTED, Reason.WAITING_FOR_CLUSTER), "said on the page, no event"),
    Reason.NOT_EVALUATED: "only until the next pass",
    Reason.REJECTED_BY_CLUSTER: "a simulated cluster refuses nothing the scheduler places",
    Reason.TIME_TO_LIVE: "a session ends by itself in time",
    Reason.NO_POOL: "nobody can submit without a pool",
}  # fmt: skip


def main() -> int:
    """Measure and report."""
    with running_portal() as portal:
        seconds = seconds_to_seed(portal.stack)
        figures = [
            at_most("demo-history", seconds, "s", LIMIT_SECONDS),
            at_least("demo-history jobs", _count(portal.stack, "jobs_job"), "jobs", LEAST_JOBS),
            _reasons(portal.stack),
        ]
    return report(figures)


def seconds_to_seed(stack: Stack) -> float:
    """Seconds until the fleet and its past are there. Raises NotRun."""
    began = time.monotonic()
    try:
        seed(stack)
    except (RuntimeError, subprocess.TimeoutExpired) as error:
        raise NotRun(str(error)[-400:]) from error
    return time.monotonic() - began


def _reasons(stack: Stack) -> Figure:
    """Reasons that the code can say and that no job of the past has met."""
    rows = disk.rows(stack, "SELECT DISTINCT reason FROM jobs_jobevent UNION SELECT DISTINCT reason FROM jobs_job")
    met = {row["reason"] for row in rows}
    missing = [reason.value for reason in Reason if reason.value not in met and reason not in NOT_YET]
    for kind in Kind:
        names = sorted(r.value for r in Reason if r.kind is kind and r.value in met)
        tell(f"{kind.value}: {', '.join(names)}")
    tell(f"missing: {', '.join(missing) or 'none'}")
    return at_most("demo-history reasons that no job met", len(missing), "reasons", 0)


def _count(stack: Stack, table: str) -> int:
    return int(disk.rows(stack, f"SELECT count(*) AS n FROM {table}")[0]["n"])


if __name__ == "__main__":
    raise SystemExit(main())
