"""One page of a list."""

from typing import Any, Final

from django.core.paginator import Page, Paginator
from django.http import HttpRequest

PER_PAGE: Final = 50


def page_of(request: HttpRequest, rows: Any, *, size: int = PER_PAGE, name: str = "page") -> Page[Any]:
    """The page `?page=` asks for; one that does not exist is the nearest that does."""
    return Paginator(rows, size).get_page(request.GET.get(name))


def word(request: HttpRequest, name: str, most: int = 200) -> str:
    """A query parameter as short plain text, "" when absent; a NUL, which no column can hold, ends it."""
    return request.GET.get(name, "").partition("\0")[0].strip()[:most]
