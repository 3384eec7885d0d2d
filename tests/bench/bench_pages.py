"""Every page that every role can reach on the demo fleet, over HTTP through the web server, signed in; how many SQL
statements each takes, counted in this process on the same database; and when a browser first paints.
"""

import os
import random
import time
from collections.abc import Mapping
from functools import partial
from typing import Any

from tests.bench.bench_demo_history import seconds_to_seed
from tests.bench.report import Figure, NotRun, at_most, report
from tests.bench.running import SMALL, Portal, percentile, running_portal
from tests.e2e import disk
from tests.e2e.gallery import pages_of
from tests.e2e.person import person, until
from tests.e2e.shots import browser
from tests.e2e.web_client import Answer, WebClient

ROUNDS = 15
LIMIT_MS = 200.0
PAINT_MS = 1_000.0
MOST_SQL = 30
SEED = 7
WHO = ("researcher", "admin", "pooladmin", "lead", "manager", "auditor", "viewer")
VERDICT = "/templates/run-operation/preview"
"""The live verdict: posted, with the form's fields."""
PARTS = ("/status", "/log?after=0")
Pages = Mapping[str, Mapping[str, str]]
"""User -> name of the page -> path."""


def main() -> int:
    """Measure and report."""
    with running_portal() as portal:
        seconds_to_seed(portal.stack)
        _django(portal)
        clients = {user: _client(portal, user) for user in WHO}
        pages = _pages(portal)
        figures = [*_times(clients, pages), *_paints(portal, pages), *_statements(pages)]
    return report(figures)


def _django(portal: Portal) -> None:
    """Django in this process, on the database of the running portal: it reads, and writes nothing but its session."""
    os.environ.update(
        portal.stack.environment | {"PORTAL_MODE": "embedded", "DJANGO_SETTINGS_MODULE": "portal.settings"}
    )
    import django
    from django.conf import settings

    django.setup()
    settings.ALLOWED_HOSTS = [*settings.ALLOWED_HOSTS, "testserver"]


def _client(portal: Portal, user: str) -> WebClient:
    client = WebClient(portal.stack.url.rstrip("/"))
    client.sign_in(user, portal.stack.accounts[user])
    return client


def _pages(portal: Portal) -> dict[str, dict[str, str]]:
    """What each can reach, each kind of page with the first who can; and the parts of a job that ended."""
    base, found, done = portal.stack.url.rstrip("/"), {}, set[str]()
    for user in WHO:
        own = pages_of(base, user, portal.stack.accounts[user])
        found[user] = {f"{user} {kind}": path for kind, path in own.items() if kind == "home" or kind not in done}
        done |= own.keys()
    query = "SELECT j.id FROM jobs_job j JOIN tenants_user u ON u.id = j.submitter_id WHERE u.username = 'researcher'"
    job = str(disk.rows(portal.stack, f"{query} AND j.state = 'SUCCEEDED' LIMIT 1")[0]["id"])
    parts = {f"researcher job{part.partition('?')[0]}": f"/jobs/{job}{part}" for part in PARTS}
    found["researcher"] |= parts | {"researcher verdict": VERDICT}
    return found


def _times(clients: Mapping[str, WebClient], pages: Pages) -> list[Figure]:
    order = [(user, name, path) for user, own in pages.items() for name, path in own.items()]
    for user, _name, path in order:
        _ask(clients[user], path)
    order *= ROUNDS
    random.Random(SEED).shuffle(order)
    taken: dict[str, list[float]] = {}
    for user, name, path in order:
        began = time.monotonic()
        answer = _ask(clients[user], path)
        taken.setdefault(name, []).append((time.monotonic() - began) * 1000)
        if answer.status not in (200, 302):
            raise NotRun(f"{path} answered {answer.status} to {user}")
    everything = [ms for of_page in taken.values() for ms in of_page]
    return [
        at_most("pages p95", percentile(everything, 95), "ms", LIMIT_MS),
        *(at_most(f"pages p95 of {name}", percentile(ms, 95), "ms", LIMIT_MS) for name, ms in taken.items()),
    ]


def _ask(client: WebClient, path: str) -> Answer:
    return client.post(path, **SMALL) if path == VERDICT else client.get(path)


def _paints(portal: Portal, pages: Pages) -> list[Figure]:
    """When a browser with an empty cache first paints each home, and with a warm one the other pages."""
    figures, warm = [], []
    entries = "performance.getEntriesByName('first-contentful-paint')"
    with browser() as chromium:
        for user in WHO:
            with person(chromium, portal.stack.url.rstrip("/"), viewport={"width": 1280, "height": 900}) as reader:
                reader.sign_in(user, portal.stack.accounts[user])
                for name, path in pages[user].items():
                    if path == VERDICT or any(part in path for part in PARTS):
                        continue
                    reader.page.goto(reader.base + path)
                    until(partial(reader.page.evaluate, f"{entries}.length"), within=10, what=f"{path} is not painted")
                    warm.append(float(reader.page.evaluate(f"{entries}[0].startTime")))
                    if name.endswith(" home"):
                        figures.append(at_most(f"first paint of {name}", warm[-1], "ms", PAINT_MS))
    return [at_most("first paint p95", percentile(warm, 95), "ms", PAINT_MS), *figures]


def _statements(pages: Pages) -> list[Figure]:
    from django.db import connection
    from django.test import Client
    from django.test.utils import CaptureQueriesContext

    from tenants.models import User

    figures = []
    for user, own in pages.items():
        client = Client()
        client.force_login(User.objects.get(username=user))
        for name, path in own.items():
            ask: Any = partial(client.post, path, SMALL) if path == VERDICT else partial(client.get, path)
            ask()
            with CaptureQueriesContext(connection) as captured:
                ask()
            figures.append(at_most(f"sql of {name}", len(captured), "statements", MOST_SQL))
    return figures


if __name__ == "__main__":
    raise SystemExit(main())
