"""The order of a list: `?sort=name` or `?sort=-name`, and the links in the heads of its columns."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from django.db.models import QuerySet
from django.http import HttpRequest

from portal.lib.pages import word


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a column: where a click leads, and how the list is ordered by it now ("" if it is not)."""

    url: str
    order: Literal["", "ascending", "descending"]


@dataclass(frozen=True, slots=True)
class Sorting:
    """Columns by name, each with the fields it orders by; the list's own order decides among equals."""

    columns: Mapping[str, Sequence[str]]
    chosen: str
    heads: Mapping[str, Head]

    @classmethod
    def of(cls, request: HttpRequest, columns: Mapping[str, Sequence[str]], default: str) -> "Sorting":
        """As the address asks; a column that is not there is the default."""
        asked = word(request, "sort", 40)
        chosen = asked if asked.removeprefix("-") in columns else default
        return cls(columns, chosen, {name: _head(request, name, chosen) for name in columns})

    def apply(self, rows: QuerySet[Any]) -> QuerySet[Any]:
        """The rows in that order, the key last so that pages never overlap."""
        sign = "-" if self.chosen.startswith("-") else ""
        fields = self.columns[self.chosen.removeprefix("-")]
        return rows.order_by(*(f"{sign}{field}" for field in fields), "pk")


def _head(request: HttpRequest, name: str, chosen: str) -> Head:
    query = request.GET.copy()
    for dropped in ("page", "format"):
        query.pop(dropped, None)
    query["sort"] = f"-{name}" if chosen == name else name
    here = chosen.removeprefix("-") == name
    return Head(f"?{query.urlencode()}", ("descending" if chosen.startswith("-") else "ascending") if here else "")
