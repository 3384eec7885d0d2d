"""One hostile input."""

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Hostile:
    """One input and why it must be refused; `json_only`: meaningless or acceptable when posted by a form."""

    value: Any
    why: str
    json_only: bool = False


def json_only(value: Any, reason: str) -> Hostile:
    """An input that only JSON can say."""
    return Hostile(value, reason, json_only=True)
