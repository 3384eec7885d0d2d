"""The path in Chinese and in English, on wide and narrow windows, light and dark: nothing left over or cut off."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

import pytest
from playwright.sync_api import Browser, Page, ViewportSize, expect

from portal.embedded.stack import Stack
from tests.e2e import disk
from tests.e2e.person import Person, person

WIDE, NARROW = ViewportSize(width=1280, height=900), ViewportSize(width=390, height=844)
PATHS = (
    "/",
    "/templates",
    "/templates/make-data-set",
    "/templates/make-data-set/new",
    "/jobs",
    "/services",
    "/usage/me",
    "/usage/projects",
    "/pools",
    "/pools/local",
)
TABS = ("overview", "log", "history", "events", "files", "metrics", "usage", "manifest", "audit")
NAMES = """
    SELECT username AS name FROM tenants_user UNION SELECT display_name FROM tenants_user
    UNION SELECT name FROM tenants_team UNION SELECT name FROM tenants_project
    UNION SELECT name FROM resources_cluster UNION SELECT name FROM resources_node
    UNION SELECT key FROM resources_pool UNION SELECT key FROM resources_runtime
    UNION SELECT slug FROM jobs_jobtemplate UNION SELECT name FROM jobs_job UNION SELECT name FROM jobs_artifact
"""
SAME_IN_BOTH = {
    *("CPU", "GPU", "NPU", "KiB", "MiB", "GiB", "TiB", "ms", "Mi", "Gi", "UTC", "SHA", "CSV", "API", "HTTP"),
    *("TERM", "KILL", "tar", "Notebook", "wc", "sha256sum", "shell", "v1", "Python", "numpy", "NUMA", "Pod"),
}
TEXTS = r"""() => {
    const found = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const parent = walker.currentNode.parentElement;
        if (!parent.closest("script, style, pre, code, .mono, [lang]:not(html)"))
            found.push(walker.currentNode.textContent);
    }
    for (const element of document.querySelectorAll("[aria-label], [title], [placeholder]"))
        if (!element.closest(".mono, [lang]:not(html)"))
            for (const name of ["aria-label", "title", "placeholder"]) found.push(element.getAttribute(name) || "");
    return [document.title, ...found].map((text) => text.trim().replace(/\s+/g, " "));
}"""


@pytest.fixture(scope="module")
def ended_job(chromium: Browser, stack: Stack, base_url: str) -> str:
    """A job that went the whole way, started in Chinese by the language switch on a narrow window."""
    with person(chromium, base_url, viewport=NARROW) as researcher:
        researcher.sign_in("researcher", stack.accounts["researcher"], language="en")
        researcher.page.locator("button[name=language][value=zh-hans]").click()
        expect(researcher.page.locator("html")).to_have_attribute("lang", "zh-Hans")
        job = researcher.run("make-data-set", name="语言", rows="2000")
        assert researcher.state() == "succeeded"
        return job


def test_pages_of_the_path_leave_no_english_in_chinese_translation_and_fit_their_window(
    chromium: Browser, stack: Stack, base_url: str, ended_job: str
) -> None:
    with _reader(chromium, stack, base_url, "zh-hans", viewport=WIDE) as researcher:
        known = _known(stack)
        left = {path: _english(_texts(researcher, path), known) for path in _seen(researcher, ended_job, "light")}
    assert not any(left.values()), "\n".join(f"{path}: {texts}" for path, texts in left.items() if texts)


def test_pages_of_the_path_fit_their_window_and_please_the_browser_in_the_dark(
    chromium: Browser, stack: Stack, base_url: str, ended_job: str
) -> None:
    with _reader(chromium, stack, base_url, "en", viewport=WIDE, color_scheme="dark") as researcher:
        assert len(list(_seen(researcher, ended_job, "dark"))) == len(_paths(ended_job))


def test_a_verdict_and_a_refusal_are_said_in_chinese(chromium: Browser, stack: Stack, base_url: str) -> None:
    with _reader(chromium, stack, base_url, "zh-hans", viewport=WIDE) as researcher:
        never = researcher.new_job("run-operation", cpu="16", members="64", memory="256Mi")
        wrong = researcher.fill(cpu="-1")
        assert (never.word, wrong.word) == ("never", "unknown")
        said = [text for card in (never, wrong) for text in (card.say, card.price, *card.facts, *card.facts.values())]
        assert _english(said, _known(stack)) == []


@contextmanager
def _reader(chromium: Browser, stack: Stack, base_url: str, language: str, **options: Any) -> Iterator[Person]:
    with person(chromium, base_url, **options) as researcher:
        researcher.sign_in("researcher", stack.accounts["researcher"], language=language)
        yield researcher


def _paths(job: str) -> list[str]:
    return [*PATHS, *(f"/jobs/{job}?tab={tab}" for tab in TABS)]


def _seen(researcher: Person, job: str, scheme: Literal["light", "dark"]) -> Iterator[str]:
    """Each page of the path, open in a wide and in a narrow window; every other one the other way round."""
    windows = [WIDE, NARROW]
    for path in _paths(job):
        researcher.go(path)
        windows.reverse()
        researcher.wear(window=windows[0], scheme=scheme)
        assert _is_dark(researcher.page) == (scheme == "dark"), path
        yield path


def _texts(researcher: Person, path: str) -> list[str]:
    """Every text a reader of the open page may come across, its verdict included."""
    if path.endswith("/new"):
        expect(researcher.page.locator("#verdict [data-verdict]")).to_have_count(1)
    texts: list[str] = researcher.page.evaluate(TEXTS)
    return texts


def _known(stack: Stack) -> re.Pattern[str]:
    """What may be Latin on a Chinese page: names, units and the like, digests."""
    words = {row["name"] for row in disk.rows(stack, NAMES)} | SAME_IN_BOTH
    longest_first = sorted(words, key=len, reverse=True)
    known = [rf"(?<![A-Za-z]){re.escape(word)}(?![A-Za-z])" for word in longest_first]
    return re.compile("|".join([*known, r"\b[0-9a-f]{12}\b", r"\bj-[0-9a-f]{8}\b"]))


def _english(texts: list[str], known: re.Pattern[str]) -> list[str]:
    """The texts with a Latin word beyond those."""
    return sorted({text for text in texts if re.search("[A-Za-z]{2}", known.sub("", text))})


def _is_dark(page: Page) -> bool:
    colour = page.evaluate("getComputedStyle(document.body).backgroundColor")
    return sum(int(part) for part in re.findall(r"\d+", colour)[:3]) < 3 * 128
