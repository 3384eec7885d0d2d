"""Typed readers of PORTAL_* variables. A wrong value stops the start with a sentence, never later."""

import os
from collections.abc import Callable
from ipaddress import IPv4Network, IPv6Network, ip_network
from pathlib import Path
from typing import TypeVar

T = TypeVar("T")


class BadSetting(SystemExit):
    """A setting is missing or senseless; the message names it and the fix."""


def text(name: str, default: str | None = None) -> str:
    """The variable, or the contents of the file named by NAME_FILE, or the default."""
    if name in os.environ:
        return os.environ[name]
    file = os.environ.get(f"{name}_FILE")
    if file:
        try:
            return Path(file).read_text(encoding="utf-8").strip()
        except OSError as error:
            raise BadSetting(f"{name}_FILE names {file}, which cannot be read: {error.strerror}.") from error
    if default is None:
        raise BadSetting(f"{name} is not set. Set it, or {name}_FILE to a file that holds it.")
    return default


def flag(name: str, default: bool) -> bool:
    """true/false, 1/0, yes/no, on/off; anything else is refused."""
    value = text(name, "").strip().lower()
    if not value:
        return default
    if value in ("1", "true", "yes", "on"):
        return True
    if value in ("0", "false", "no", "off"):
        return False
    raise BadSetting(f"{name} is {value!r}; use true or false.")


def integer(name: str, default: int, *, low: int, high: int) -> int:
    """A whole number within [low, high]."""
    return _parsed(name, default, lambda raw: _bounded(int(raw), low, high), f"a whole number from {low} to {high}")


def choice(name: str, default: str, options: tuple[str, ...]) -> str:
    """One of the options."""
    value = text(name, default)
    if value not in options:
        raise BadSetting(f"{name} is {value!r}; use one of {', '.join(options)}.")
    return value


def words(name: str, default: str = "") -> list[str]:
    """Comma-separated words, blanks dropped."""
    return [word.strip() for word in text(name, default).split(",") if word.strip()]


def networks(name: str) -> tuple[IPv4Network | IPv6Network, ...]:
    """Comma-separated networks such as 127.0.0.0/8."""
    try:
        return tuple(ip_network(word) for word in words(name))
    except ValueError as error:
        raise BadSetting(f"{name}: {error}; write networks such as 127.0.0.0/8, separated by commas.") from error


def _bounded(value: int, low: int, high: int) -> int:
    if not low <= value <= high:
        raise ValueError
    return value


def _parsed(name: str, default: T, parse: Callable[[str], T], expected: str) -> T:
    raw = text(name, "")
    if not raw:
        return default
    try:
        return parse(raw)
    except ValueError as error:
        raise BadSetting(f"{name} is {raw!r}; it must be {expected}.") from error
