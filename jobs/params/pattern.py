"""Patterns for text parameters, matched in linear time: no pattern can make a request hang.

A subset of regular expressions: literals, `.`, classes, `\\d \\w \\s` and their opposites (ASCII), groups,
`|`, `* + ? {m} {m,} {m,n}`. A pattern always means the whole value; `^` and `$` around it may be written.
No look-around and no back references: those are what `re` needs backtracking for.
Method: Glushkov's position automaton, its state sets held as bits of an integer. Pure.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from portal.lib.text import BadInput, gettext_noop

MAX_LENGTH = 256
"""Code points in a pattern, and in a value that a pattern is applied to."""
MAX_POSITIONS = 128
"""Characters a pattern may hold once its counted repeats are written out."""
MAX_DEPTH = 16
MAX_STEPS = 10_000

_CLASSES = {
    "d": (("0", "9"),),
    "w": (("0", "9"), ("A", "Z"), ("_", "_"), ("a", "z")),
    "s": ((" ", " "), ("\t", "\r")),
}
_SPECIAL = frozenset(r"\^$.|?*+()[]{}")
_ESCAPED_CONTROL = {"t": "\t", "n": "\n"}

TOO_LARGE = gettext_noop("The pattern is too large: with its repeats written out, at most {maximum} characters.")
TOO_DEEP = gettext_noop("Groups are nested more than {maximum} deep.")
ENDS_EARLY = gettext_noop("The pattern ends too early.")
UNEXPECTED = gettext_noop("{found} cannot stand at character {position} of the pattern.")
NOT_KNOWN = gettext_noop("{found} at character {position} of the pattern is not part of the subset.")
BAD_RANGE = gettext_noop("The range before character {position} of the pattern is the wrong way round.")
BAD_REPEAT = gettext_noop("The repeat before character {position} of the pattern is not understood.")


class BadPattern(BadInput):
    """A refused pattern; facts name the place, counted from 1."""

    def __init__(self, template: str, **facts: Any) -> None:
        super().__init__("BadPattern", template, facts)


@dataclass(frozen=True, slots=True)
class Ranges:
    """A set of characters: inclusive ranges, or everything but those."""

    ranges: tuple[tuple[str, str], ...]
    negated: bool = False

    def __contains__(self, char: str) -> bool:
        return any(low <= char <= high for low, high in self.ranges) != self.negated


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of the automaton: may it be empty, and the positions it may begin and end with (bits)."""

    empty: bool
    first: int
    last: int


_NOTHING = _Piece(True, 0, 0)
_Build = Callable[["_Automaton"], _Piece]


class _Automaton:
    """Positions in order of creation, and for each the positions that may follow it."""

    def __init__(self) -> None:
        self.sets: list[Ranges] = []
        self.follow: list[int] = []
        self.steps = 0

    def char(self, allowed: Ranges) -> _Piece:
        if len(self.sets) >= MAX_POSITIONS:
            raise BadPattern(TOO_LARGE, maximum=MAX_POSITIONS)
        bit = 1 << len(self.sets)
        self.sets.append(allowed)
        self.follow.append(0)
        return _Piece(False, bit, bit)

    def chain(self, left: _Piece, right: _Piece) -> _Piece:
        self.steps += 1  # repeats of nothing, "((){999}){999}", grow no positions
        if self.steps > MAX_STEPS:
            raise BadPattern(TOO_LARGE, maximum=MAX_POSITIONS)
        self.link(left.last, right.first)
        return _Piece(
            left.empty and right.empty,
            left.first | (right.first if left.empty else 0),
            right.last | (left.last if right.empty else 0),
        )

    def link(self, sources: int, targets: int) -> None:
        for position in _bits(sources):
            self.follow[position] |= targets


def _bits(mask: int) -> list[int]:
    return [index for index in range(mask.bit_length()) if mask >> index & 1]


class Pattern:
    """A read pattern. `matches` takes time proportional to the value, whatever the pattern."""

    def __init__(self, build: _Build) -> None:
        automaton = _Automaton()
        whole = build(automaton)
        self._sets, self._follow = automaton.sets, automaton.follow
        self._first, self._last, self._empty = whole.first, whole.last, whole.empty

    def matches(self, value: str) -> bool:
        """Whether the whole value fits. Values longer than MAX_LENGTH never do."""
        if len(value) > MAX_LENGTH:
            return False
        if not value:
            return self._empty
        possible, reached = self._first, 0
        for char in value:
            reached = sum(1 << index for index in _bits(possible) if char in self._sets[index])
            possible = 0
            for index in _bits(reached):
                possible |= self._follow[index]
        return bool(reached & self._last)


@lru_cache(maxsize=256)
def read_pattern(text: str) -> Pattern:
    """The pattern a text stands for. Raises BadPattern with the place of what is not in the subset."""
    if len(text) > MAX_LENGTH:
        raise BadPattern(TOO_LARGE, maximum=MAX_LENGTH)
    return Pattern(_Reader(text).whole())


class _Reader:
    """Recursive descent over the pattern's text; each rule returns a function that builds its automaton."""

    def __init__(self, text: str) -> None:
        self.text, self.at, self.depth = text, 0, 0

    def whole(self) -> _Build:
        self.take("^")
        build = self.choice()
        self.take("$")
        if self.at < len(self.text):
            raise self.bad(UNEXPECTED, found=self.peek())
        return build

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def take(self, char: str) -> bool:
        found = self.peek() == char
        self.at += found
        return found

    def next(self) -> str:
        char = self.peek()
        if not char:
            raise self.bad(ENDS_EARLY)
        self.at += 1
        return char

    def bad(self, template: str, **facts: Any) -> BadPattern:
        return BadPattern(template, position=self.at + 1, **facts)

    def choice(self) -> _Build:
        options = [self.sequence()]
        while self.take("|"):
            options.append(self.sequence())
        return options[0] if len(options) == 1 else lambda auto: _either([option(auto) for option in options])

    def sequence(self) -> _Build:
        items: list[_Build] = []
        while self.peek() not in ("", "|", ")", "$"):
            items.append(self.repeat(self.atom()))
        return lambda auto: _chain(auto, items)

    def atom(self) -> _Build:
        char = self.next()
        if char == "(":
            return self.group()
        if char == "[":
            return _one(self.bracket())
        if char == ".":
            return _one(Ranges((("\n", "\n"),), negated=True))
        if char == "\\":
            return _one(self.escape())
        if char in _SPECIAL:
            self.at -= 1
            raise self.bad(UNEXPECTED, found=char)
        return _one(Ranges(((char, char),)))

    def group(self) -> _Build:
        self.depth += 1
        if self.depth > MAX_DEPTH:
            raise self.bad(TOO_DEEP, maximum=MAX_DEPTH)
        if self.take("?") and not self.take(":"):
            raise self.bad(NOT_KNOWN, found=f"(?{self.peek()}")
        inner = self.choice()
        if not self.take(")"):
            raise self.bad(ENDS_EARLY)
        self.depth -= 1
        return inner

    def escape(self) -> Ranges:
        char = self.next()
        if char.lower() in _CLASSES:
            return Ranges(_CLASSES[char.lower()], negated=char.isupper())
        if char.isascii() and char.isalnum() and char not in _ESCAPED_CONTROL:
            self.at -= 1
            raise self.bad(NOT_KNOWN, found=f"\\{char}")
        literal = _ESCAPED_CONTROL.get(char, char)
        return Ranges(((literal, literal),))

    def bracket(self) -> Ranges:
        negated, ranges = self.take("^"), list[tuple[str, str]]()
        while not self.take("]"):
            ranges += self.bracket_item()
        if not ranges:
            raise self.bad(UNEXPECTED, found="[]")
        return Ranges(tuple(ranges), negated)

    def bracket_item(self) -> tuple[tuple[str, str], ...]:
        low = self.bracket_char()
        if low.negated or len(low.ranges) > 1 or low.ranges[0][0] != low.ranges[0][1]:
            if low.negated:
                raise self.bad(NOT_KNOWN, found="\\D \\S \\W")
            return low.ranges
        if self.peek() != "-" or self.text[self.at + 1 : self.at + 2] in ("]", ""):
            return low.ranges
        self.at += 1
        high = self.bracket_char()
        if high.negated or len(high.ranges) > 1 or high.ranges[0][1] < low.ranges[0][0]:
            raise self.bad(BAD_RANGE)
        return ((low.ranges[0][0], high.ranges[0][1]),)

    def bracket_char(self) -> Ranges:
        char = self.next()
        if char == "[":
            raise self.bad(UNEXPECTED, found=char)
        return self.escape() if char == "\\" else Ranges(((char, char),))

    def repeat(self, inner: _Build) -> _Build:
        for char, low, high in (("*", 0, None), ("+", 1, None), ("?", 0, 1)):
            if self.take(char):
                return self.once(_repeated(inner, low, high))
        if self.take("{"):
            low, high = self.bounds()
            return self.once(_repeated(inner, low, high))
        return inner

    def once(self, build: _Build) -> _Build:
        if self.peek() in ("*", "+", "?", "{"):
            raise self.bad(UNEXPECTED, found=self.peek())
        return build

    def bounds(self) -> tuple[int, int | None]:
        low = self.number()
        high: int | None = low
        if self.take(","):
            high = None if self.peek() == "}" else self.number()
        if not self.take("}") or (high is not None and high < low):
            raise self.bad(BAD_REPEAT)
        return low, high

    def number(self) -> int:
        digits = ""
        while self.peek() in tuple("0123456789"):
            digits += self.next()
        if not digits or len(digits) > 3:
            raise self.bad(BAD_REPEAT)
        return int(digits)


def _one(allowed: Ranges) -> _Build:
    return lambda auto: auto.char(allowed)


def _either(options: list[_Piece]) -> _Piece:
    first = last = 0
    for option in options:
        first |= option.first
        last |= option.last
    return _Piece(any(option.empty for option in options), first, last)


def _chain(auto: _Automaton, items: list[_Build]) -> _Piece:
    piece = _NOTHING
    for item in items:
        piece = auto.chain(piece, item(auto))
    return piece


def _repeated(inner: _Build, low: int, high: int | None) -> _Build:
    return lambda auto: _repeat(auto, inner, low, high)


def _repeat(auto: _Automaton, inner: _Build, low: int, high: int | None) -> _Piece:
    """Counted repeats are written out: x{2,4} is xxx?x?, and x{2,} is xxx*."""
    piece = _chain(auto, [inner] * low)
    if high is None:
        loop = inner(auto)
        auto.link(loop.last, loop.first)
        return auto.chain(piece, _Piece(True, loop.first, loop.last))
    for _ in range(high - low):
        part = inner(auto)
        piece = auto.chain(piece, _Piece(True, part.first, part.last))
    return piece
