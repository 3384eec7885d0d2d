"""The main job with JavaScript switched off: every step is a link, a form, or a page loaded again."""

import re

from playwright.sync_api import Browser, expect

from portal.embedded.stack import Stack
from tests.e2e.person import STAGES, Person, person, until


def test_a_researcher_submits_follows_and_cancels_without_javascript(
    chromium: Browser, stack: Stack, base_url: str
) -> None:
    with person(chromium, base_url, java_script_enabled=False) as researcher:
        researcher.sign_in("researcher", stack.accounts["researcher"])
        page = researcher.page
        page.get_by_role("link", name="Templates", exact=True).first.click()
        page.get_by_role("link", name="Make a data set").click()
        page.get_by_role("link", name="New job").click()
        researcher.fill_in(name="by hand", rows="2000", members="1")
        page.get_by_role("button", name="Check").click()
        assert researcher.verdict().word == "now"
        assert page.locator("[name=name]").input_value() == "by hand"
        page.get_by_role("button", name="Submit job").click()
        expect(page.locator(".rail")).to_have_count(1)

        _reload_until(researcher, ".rail [data-stage=archived].done")
        assert researcher.stages_done() == list(STAGES)
        expect(page.locator("#log")).to_contain_text("dataset rows=")
        assert set(researcher.proof().values()) == {"seen"}
        page.get_by_role("link", name="Files").click()
        expect(page.get_by_role("cell", name="dataset", exact=True)).to_have_count(1)

        researcher.page.goto(f"{base_url}/templates/open-session/new")
        page.get_by_role("button", name="Submit job").click()
        expect(page.locator(".rail")).to_have_count(1)
        _reload_until(researcher, ".rail [data-stage=running][aria-current]")
        page.get_by_role("button", name="Cancel").click()
        expect(page.locator("#flash")).to_contain_text(re.compile("cancel", re.IGNORECASE))
        _reload_until(researcher, ".rail [data-stage=archived].done")
        assert researcher.state() == "cancelled"


def _reload_until(researcher: Person, selector: str) -> None:
    def is_there() -> bool:
        researcher.page.goto(researcher.page.url)  # reload() may hit a page that Chromium is just putting away
        return researcher.page.locator(selector).count() == 1

    until(is_there, within=60, what=f"{selector} did not come: {researcher.page.url}")
