"""Downloads as CSV: UTF-8 with BOM for spreadsheets, streamed, and safe where a cell would be read as a formula."""

import csv
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Any

from django.http import StreamingHttpResponse

BOM = "\ufeff"
_FORMULA = ("=", "+", "-", "@", "＝", "＋", "－", "＠", "\t", "\r", "\n")


class _Echo:
    def write(self, line: str) -> str:
        return line


def csv_response(name: str, head: Iterable[str], rows: Iterable[Iterable[Any]]) -> StreamingHttpResponse:
    """The rows as a file of that name; it is written row by row, whatever their number."""
    response = StreamingHttpResponse(_lines(head, rows), content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{name}.csv"'
    response["Cache-Control"] = "no-store"
    return response


def cell(value: Any) -> str:
    """A value as a cell: UTC times in ISO form, nothing for None, text that begins like a formula with a quote."""
    if value is None:
        return ""
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat()
    text = str(value)
    if isinstance(value, str) and text.lstrip(" ").startswith(_FORMULA):
        return f"'{text}"
    return text


def _lines(head: Iterable[str], rows: Iterable[Iterable[Any]]) -> Iterator[str]:
    writer = csv.writer(_Echo())
    yield BOM + writer.writerow(head)
    for row in rows:
        yield writer.writerow([cell(value) for value in row])
