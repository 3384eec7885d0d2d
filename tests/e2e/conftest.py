"""The running portal and the browser of these tests: real ones, started once a worker."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import Browser

from portal.embedded.stack import Stack, start_stack
from tests.e2e import shots
from tests.e2e.person import Person, person
from tests.e2e.prepared import prepared


def pytest_configure(config: pytest.Config) -> None:
    """The marker of tests that take minutes: `-m "not slow"` leaves them out."""
    config.addinivalue_line("markers", "slow: takes minutes, not seconds")


@pytest.fixture(scope="session")
def stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """The portal with its demo data, in a state folder of its own."""
    running = start_stack(prepared(tmp_path_factory, "portal"))
    yield running
    running.stop()


@pytest.fixture(scope="session")
def base_url(stack: Stack) -> str:
    """Where it answers, without the last slash."""
    return stack.url.rstrip("/")


@pytest.fixture(scope="session")
def chromium() -> Iterator[Browser]:
    """The browser. Without one these tests are skipped, or fail where PORTAL_REQUIRE_BROWSER is 1."""
    if not Path(shots.CHROMIUM).exists():
        notice = f"no browser at {shots.CHROMIUM}: install chromium, or name one in PORTAL_CHROMIUM"
        if os.environ.get("PORTAL_REQUIRE_BROWSER") == "1":
            pytest.fail(notice)
        pytest.skip(notice)
    with shots.browser() as started:
        yield started


@pytest.fixture(scope="module")
def researcher(chromium: Browser, stack: Stack, base_url: str) -> Iterator[Person]:
    """The demo researcher, signed in, on a wide window."""
    with person(chromium, base_url, viewport={"width": 1280, "height": 900}) as someone:
        someone.sign_in("researcher", stack.accounts["researcher"])
        yield someone
