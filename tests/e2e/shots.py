"""Pictures of pages in both languages, both themes and two widths, and whatever the browser complained about.

    python -m tests.e2e.shots http://127.0.0.1:8000 /tmp/shots --user NAME --password-file FILE / /jobs

Prints one line per complaint (console error, content security policy, failed request, page wider than its
window) and exits 1 when there is one.
"""

import argparse
import itertools
import os
import sys
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from playwright.sync_api import Browser, ConsoleMessage, Page, Response, sync_playwright

CHROMIUM = os.environ.get("PORTAL_CHROMIUM", "/usr/bin/chromium")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
LANGUAGES = {"en": "en", "zh": "zh-hans"}
THEMES = ("light", "dark")
SIZES = {1280: 900, 390: 844}


@dataclass
class Complaints:
    """What went wrong while pages were shown, as lines."""

    lines: list[str] = field(default_factory=list)

    def watch(self, page: Page) -> None:
        """Listen to the page's console, its errors and its failed requests."""

        def console(message: ConsoleMessage) -> None:
            if message.text.startswith("htmx:sendAbort"):
                # A page was left while a part was on its way: htmx says so in two lines, of which this is the last.
                self.lines = [line for line in self.lines if "error: htmx:afterRequest" not in line]
            elif message.type in ("error", "warning"):
                self.lines.append(f"{page.url}: {message.type}: {message.text}")

        def response(answer: Response) -> None:
            if answer.status >= 500:
                self.lines.append(f"{page.url}: {answer.url} answered {answer.status}")

        page.on("console", console)
        page.on("pageerror", lambda error: self.lines.append(f"{page.url}: {error}"))
        page.on("response", response)

    def measure(self, page: Page) -> None:
        """Note a page that is wider than its window: it would scroll sideways."""
        wide, window = page.evaluate("[document.documentElement.scrollWidth, innerWidth]")
        if wide > window:
            self.lines.append(f"{page.url}: {wide} px wide in a window of {window} px")


@contextmanager
def browser() -> Iterator[Browser]:
    """Debian's Chromium, or the one named by PORTAL_CHROMIUM, without any call home."""
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        try:
            yield started
        finally:
            started.close()


def sign_in(page: Page, base_url: str, user: str, password: str) -> None:
    """Through the form, as a person does; works in either language."""
    page.goto(f"{base_url}/login")
    page.fill("input[name=username]", user)
    page.fill("input[name=password]", password)
    page.press("input[name=password]", "Enter")
    page.wait_for_load_state("load")


def speak(page: Page, code: str) -> None:
    """Use the language switch when the page is in the other language; a saved choice wins over a cookie."""
    button = page.locator(f"button[name=language][value={code}]")
    if button.count():
        button.click()
        page.wait_for_load_state("load")


def shots(
    base_url: str,
    pages: Iterable[str],
    out_dir: Path,
    *,
    user: str = "",
    password: str = "",
) -> list[str]:
    """Write <page>-<language>-<theme>-<width>.png for each combination; gives the complaints."""
    complaints = Complaints()
    out_dir.mkdir(parents=True, exist_ok=True)
    paths = list(pages)
    with browser() as chromium:
        for theme, (width, height) in itertools.product(THEMES, SIZES.items()):
            context = chromium.new_context(color_scheme=theme, viewport={"width": width, "height": height})
            page = context.new_page()
            complaints.watch(page)
            if user:
                sign_in(page, base_url, user, password)
            for path, (tag, code) in itertools.product(paths, LANGUAGES.items()):
                page.goto(base_url + path)
                speak(page, code)
                page.wait_for_timeout(300)
                complaints.measure(page)
                page.screenshot(path=out_dir / f"{_name(path)}-{tag}-{theme}-{width}.png", full_page=True)
            context.close()
    return complaints.lines


def _name(path: str) -> str:
    return path.strip("/").replace("/", "_").replace("?", "_") or "home"


def main() -> int:
    """The command line above."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("base_url")
    parser.add_argument("out_dir", type=Path)
    parser.add_argument("pages", nargs="+")
    parser.add_argument("--user", default="")
    parser.add_argument("--password-file", type=Path)
    given = parser.parse_args()
    password = given.password_file.read_text(encoding="utf-8").strip() if given.password_file else ""
    found = shots(given.base_url, given.pages, given.out_dir, user=given.user, password=password)
    sys.stdout.write("\n".join([*found, ""]) if found else "no complaint\n")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
