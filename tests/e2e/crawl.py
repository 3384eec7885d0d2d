"""The pages a person can reach by links, one of each kind, as the portal itself offers them."""

import re
from collections import deque
from collections.abc import Callable
from functools import cache
from urllib.parse import urlsplit

from django.urls import Resolver404, resolve

HREF = re.compile(r'href="(/[^"#]*)')
MOST = 120
"""Pages of one person; more would be a trap of links."""
FILES = frozenset({"job_log_download", "job_file", "job_folder", "job_stream", "job_status", "job_log", "inbox_count"})
"""Routes that answer with a part or a file, no page."""


@cache  # the same links stand on every page
def kind_of(path: str) -> str:
    """The URL name of a path, with the tab it shows; "" for what is no page of the portal."""
    parts = urlsplit(path)
    try:
        name = resolve(parts.path).url_name or ""
    except Resolver404:
        return ""
    if name in FILES or name.startswith("api_") or "format=" in parts.query or "csv" in parts.query:
        return ""
    tab = re.search(r"\btab=([a-z]+)", parts.query)
    return f"{name}?{tab[1]}" if tab else name


def crawl(html_of: Callable[[str, str], str | None], start: str = "/") -> dict[str, str]:
    """Kind of page -> the first path of that kind found from `start`, breadth first.

    `html_of` gives the HTML of a path reached from another one, or None for what is no page.
    """
    found: dict[str, str] = {}
    waiting = deque([(start, "")])
    while waiting and len(found) < MOST:
        path, origin = waiting.popleft()
        kind = kind_of(path)
        if not kind or kind in found:
            continue
        html = html_of(path, origin)
        if html is None:
            continue
        found[kind] = path
        waiting.extend((link.replace("&amp;", "&"), path) for link in HREF.findall(html))
    return found
