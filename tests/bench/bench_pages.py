"""Every page of the researcher's path over HTTP through the web server, signed in, with jobs in every group; and
how many SQL statements each takes, counted in this process on the same database.
"""

import os
import random
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from tests.bench.report import Figure, NotRun, at_most, report
from tests.bench.running import SMALL, Portal, percentile, running_portal
from tests.e2e import disk
from tests.e2e.web_client import Answer

ROUNDS = 25
LIMIT_MS = 200.0
MOST_SQL = 30
JOBS = 12
WAITING = 5
SEED = 7
PATHS = (
    "/",
    "/templates",
    "/templates/run-operation",
    "/templates/run-operation/new",
    "/jobs",
    "/jobs?state=succeeded",
    "/services",
    "/usage/me",
    "/usage/projects",
    "/pools",
    "/pools/local",
)
VERDICT = "/templates/run-operation/preview"
"""The live verdict: posted, with the form's fields."""
PARTS = ("", "?tab=log", "?tab=history", "?tab=files", "?tab=usage", "?tab=manifest", "/status", "/log?after=0")


def main() -> int:
    """Measure and report."""
    with running_portal() as portal, _some_jobs(portal) as job:
        paths = [*PATHS, VERDICT, f"/usage/jobs/{job}", *(f"/jobs/{job}{part}" for part in PARTS)]
        figures = [*_times(portal, paths), *_statements(portal, paths)]
    return report([_plain(figure, job) for figure in figures])


@contextmanager
def _some_jobs(portal: Portal) -> Iterator[str]:
    """Jobs that ended, one that runs and some that wait for it; gives one that ended."""
    for number in range(JOBS):
        portal.researcher.submit("run-operation", name=f"ended {number}", **SMALL)
    portal.await_archived(within=120)
    session = {"params-time_to_live": "30m", "params-heartbeat": "10m", "params-note": ""}
    open_jobs = [portal.researcher.submit("open-session", name="runs", **session, cpu="100m", memory="256Mi")]
    milli = int(disk.rows(portal.stack, "SELECT cpu_allocatable_milli AS milli FROM resources_node")[0]["milli"])
    whole = {"members": str(-(-milli // 16_000)), "cpu": f"{milli // -(-milli // 16_000)}m"}
    for number in range(WAITING):
        open_jobs.append(portal.researcher.submit("run-operation", name=f"waits {number}", **SMALL | whole))
    try:
        yield str(disk.rows(portal.stack, "SELECT id FROM jobs_job WHERE state = 'SUCCEEDED' LIMIT 1")[0]["id"])
    finally:
        for job in reversed(open_jobs):
            portal.researcher.post(f"/jobs/{job}/cancel")
        portal.await_archived(within=60)


def _times(portal: Portal, paths: list[str]) -> list[Figure]:
    taken: dict[str, list[float]] = {path: [] for path in paths}
    order = [path for path in paths for _ in range(ROUNDS)]
    for path in paths:
        _ask(portal, path)
    random.Random(SEED).shuffle(order)
    for path in order:
        began = time.monotonic()
        answer = _ask(portal, path)
        taken[path].append((time.monotonic() - began) * 1000)
        if answer.status != 200:
            raise NotRun(f"{path} answered {answer.status}")
    everything = [ms for of_path in taken.values() for ms in of_path]
    return [
        at_most("pages p95", percentile(everything, 95), "ms", LIMIT_MS),
        *(at_most(f"pages p95 of {path}", percentile(taken[path], 95), "ms", LIMIT_MS) for path in paths),
    ]


def _ask(portal: Portal, path: str) -> Answer:
    return portal.researcher.post(path, **SMALL) if path == VERDICT else portal.researcher.get(path)


def _statements(portal: Portal, paths: list[str]) -> list[Figure]:
    """Django in this process, on the database of the running portal: it reads, and writes nothing but its session."""
    os.environ.update(
        portal.stack.environment | {"PORTAL_MODE": "embedded", "DJANGO_SETTINGS_MODULE": "portal.settings"}
    )
    import django
    from django.conf import settings
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    django.setup()
    from tenants.models import User

    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, "testserver"]
    client = Client()
    client.force_login(User.objects.get(username="researcher"))
    figures = []
    for path in paths:
        ask = partial(client.post, path, SMALL) if path == VERDICT else partial(client.get, path)
        ask()
        with CaptureQueriesContext(connection) as captured:
            ask()
        figures.append(at_most(f"sql of {path}", len(captured), "statements", MOST_SQL))
    return figures


def _plain(figure: Figure, job: str) -> Figure:
    """The figure without the job's key in its name."""
    return Figure(figure.name.replace(job, "…"), figure.value, figure.unit, figure.target, figure.is_ok)


if __name__ == "__main__":
    raise SystemExit(main())
