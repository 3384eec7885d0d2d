"""Links that show a count, read from a page as a person reads them, and the rows of the list they lead to."""

import csv
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.parser import HTMLParser
from io import StringIO
from urllib.parse import urljoin

from django.test import Client

_WHOLE = re.compile(r"([\d,]+)(?: / [\d,]+)?")
_LAST = re.compile(r".*\s([\d,]+)", re.DOTALL)
_FIRST = re.compile(r"([\d,]+) \D.*", re.DOTALL)
_UNREAD = frozenset({"label", "vh"})
_VOID = frozenset({"rect", "use", "path", "br", "img", "input", "meta", "link", "circle", "line", "hr", "wbr"})


@dataclass
class Link:
    """An anchor: where to, how it looks, what it says without labels and times."""

    href: str
    css: str
    current: bool
    said: list[str] = field(default_factory=list)
    figure: bool = False

    @property
    def count(self) -> int | None:
        """The number it promises, None when it promises none."""
        text = " ".join("".join(self.said).split())
        rule = _LAST if "fchip" in self.css.split() else _WHOLE if self.figure else None
        found = _WHOLE.fullmatch(text) or (rule or _FIRST).fullmatch(text)
        return int(found[1].replace(",", "")) if found else None


class _Page(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.links: list[Link] = []
        self.open: list[tuple[str, bool]] = []
        self.link: Link | None = None

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        if tag in _VOID:
            return
        known = {name: value or "" for name, value in attrs}
        css = known.get("class", "")
        self.open.append((tag, tag == "time" or bool(_UNREAD & set(css.split()))))
        if tag == "a" and "href" in known and "download" not in known:
            self.link = Link(known["href"], css, "aria-current" in known)
            self.links.append(self.link)
        if tag == "b" and self.link:
            self.link.figure = True

    def handle_endtag(self, tag: str) -> None:
        if tag not in {name for name, _unread in self.open}:
            return
        while self.open.pop()[0] != tag:
            pass
        if tag == "a":
            self.link = None

    def handle_data(self, data: str) -> None:
        if self.link and not any(unread for _tag, unread in self.open):
            self.link.said.append(data)


def counted(html: str, path: str) -> Iterator[tuple[str, int]]:
    """(address, count) of each link of the page's main part that shows a count; those in force already left out."""
    page = _Page()
    page.feed(html[html.index("<main") : html.index("</main>")])
    for link in page.links:
        count = link.count
        if count is not None and not link.current and not link.href.startswith("#"):
            yield urljoin(path, link.href), count


def rows_behind(client: Client, address: str) -> int | None:
    """How many rows the list at the address has on all its pages; None for what is no list."""
    response = client.get(address, follow=True)
    assert response.status_code == 200, (address, response.status_code)
    context = response.context
    if "page" in context:
        groups = context["groups"].paginator.count if "groups" in context else 0
        return int(context["page"].paginator.count + groups)
    if "csv" not in context:
        return None
    file = client.get(f"{address}{'&' if '?' in address else '?'}format=csv")
    lines = b"".join(file.streaming_content).decode()  # type: ignore[attr-defined]
    return sum(1 for _ in csv.reader(StringIO(lines, newline=""))) - 1
