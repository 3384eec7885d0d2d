"""Strict rules for text that people type: names, notes, slugs, and the key that tells two names apart.

Pure: no Django. A refusal is a `BadInput` holding reason, English template with {named} facts, and the
facts; the faces translate the template. Text is kept as it was typed, never normalised: NFKC and case
folding are for the comparison key only. Lengths are code points and are checked before anything else.
"""

import re
import unicodedata
from collections.abc import Mapping
from typing import Any, NoReturn

NAME_LENGTH = 120
LINE_LENGTH = 1_000
NOTE_LENGTH = 4_000
SLUG_LENGTH = 63


def gettext_noop(message: str) -> str:
    """The message itself; the name makes xgettext find it, and pure modules need no Django for that."""
    return message


NOT_TEXT = gettext_noop("Write text here.")
BLANK = gettext_noop("Write at least one visible character.")
TOO_LONG = gettext_noop("{length} characters are too many; at most {maximum} are allowed.")
BAD_CHARACTER = gettext_noop("The character {code} at position {position} is not allowed here.")
BAD_SLUG = gettext_noop(
    "Use lower-case letters a–z, digits and hyphens, at most {maximum}; start and end with a letter or digit."
)


class BadInput(ValueError):
    """One refused input: reason for machines, template and facts for people."""

    def __init__(self, reason: str, template: str, facts: Mapping[str, Any] | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.template = template
        self.facts: dict[str, Any] = dict(facts or {})

    def __str__(self) -> str:
        return f"{self.reason}: {self.template.format_map(self.facts)}"


# Bidi controls re-order what a reader sees (the "Trojan source" trick); no honest name needs them.
_BIDI = "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"
# Invisible without a use in a name: soft hyphen, zero-width space, fillers, word joiner, BOM, annotations.
# Joiners U+200C/U+200D, variation selectors and emoji tags are kept: scripts and emoji need them.
_INVISIBLE = "\u00ad\u115f\u1160\u17b4\u17b5\u180e\u200b\u2060-\u2064\u206a-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb"
_CONTROLS = "\x00-\x1f\x7f-\x9f"
# Lone surrogates cannot be encoded as UTF-8 (a 500 later); U+2028/2029 break lines where none is expected.
_BROKEN = "\ud800-\udfff\ufdd0-\ufdef\ufffe\uffff"
_REFUSED = f"{_BIDI}{_INVISIBLE}{_BROKEN}\u2028\u2029"
_REFUSED_IN_LINE = re.compile(f"[{_CONTROLS}{_REFUSED}]")
_REFUSED_IN_LINES = re.compile(f"[\x00-\x08\x0b-\x1f\x7f-\x9f{_REFUSED}]")  # tab and line feed pass
_IGNORABLE = re.compile(f"[{_INVISIBLE}{_BIDI}\u034f\u200c\u200d\ufe00-\ufe0f\U000e0000-\U000e0fff]")
_BLANK_LOOKING = frozenset("\u2800\u3164\uffa0\u115f\u1160")
_SLUG = re.compile(r"[a-z0-9](?:[-a-z0-9]*[a-z0-9])?", re.ASCII)
_DASHES = re.compile("[\u2010-\u2015\u2212\u2043\ufe58\ufe63\uff0d]")


def _table(*groups: dict[str, str]) -> dict[int, str]:
    return {ord(char): latin for group in groups for chars, latin in group.items() for char in chars}


# Cyrillic and Greek letters that look like Latin ones: a short table of our own, for comparing names only.
_CAPITALS = {
    "АΑ": "A", "ВΒ": "B", "СϹ": "C", "ЕΕ": "E", "Ζ": "Z", "НΗ": "H", "ІΙӀ": "I", "ЈͿ": "J", "КΚ": "K",
    "МΜ": "M", "Ν": "N", "ОΟ": "O", "РΡ": "P", "Ԛ": "Q", "Ѕ": "S", "ТΤ": "T", "УΥҮ": "Y", "ХΧ": "X", "Ԝ": "W",
}  # fmt: skip
_SMALL = {
    "аαɑ": "a", "сϲ": "c", "ԁ": "d", "еє": "e", "ɡ": "g", "һ": "h", "іιı": "i", "јϳ": "j", "κ": "k", "η": "n",
    "оοσ": "o", "рρ": "p", "ԛ": "q", "ѕ": "s", "τ": "t", "υμ": "u", "ν": "v", "ԝω": "w", "хχ": "x",
    "уγү": "y", "ӏ": "l",
}  # fmt: skip
# Small letters that resemble Latin only as capitals must meet their capital once case is folded.
_SMALL_OF_CAPITALS = {"вβ": "b", "ζ": "z", "н": "h", "к": "k", "м": "m", "т": "t"}
# As written, case matters: capital Nu looks like N, small nu like v.
_AS_WRITTEN = _table(_CAPITALS, _SMALL)
_WHEN_FOLDED = _table(_SMALL, _SMALL_OF_CAPITALS)


def clean_name(value: object, *, maximum: int = NAME_LENGTH) -> str:
    """A display name on one line, without outer spaces. Raises BadInput."""
    name = clean_line(value, maximum=maximum)
    if not visible(name):
        raise BadInput("Blank", BLANK)
    return name


def clean_line(value: object, *, maximum: int = LINE_LENGTH) -> str:
    """Free text on one line, possibly empty, without outer spaces. Raises BadInput."""
    text = _bounded(value, maximum)
    _refuse(_REFUSED_IN_LINE, text)
    return text.strip()


def clean_note(value: object, *, maximum: int = NOTE_LENGTH) -> str:
    """Free text on several lines, possibly empty; browsers' CRLF becomes LF. Raises BadInput."""
    text = _bounded(value, maximum).replace("\r\n", "\n")
    _refuse(_REFUSED_IN_LINES, text)
    return text.strip()


def clean_slug(value: object, *, maximum: int = SLUG_LENGTH) -> str:
    """An ASCII name as DNS-1123 labels have it; nothing is trimmed or lower-cased. Raises BadInput."""
    if not isinstance(value, str):
        raise BadInput("NotText", NOT_TEXT)
    if not value:
        raise BadInput("Blank", BLANK)
    if len(value) > maximum or not _SLUG.fullmatch(value):
        raise BadInput("BadSlug", BAD_SLUG, {"maximum": maximum})
    return value


def name_key(name: str) -> str:
    """The key under which team, pool and template names are unique; equal for names that look alike.

    NFKC, then lookalike letters (own table, after the idea of Unicode TS 39), case folding, no invisible
    characters, single spaces. Idempotent. Not for display, and may be empty for a name of invisibles.
    """
    seen, key = "", unicodedata.normalize("NFKC", name)
    while key != seen:  # each step may open the next (a ligature inside a compatibility form): to a fixed point
        seen, key = key, _folded(key)
    return key


def visible(text: str) -> bool:
    """Whether anything would be seen: not only spaces, marks, joiners and blank-looking letters."""
    return any(unicodedata.category(char)[0] not in "ZCM" and char not in _BLANK_LOOKING for char in text)


def _folded(text: str) -> str:
    shown = _DASHES.sub("-", _IGNORABLE.sub("", text)).translate(_AS_WRITTEN)
    folded = unicodedata.normalize("NFKC", shown.casefold()).translate(_WHEN_FOLDED)
    return " ".join(folded.split())


def _bounded(value: object, maximum: int) -> str:
    if not isinstance(value, str):
        raise BadInput("NotText", NOT_TEXT)
    if len(value) > maximum:
        raise BadInput("TooLong", TOO_LONG, {"length": len(value), "maximum": maximum})
    return value


def _refuse(pattern: re.Pattern[str], text: str) -> None:
    found = pattern.search(text)
    if found:
        _raise_character(found)


def _raise_character(found: re.Match[str]) -> NoReturn:
    code = f"U+{ord(found.group()):04X}"
    raise BadInput("BadCharacter", BAD_CHARACTER, {"code": code, "position": found.start() + 1})
