"""A person at a browser: fills forms, follows a job, reads what the pages say."""

import re
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import parse_qs

from playwright.sync_api import Browser, Locator, Page, Response, ViewportSize, expect

from tests.e2e.shots import Complaints, sign_in, speak

STAGES = ("selected", "queued", "admitted", "starting", "running", "releasing", "released", "archived")
PATIENCE_SECONDS = 60.0


@dataclass(frozen=True, slots=True)
class Verdict:
    """What the new-job page says of the form as it stands."""

    word: str
    say: str
    price: str
    facts: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Kept:
    """A file of a job as its page shows it."""

    name: str
    kind: str
    sha256: str


@dataclass(slots=True)
class Person:
    """One browser tab of one person; `complaints` is what the browser did not like."""

    page: Page
    base: str
    complaints: Complaints = field(default_factory=Complaints)

    def __post_init__(self) -> None:
        self.complaints.watch(self.page)

    def sign_in(self, user: str, password: str, *, language: str = "en") -> None:
        """Through the form; fails unless a page for people who are signed in follows."""
        sign_in(self.page, self.base, user, password)
        expect(self.page.locator("form[action$='/logout']")).to_have_count(1)
        speak(self.page, language)

    def go(self, path: str) -> None:
        """Open a page of the portal and measure its width."""
        self.page.goto(self.base + path)
        self.complaints.measure(self.page)

    def wear(self, *, window: ViewportSize, scheme: Literal["light", "dark"]) -> None:
        """Turn the open page to a theme and another window, and measure it there."""
        self.page.emulate_media(color_scheme=scheme)
        self.page.set_viewport_size(window)
        self.complaints.measure(self.page)
        # What the page does about its new size it does in its next frames.
        self.page.evaluate("() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)))")

    # --- the new-job page

    def new_job(self, slug: str, **fields: str) -> Verdict:
        """The form of a template filled in, and the verdict that follows it. Field names without `params-`."""
        self.go(f"/templates/{slug}/new")
        expect(self.page.locator("#verdict [data-verdict]")).to_have_count(1)
        return self.fill(**fields) if fields else self.verdict()

    def fill(self, **fields: str) -> Verdict:
        """Fill in and wait for the verdict of exactly these values."""
        given = {self._control(name).get_attribute("name"): name for name in fields}

        def is_ours(answer: Response) -> bool:
            if not answer.url.endswith("/preview"):
                return False
            posted = parse_qs(answer.request.post_data or "", keep_blank_values=True)
            return all(
                posted.get(control or "") == [self._control(name).input_value()] for control, name in given.items()
            )

        with self.page.expect_response(is_ours) as answer:
            self.fill_in(**fields)
        answer.value.finished()
        expect(self.page.locator("#verdict")).not_to_have_class(re.compile("htmx-request"))
        return self.verdict()

    def fill_in(self, **fields: str) -> None:
        """Type the values, or choose the first option that contains the text; leaves the last field."""
        control = None
        for name, value in fields.items():
            control = self._control(name)
            if control.evaluate("element => element.tagName") == "SELECT":
                option = control.locator("option", has_text=value).first.get_attribute("value")
                control.select_option(option)
            else:
                control.fill(value)
        if control:
            control.blur()

    def verdict(self) -> Verdict:
        """The verdict card."""
        card = self.page.locator("#verdict [data-verdict]")
        labels, values = card.locator("dt").all_text_contents(), card.locator("dd").all_text_contents()
        return Verdict(
            word=card.get_attribute("data-verdict") or "",
            say=" ".join(card.locator("p").all_text_contents()),
            price=card.locator("header .push").text_content() or "" if card.locator("header .push").count() else "",
            facts=dict(zip(labels, values, strict=True)),
        )

    def submit(self) -> str:
        """Press the button; the key of the new job."""
        self.page.click("#new-job button.main")
        self.page.wait_for_url(re.compile(r"/jobs/[0-9a-f-]{36}$"))
        self.complaints.measure(self.page)
        return self.page.url.rpartition("/")[2]

    def run(self, slug: str, **fields: str) -> str:
        """Fill in, submit, and stay until everything is released and archived; the job's key."""
        assert self.new_job(slug, **fields).word == "now"
        key = self.submit()
        self.await_stage("archived")
        return key

    def _control(self, name: str) -> Locator:
        return self.page.locator(f"#new-job [name='{name}'], #new-job [name='params-{name}']")

    # --- the job page

    def await_stage(self, stage: str, *, within: float = PATIENCE_SECONDS) -> None:
        """Wait until the rail of the open page has reached the stage; the page is not loaded again."""
        reached = f"[data-stage={stage}][aria-current], [data-stage={stage}].done, [data-stage={stage}].bad"
        self.page.locator(reached).first.wait_for(timeout=within * 1000)

    def stages_done(self) -> list[str]:
        """Stages of the rail that are behind the job."""
        return self.page.locator(".rail .done").evaluate_all("items => items.map(item => item.dataset.stage)")

    def state(self) -> str:
        """The job's state chip."""
        return self.page.locator("#status .head .st").first.get_attribute("data-state") or ""

    def log(self, text: str, *, within: float = PATIENCE_SECONDS) -> str:
        """Wait until the log on the open page holds the text; the whole log shown."""
        expect(self.page.locator("#log")).to_contain_text(text, timeout=within * 1000)
        return self.page.locator("#log").text_content() or ""

    def files(self, key: str) -> dict[str, Kept]:
        """The files of a job by name."""
        self.go(f"/jobs/{key}?tab=files")
        rows = self.page.locator("[title][class*=mono]").locator("xpath=ancestor::tr").all()
        kept = [self._kept(row) for row in rows]
        return {file.name: file for file in kept}

    def _kept(self, row: Locator) -> Kept:
        cells = row.locator("td")
        digest = row.locator("td.mono").get_attribute("title") or ""
        return Kept(cells.nth(0).inner_text(), cells.nth(1).inner_text(), digest)

    def proof(self) -> dict[str, str]:
        """The three levels of the newest release proof: label → how it was observed."""
        levels = self.page.locator("[data-panel=proof]").first.locator(".proof").first.locator("li")
        return {level.locator("b").inner_text(): level.get_attribute("data-observed") or "" for level in levels.all()}


@contextmanager
def person(browser: Browser, base_url: str, **options: object) -> Iterator[Person]:
    """Somebody with a browser of their own; ends with a failure when the browser complained."""
    context = browser.new_context(**options)  # type: ignore[arg-type]
    context.set_default_timeout(PATIENCE_SECONDS * 1000)
    try:
        someone = Person(context.new_page(), base_url)
        yield someone
        assert someone.complaints.lines == [], someone.complaints.lines
    finally:
        context.close()


def until(condition: object, *, within: float, what: str) -> None:
    """Wait until the call gives something true; fails with `what` otherwise."""
    assert callable(condition)
    deadline = time.monotonic() + within
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)
