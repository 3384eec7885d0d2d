"""Pictures of every page of every role: both languages, both themes, two widths.

    ./dev shots [FOLDER]        # starts a portal of its own with the demo fleet, or:
    python -m tests.e2e.gallery FOLDER --url http://127.0.0.1:8000 --accounts STATE/demo-accounts.json

One folder a role; prints what the browser complained about and exits 1 when there is anything.
"""

import argparse
import json
import os
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import django

from portal.embedded.paths import CHECKOUT
from portal.embedded.stack import Stack, start_stack
from portal.embedded.temporary import temporary_state
from tests.e2e.shots import shots
from tests.e2e.web_client import WebClient

JOBS = 300


def seed(stack: Stack, *options: str) -> None:
    """Add the demo fleet and its past to a running portal. Raises RuntimeError with what it said."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PORTAL_")}
    env = clean | stack.environment | {"PORTAL_MODE": "embedded", "PORTAL_STATE_DIR": str(stack.state.root)}
    command = [sys.executable, "manage.py", "seed_fleet", *options]
    done = subprocess.run(command, env=env, cwd=CHECKOUT, capture_output=True, text=True, timeout=500, check=False)
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])


def seeded(state: Path) -> Stack:
    """A portal with the demo fleet and a shorter past than a user gets. Raises RuntimeError."""
    stack = start_stack(state)
    try:
        seed(stack, "--jobs", str(JOBS))
    except BaseException:
        stack.stop()
        raise
    return stack


def pages_of(base_url: str, user: str, password: str, dead: list[str] | None = None) -> dict[str, str]:
    """Kind of page -> path, as this person's links lead to them; links that lead nowhere are added to `dead`."""
    from tests.e2e.crawl import crawl  # it asks Django what a path is

    client = WebClient(base_url)
    client.sign_in(user, password)

    def html_of(path: str, origin: str) -> str | None:
        answer = client.get(path)
        if answer.status not in (200, 302) and dead is not None:
            dead.append(f"{user}: {origin} links to {path}, which answers {answer.status}")
        if answer.status == 302:
            return f'href="{answer.location}"'
        return answer.text if answer.status == 200 and "<html" in answer.text[:500] else None

    return crawl(html_of)


def main() -> int:
    """The command line above."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, nargs="?", default=Path("shots"))
    parser.add_argument("--url", default="")
    parser.add_argument("--accounts", type=Path)
    parser.add_argument("--only", nargs="*", default=[], help="user names; all of the cast without it")
    given = parser.parse_args()
    with ExitStack() as opened:
        if given.url:
            rows = json.loads(given.accounts.read_text(encoding="utf-8"))
            accounts, url = {row["username"]: row["password"] for row in rows}, given.url.rstrip("/")
        else:
            stack = seeded(opened.enter_context(temporary_state()).root)
            opened.callback(stack.stop)
            accounts, url = stack.accounts, stack.url.rstrip("/")
        os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
        os.environ.setdefault("PORTAL_MODE", "test")
        django.setup()
        found = []
        for user in given.only or accounts:
            paths = pages_of(url, user, accounts[user]).values()
            found += shots(url, paths, given.folder / user, user=user, password=accounts[user])
    sys.stdout.write("\n".join([*found, ""]) if found else "no complaint\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
