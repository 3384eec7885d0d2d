"""Request bodies: strict JSON objects, bounded before anything is parsed."""

import json
import math
import re
from collections.abc import Mapping
from typing import IO, Any, Final

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from rest_framework.parsers import BaseParser

from portal.lib.errors import DomainError

LARGEST_BODY: Final = 1 << 20
DEEPEST: Final = 20
LONGEST_NUMBER: Final = 400

NOT_UTF8 = _("The body is not UTF-8.")
NOT_JSON = _("The body is not JSON: see line {line}, column {column}.")
NOT_AN_OBJECT = _("The body must be one JSON object.")
TOO_DEEP = _("The body nests deeper than {deepest} levels.")
TWICE = _("The name {name} is given twice in one object.")
NOT_A_NUMBER = _("The body holds a number that JSON or this portal cannot hold.")
LONE_SURROGATE = _("The body holds half of a surrogate pair, which is no character.")
TOO_LARGE = _("The body is larger than {most} bytes.")

# A string, closed or not, or a bracket outside of strings; possessive, so that no input makes it go back.
_TOKEN = re.compile(rb'"[^"\\]*+(?:\\.[^"\\]*+)*+(?:"|\\?\Z)|[\[{]|[\]}]', re.DOTALL)
_SURROGATE = re.compile("[\ud800-\udfff]")


class BadBody(DomainError):
    """The body cannot be read at all; no field is to blame."""


class TooLarge(DomainError):
    """The body is beyond the bound; it was not read."""

    status = 413


class StrictJson(BaseParser):
    """JSON as RFC 8259 has it: no NaN, no repeated names, no half characters; at most 1 MiB and 20 levels."""

    media_type = "application/json"

    def parse(
        self, stream: IO[Any], media_type: str | None = None, parser_context: Mapping[str, Any] | None = None
    ) -> dict[str, Any]:
        """The object of the body. Raises BadBody or TooLarge."""
        raw = stream.read(LARGEST_BODY + 1)
        if len(raw) > LARGEST_BODY:
            raise TooLarge("BodyTooLarge", TOO_LARGE, facts={"most": LARGEST_BODY})
        return read_object(raw)


def read_object(raw: bytes) -> dict[str, Any]:
    """The JSON object these bytes stand for. Raises BadBody."""
    _check_depth(raw)
    try:
        text = raw.decode("utf-8")
    except UnicodeDecodeError as error:
        raise _bad("NotUtf8", NOT_UTF8) from error
    try:
        value = json.loads(
            text, object_pairs_hook=_object, parse_constant=_refuse, parse_int=_integer, parse_float=_float
        )
    except json.JSONDecodeError as error:
        raise _bad("NotJson", NOT_JSON, line=error.lineno, column=error.colno) from error
    if not isinstance(value, dict):
        raise _bad("NotAnObject", NOT_AN_OBJECT)
    # Escapes can spell what UTF-8 cannot; it would fail only when it is stored or sent back.
    if "\\u" in text and _SURROGATE.search(json.dumps(value, ensure_ascii=False)):
        raise _bad("NotACharacter", LONE_SURROGATE)
    return value


def _check_depth(raw: bytes) -> None:
    if raw.count(b"[") + raw.count(b"{") <= DEEPEST:
        return
    depth = 0
    for token in _TOKEN.finditer(raw):
        first = token.group()[:1]
        depth += 1 if first in b"[{" else -1 if first in b"]}" else 0
        if depth > DEEPEST:
            raise _bad("TooDeep", TOO_DEEP, deepest=DEEPEST)


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        seen: set[str] = set()
        name = next(key for key, _value in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise _bad("RepeatedName", TWICE, name=printable(name))
    return found


def printable(name: str) -> str:
    """A word of the request, safe to quote in an answer: printable and short."""
    return "".join(char if char.isprintable() else "\ufffd" for char in name[:40])


def _integer(digits: str) -> int:
    if len(digits) > LONGEST_NUMBER + 10:
        raise _bad("NumberTooLong", NOT_A_NUMBER)
    return int(digits)


def _float(digits: str) -> float:
    number = float(digits) if len(digits) <= LONGEST_NUMBER else math.inf
    return number if math.isfinite(number) else _refuse(digits)


def _refuse(_constant: str) -> float:
    raise _bad("NotANumber", NOT_A_NUMBER)


def _bad(reason: str, message: str | Promise, **facts: Any) -> BadBody:
    return BadBody(reason, message, facts=facts)
