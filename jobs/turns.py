"""Who is visited in a pass that may run out of time: everybody in turn, and who was not, first in the next. Pure."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, TypeVar

from portal.lib.clock import to_ms


class Row(Protocol):
    """What has a place in the order: an attempt."""

    pk: Any
    admitted_at: datetime


R = TypeVar("R", bound=Row)
Mark = list[Any]
"""A place in the order, as JSON keeps it."""


@dataclass(slots=True)
class Turns:
    """The turns of one pass. `marks` has, by kind of step, after whom the next pass begins; nothing: with the first."""

    marks: dict[str, Mark]
    clock: Callable[[], float]
    began: float

    def of(self, kind: str, rows: Sequence[R], within_s: float) -> Iterator[R]:
        """The rows in turn, until so long after the beginning of the pass; at least one, if there is one.

        A row's turn is over when the next is asked for: a pass that is killed within one begins with it again.
        """
        order = sorted(rows, key=place)
        after = self.marks.get(kind)
        start = next((n for n, row in enumerate(order) if after is None or place(row) > after), 0)
        for number, row in enumerate([*order[start:], *order[:start]]):
            if number and self.clock() - self.began >= within_s:
                return
            yield row
            self.marks[kind] = place(row)
        self.marks.pop(kind, None)


def place(row: Row) -> Mark:
    """Where it stands among the others."""
    return [to_ms(row.admitted_at), str(row.pk)]
