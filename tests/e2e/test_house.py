"""Every page that every role can reach on the demo fleet: no complaint of the browser, nothing wider than its window,
nothing that axe objects to, no error, in both themes; and nothing of it for a stranger.
"""

from collections.abc import Iterator
from typing import Literal

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Browser, Page, ViewportSize

from portal.embedded.stack import Stack
from tests.e2e.gallery import pages_of, seeded
from tests.e2e.person import Person, person
from tests.e2e.prepared import prepared
from tests.e2e.web_client import WebClient

WIDE, NARROW = ViewportSize(width=1280, height=900), ViewportSize(width=390, height=844)
LOOKS: dict[Literal["light", "dark"], ViewportSize] = {"light": WIDE, "dark": NARROW}
"""Theme -> window; every page is read in each."""
# Who -> pages they must be able to reach.
EXPECTED = {
    "admin": {"home", "setup", "cluster_list", "node_detail", "pool_detail", "class_detail", "team_detail"},
    "pooladmin": {"home", "node_list", "pool_detail"},
    "auditor": {"home", "audit_list", "job_detail"},
    "manager": {"home", "usage_by_project", "job_list"},
    "lead": {"home", "team_detail", "project_detail", "job_detail"},
    "owner": {"home", "template_detail", "job_new", "job_detail", "service_list"},
    "researcher": {"home", "template_detail", "job_new", "job_detail", "my_usage", "queue_page"},
    "viewer": {"home", "job_list", "job_detail"},
}  # fmt: skip
RULES = {
    "runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"],
    "resultTypes": ["violations"],  # the rest would be megabytes a page
}


@pytest.fixture(scope="module")
def fleet(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    """A portal with the demo fleet and a shorter past than a user gets."""
    running = seeded(prepared(tmp_path_factory, "fleet"))
    yield running
    running.stop()


def reachable(fleet: Stack, user: str) -> dict[str, str]:
    """Pages by kind that this person's links lead to; every link leads somewhere."""
    dead: list[str] = []
    found = pages_of(fleet.url.rstrip("/"), user, fleet.accounts[user], dead)
    assert not dead, "\n".join(dead)
    return found


@pytest.fixture(scope="module")
def pages(fleet: Stack) -> dict[str, dict[str, str]]:
    """User -> kind of page -> path."""
    return {user: reachable(fleet, user) for user in EXPECTED}


def test_every_role_reaches_its_pages(pages: dict[str, dict[str, str]]) -> None:
    missing = {user: sorted(kinds - pages[user].keys()) for user, kinds in EXPECTED.items()}
    assert not any(missing.values()), missing


@pytest.mark.parametrize("user", EXPECTED)
def test_axe_and_the_browser_object_to_nothing(
    chromium: Browser, fleet: Stack, pages: dict[str, dict[str, str]], user: str
) -> None:
    found: list[str] = []
    done = set().union(*(pages[other].keys() for other in list(EXPECTED)[: list(EXPECTED).index(user)]))
    with person(chromium, fleet.url.rstrip("/"), reduced_motion="reduce") as reader:  # else a colour is on its way
        reader.page.add_init_script(Axe().axe_script)
        looks = list(LOOKS)
        reader.wear(scheme=looks[0], window=LOOKS[looks[0]])
        reader.sign_in(user, fleet.accounts[user])
        for kind, path in pages[user].items():
            if kind in done and kind != "home":
                continue  # the same page was read with another role's eyes
            reader.go(path)
            found += objections(reader.page, f"{user} {looks[0]} {path}")
            looks.reverse()  # one page is opened in this look and turned to that, the next the other way round
            reader.wear(scheme=looks[0], window=LOOKS[looks[0]])
            found += objections(reader.page, f"{user} {looks[0]} {path}")
        found += reader.complaints.lines
        reader.complaints.lines.clear()
    assert not found, "\n".join(sorted(set(found)))


def objections(page: Page, where: str) -> list[str]:
    """What axe finds wrong on the page as it stands, one line each."""
    answer = page.evaluate("options => axe.run(options)", RULES)
    return [f"{where}: {v['id']}: {n['target']} {n['html'][:160]}" for v in answer["violations"] for n in v["nodes"]]


def test_a_stranger_sees_none_of_it(fleet: Stack, pages: dict[str, dict[str, str]]) -> None:
    stranger = WebClient(fleet.url.rstrip("/"))
    open_to_all = {"about", "login"}
    for user in EXPECTED:
        for kind, path in pages[user].items():
            answer = stranger.get(path)
            if kind not in open_to_all:
                assert (answer.status, "/login" in answer.location) == (302, True), path


@pytest.mark.parametrize("user", ["lead", "admin", "manager", "viewer"])
def test_the_home_says_what_is_simulated_in_both_languages(chromium: Browser, fleet: Stack, user: str) -> None:
    with person(chromium, fleet.url.rstrip("/"), viewport=WIDE) as reader:
        for language, word in (("en", "simulated"), ("zh-hans", "模拟")):
            reader.sign_in(user, fleet.accounts[user], language=language) if language == "en" else _speak(reader)
            reader.go("/")
            assert word in reader.page.inner_text("body").lower()
            assert reader.page.locator("main h1").count() == 1


def _speak(reader: Person) -> None:
    reader.page.locator("button[name=language][value=zh-hans]").click()
    reader.page.wait_for_load_state("load")
