"""A portal to measure: started for one bench, with its demo data and somebody signed in, and ended with it."""

import math
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from portal.embedded.stack import Stack, start_stack
from portal.embedded.temporary import temporary_state
from portal.embedded.terminal import tell
from tests.bench.report import NotRun
from tests.e2e import disk
from tests.e2e.person import until
from tests.e2e.web_client import WebClient

SMALL = {
    **{"params-operation": "matrix-multiply", "params-matrix_size": "32", "params-size_mib": "1", "params-seed": "1"},
    **{"params-duration": "1s", "members": "1", "cpu": "100m", "memory": "256Mi", "time_limit": "5m"},
}
"""An operation that runs for a second on a tenth of a core."""


@dataclass(frozen=True, slots=True)
class Portal:
    """The running portal and the demo researcher."""

    stack: Stack
    researcher: WebClient

    def await_archived(self, *, within: float) -> None:
        """Wait until no job is under way."""
        unfinished = "SELECT id FROM jobs_job WHERE archived_at IS NULL"
        until(lambda: not disk.rows(self.stack, unfinished), within=within, what="jobs do not end")


@contextmanager
def running_portal() -> Iterator[Portal]:
    """In a temporary state folder. Jobs outlive a portal, so whoever starts some must see them end."""
    tell(f"machine: {os.cpu_count()} CPUs, load average {os.getloadavg()[0]:.1f} before the start")
    with temporary_state() as state:
        stack = start_stack(state.root)
        try:
            researcher = WebClient(stack.url.rstrip("/"))
            researcher.sign_in("researcher", stack.accounts["researcher"])
            yield Portal(stack, researcher)
        except AssertionError as error:
            raise NotRun(f"{error}; {_under_way(stack)}") from error
        finally:
            stack.stop()


def _under_way(stack: Stack) -> str:
    """What the jobs say that have not ended, for somebody who has to find out why a bench broke off."""
    rows = disk.rows(stack, "SELECT name, state, reason, facts FROM jobs_job WHERE archived_at IS NULL LIMIT 3")
    return f"under way: {rows}"


def percentile(values: Sequence[float], percent: float) -> float:
    """The smallest value that at least this percentage of the values do not exceed."""
    ranked = sorted(values)
    return ranked[max(0, math.ceil(len(ranked) * percent / 100) - 1)]
