"""Reading a fleet document strictly: an error says where, a key that nobody reads is one. Pure."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from portal.lib.text import BadInput
from resources.quantities import parse_cpu, parse_memory

from .chance import Span

_UNITS = {"ms": 1, "s": 1_000, "m": 60_000, "h": 3_600_000, "d": 86_400_000}
_REQUIRED: Any = object()
_LARGEST = 2**53


class FleetError(ValueError):
    """A fleet document that cannot be used; the message names the place in it and what is wrong there."""


class Reader:
    """One JSON object of the document, and which of its keys have been read."""

    def __init__(self, values: Mapping[str, Any], path: str) -> None:
        self._values = values
        self._path = path
        self._read: set[str] = set()

    @classmethod
    def of(cls, value: object, path: str = "") -> Reader:
        """A reader of this value. Raises FleetError when it is no JSON object."""
        if not isinstance(value, dict):
            raise FleetError(f"{path or 'the document'}: not an object but {_kind(value)}")
        return cls(value, path)

    @property
    def names(self) -> Sequence[str]:
        """The object's keys."""
        return tuple(self._values)

    def error(self, key: str, what: str) -> FleetError:
        """What is wrong with a key, or with the object itself."""
        return FleetError(f"{self._at(key) or 'the document'}: {what}")

    def done(self) -> None:
        """Raises FleetError for a key that was never read: it is misspelt, or hoped for."""
        if unknown := [key for key in self._values if key not in self._read]:
            raise self.error(unknown[0], "unknown key")

    def text(self, key: str, *, default: str = _REQUIRED, pattern: str = r".*", longest: int = 253) -> str:
        """A text."""
        value = self._get(key, default)
        if not isinstance(value, str) or len(value) > longest:
            raise self.error(key, f"not a text of at most {longest} characters")
        if value != default and not re.fullmatch(pattern, value):
            raise self.error(key, f"{value!r} does not match {pattern}")
        return value

    def number(self, key: str, *, default: int = _REQUIRED, minimum: int = 0, maximum: int = _LARGEST) -> int:
        """A whole number within bounds, both inclusive."""
        value = self._get(key, default)
        if type(value) is not int or not minimum <= value <= maximum:
            raise self.error(key, f"not a whole number from {minimum} to {maximum}")
        return value

    def flag(self, key: str, *, default: bool) -> bool:
        """True or false."""
        value = self._get(key, default)
        if not isinstance(value, bool):
            raise self.error(key, "neither true nor false")
        return value

    def cpu(self, key: str, *, default: str = _REQUIRED) -> int:
        """Milli-CPU of a quantity."""
        return self._quantity(key, default, parse_cpu)

    def memory(self, key: str, *, default: str = _REQUIRED) -> int:
        """Bytes of a quantity."""
        return self._quantity(key, default, lambda value: parse_memory(value, maximum=1 << 60))

    def optional_memory(self, key: str) -> int | None:
        """Bytes of a quantity, None when it is not given."""
        return self.memory(key) if key in self._values else None

    def span(self, key: str) -> Span:
        """A pair of durations, the shorter first, or one for both."""
        value = self._get(key, _REQUIRED)
        pair = value if isinstance(value, list) else [value, value]
        bounds = [read_duration(bound) for bound in pair]
        if len(bounds) != 2 or None in bounds or bounds[0] > bounds[1]:  # type: ignore[operator]
            raise self.error(key, 'not a pair of durations such as ["30s", "5m"]')
        return Span(bounds[0], bounds[1])  # type: ignore[arg-type]

    def labels(self, key: str) -> dict[str, str]:
        """A map of texts, empty when it is not given."""
        value = self._get(key, {})
        if not isinstance(value, dict) or not all(isinstance(text, str) for text in value.values()):
            raise self.error(key, "not an object of texts")
        return dict(value)

    def part(self, key: str) -> Reader:
        """An object inside; an empty one when it is not given."""
        return Reader.of(self._get(key, {}), self._at(key))

    def parts(self, key: str, *, default: Sequence[Any] = _REQUIRED) -> list[Reader]:
        """A list of objects inside."""
        value = self._get(key, default)
        if not isinstance(value, list | tuple):
            raise self.error(key, "not a list")
        return [Reader.of(one, f"{self._at(key)}[{number}]") for number, one in enumerate(value)]

    def _get(self, key: str, default: Any) -> Any:
        self._read.add(key)
        if key in self._values:
            return self._values[key]
        if default is _REQUIRED:
            raise self.error(key, "missing")
        return default

    def _at(self, key: str) -> str:
        return f"{self._path}.{key}".strip(".")

    def _quantity(self, key: str, default: str, parse: Callable[[object], int]) -> int:
        try:
            return parse(self._get(key, default))
        except BadInput as error:
            raise self.error(key, str(error)) from None


def read_duration(value: object) -> int | None:
    """Milliseconds of "250ms", "30s", "5m", "2h" or "1d"; None for anything else."""
    match = re.fullmatch(r"([0-9]{1,9})(ms|[smhd])", value, re.ASCII) if isinstance(value, str) else None
    return int(match[1]) * _UNITS[match[2]] if match else None


def _kind(value: object) -> str:
    return "nothing" if value is None else type(value).__name__
