"""Pages and components are drawn without a server: an anonymous reader, no database."""

from collections.abc import Callable, Iterator
from html.parser import HTMLParser
from typing import Any

import pytest
from django.contrib.auth.models import AnonymousUser
from django.http import HttpRequest
from django.template import Context, Template
from django.test import RequestFactory
from django.utils import translation

Draw = Callable[..., str]


@pytest.fixture(autouse=True)
def _routes(settings: Any) -> None:
    settings.ROOT_URLCONF = "tests.unit.web.routes"


@pytest.fixture(params=["en", "zh-hans"])
def language(request: pytest.FixtureRequest) -> Iterator[str]:
    """Each test that takes it runs in both languages."""
    with translation.override(request.param):
        yield request.param


@pytest.fixture
def draw() -> Draw:
    """Render a template text with the interface tags; the result is checked for balance and inline style."""

    def drawn(text: str, **context: Any) -> str:
        html = Template(text).render(Context(context))
        check(html)
        return html

    return drawn


@pytest.fixture
def get() -> Callable[..., HttpRequest]:
    """A GET request as it looks behind authentication, nobody signed in."""

    def made(path: str = "/", **headers: str) -> HttpRequest:
        request = RequestFactory(headers=headers).get(path)
        request.user = AnonymousUser()
        return request

    return made


class _Balance(HTMLParser):
    VOID = frozenset(["area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source"])

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag not in self.VOID:
            self.open.append(tag)
        for name, value in attrs:
            assert name != "style" and not name.startswith("on"), f"{name} on <{tag}> breaks the policy"
            if name == "id" and value:
                self.ids.append(value)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in self.VOID:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        assert self.open and self.open.pop() == tag, f"</{tag}> closes nothing"


def check(html: str) -> None:
    """Every tag is closed, no id stands twice, nothing inline that the policy forbids."""
    parser = _Balance()
    parser.feed(html)
    parser.close()
    assert parser.open == [], f"left open: {parser.open}"
    assert len(parser.ids) == len(set(parser.ids)), "an id stands twice"
