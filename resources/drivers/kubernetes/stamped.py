"""Logs whose lines carry the time they were written at: where a reading ended, and what comes after it. Pure.

The API gives no offsets. It gives a log from a whole second on, so a place in it is a line's time and which of the
lines of that very time it is.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Final

SECOND: Final = 1_000_000_000
"""Nanoseconds, in which times are counted here."""
_STAMP = re.compile(rb"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?(Z|[+-]\d\d:\d\d) ")


@dataclass(frozen=True, slots=True)
class Place:
    """After `taken` bytes of the line of this time that has `before` others of it before it.

    `before` -1: before the first line of this time or later.
    """

    at: int = 0
    before: int = -1
    taken: int = 0

    @property
    def since(self) -> str:
        """The whole second to ask from, as the API takes it; "" for the beginning."""
        if not self.at:
            return ""
        return f"{datetime.fromtimestamp(self.at // SECOND, UTC):%Y-%m-%dT%H:%M:%SZ}"

    @property
    def next_second(self) -> "Place":
        """The beginning of the second after."""
        return Place((self.at // SECOND + 1) * SECOND)


@dataclass(frozen=True, slots=True)
class Line:
    """A line with its end, if it has one; `before` counts the lines of the same time before it in the same answer."""

    at: int
    before: int
    text: bytes


def lines_of(answer: bytes) -> Iterator[Line]:
    """The lines of an answer. One whose time was cut off at the end is left out; what has none belongs to the one
    before."""
    at, before, text = 0, -1, b""
    known: tuple[bytes, bytes, int] = (b"", b"", 0)
    for piece in answer.splitlines(keepends=True) if b"\r" not in answer else _split(answer):
        found = _STAMP.match(piece)
        if found is None:
            if before >= 0 and not (len(piece) < _LONGEST and not piece.endswith(b"\n") and text.endswith(b"\n")):
                text += piece
            continue
        if before >= 0:
            yield Line(at, before, text)
        if found[1] != known[0] or found[3] != known[1]:
            known = found[1], found[3], _second(found[1], found[3])
        stamp = known[2] * SECOND + int((found[2] or b"").ljust(9, b"0"))
        before = before + 1 if stamp == at and before >= 0 else 0
        at, text = stamp, piece[found.end() :]
    if before >= 0:
        yield Line(at, before, text)


_LONGEST = 36
"""Bytes of a time with its space, at most: a shorter rest at the end may be one that was cut off."""


def after(lines: Iterable[Line], place: Place) -> list[tuple[Line, int]] | None:
    """The lines after a place, each with how many of its bytes were had; None when the place is not among them."""
    if place.before < 0:
        return [(line, 0) for line in lines if line.at >= place.at]
    found: list[tuple[Line, int]] | None = None
    for line in lines:
        if found is not None:
            found.append((line, 0))
        elif (line.at, line.before) == (place.at, place.before):
            found = [(line, place.taken)]
    return found


def taken(rest: Iterable[tuple[Line, int]], place: Place, limit: int) -> tuple[bytes, Place]:
    """At most so many bytes of these lines, and the place after them."""
    pieces: list[bytes] = []
    left = limit
    for line, had in rest:
        if not left:
            break
        piece = line.text[had : had + left]
        if piece:
            pieces.append(piece)
            left -= len(piece)
            place = Place(line.at, line.before, had + len(piece))
    return b"".join(pieces), place


def _split(answer: bytes) -> list[bytes]:
    """By line feeds alone: programs write carriage returns within lines."""
    return [piece + b"\n" for piece in answer.split(b"\n")[:-1]] + [answer.rsplit(b"\n", 1)[-1]]


def _second(text: bytes, zone: bytes) -> int:
    moment = datetime.fromisoformat((text + zone.replace(b"Z", b"+00:00")).decode())
    return int(moment.timestamp())
