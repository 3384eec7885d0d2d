"""Labels as people write them: one name=value a line. Pure; a refusal is a BadInput that names the line."""

from collections.abc import Iterable, Mapping
from typing import Final

from portal.lib.text import NOT_TEXT, BadInput, clean_line, gettext_noop

MOST: Final = 20
LONGEST_NAME: Final = 317
LONGEST_VALUE: Final = 253
NO_PAIR = gettext_noop("Line {line} is no name=value.")
TWICE = gettext_noop("{name} is given twice.")
TOO_MANY = gettext_noop("{count} lines are too many; at most {most} are allowed.")
NOT_PAIRS = gettext_noop("Give an object of names and texts.")
NO_NAME = gettext_noop("{name} cannot be matched here. Allowed: {allowed}.")


def read_pairs(text: object, allowed: Iterable[str] = ()) -> str:
    """The text with one cleaned pair a line, for a form's field. Raises BadInput."""
    return write_pairs(pairs_of(text, allowed))


def pairs_of(text: object, allowed: Iterable[str] = ()) -> dict[str, str]:
    """The pairs of a text; empty lines are skipped. With `allowed` no other name. Raises BadInput."""
    if not isinstance(text, str):
        raise BadInput("NotText", NOT_TEXT)
    pairs: dict[str, str] = {}
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        if not line.strip():
            continue
        name, sign, value = line.partition("=")
        if not sign or not name.strip() or not value.strip():
            raise BadInput("NotAPair", NO_PAIR, {"line": number})
        if name.strip() in pairs:
            raise BadInput("Repeated", TWICE, {"name": clean_line(name.strip(), maximum=LONGEST_NAME)})
        pairs[name.strip()] = value.strip()
    return clean_pairs(pairs, allowed)


def clean_pairs(value: object, allowed: Iterable[str] = ()) -> dict[str, str]:
    """Names and values as they may be stored; with `allowed` no other name. Raises BadInput."""
    if not isinstance(value, Mapping):
        raise BadInput("NotPairs", NOT_PAIRS)
    if len(value) > MOST:
        raise BadInput("TooMany", TOO_MANY, {"count": len(value), "most": MOST})
    pairs = {_bounded(name, LONGEST_NAME): _bounded(text, LONGEST_VALUE) for name, text in value.items()}
    known = tuple(allowed)
    for name in pairs:
        if known and name not in known:
            raise BadInput("UnknownName", NO_NAME, {"name": name, "allowed": ", ".join(known)})
    return pairs


def write_pairs(pairs: Mapping[str, object]) -> str:
    """One name=value a line, by name."""
    return "\n".join(f"{name}={pairs[name]}" for name in sorted(pairs))


def _bounded(value: object, most: int) -> str:
    text = clean_line(value, maximum=most)
    if not text:
        raise BadInput("TooShort", NOT_PAIRS)
    return text
