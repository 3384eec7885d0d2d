"""How single values of runtimes, class facts, equivalences, vendor rows and pool policies are read. Pure."""

import re
import uuid
from collections.abc import Callable, Iterable, Mapping
from datetime import date
from typing import Any, Final

from portal.lib.text import NOT_TEXT, BadInput, clean_line, clean_slug, gettext_noop
from resources.images import clean_image
from resources.pairs import clean_pairs
from resources.task_types import TASK_TYPES
from resources.versions import clean_range

MOST_NAMED: Final = 50
MOST_LABELS: Final = 5
MOST_TOLERATIONS: Final = 20
MOST_AMOUNT: Final = 1 << 62
EFFECTS: Final = ("NoSchedule", "PreferNoSchedule", "NoExecute")
RELAXATIONS: Final = ("image_user",)
COST_BASES: Final = ("owned", "leased", "cloud")
DEVICE_KINDS: Final = ("GPU", "NPU", "ACCELERATOR")
KINDS: Final = (*DEVICE_KINDS, "CPU")
UNITS: Final = ("card", "chip", "core", "die", "slice")
MEMORY_UNITS: Final = {"MiB": 1 << 20, "GiB": 1 << 30, "B": 1}

NOT_A_FLAG = gettext_noop("Say true or false.")
NOT_A_LIST = gettext_noop("Give a list.")
TOO_MANY = gettext_noop("{count} are too many; at most {most} are allowed.")
NOT_ONE_OF = gettext_noop("{name} is none of: {options}.")
NONE_GIVEN = gettext_noop("Choose at least one.")
NOT_DNS = gettext_noop("Write a name in lower-case letters, digits, - and ., such as {example}.")
NO_TAINT = gettext_noop(
    'Line {line} is no toleration. Write key=value:effect or key:effect, such as "gpu=yes:NoSchedule".'
)
NO_EFFECT = gettext_noop("{name} is no effect. Allowed: {options}.")
NO_TOLERATION = gettext_noop("Give objects with key, effect and perhaps value.")
NOT_A_PATTERN = gettext_noop(
    'Write the resource name as nodes report it, such as "vendor.example/npu"; one * may stand for a part of it.'
)
NOT_A_LABEL = gettext_noop('Write the key of a node label, such as "vendor.example/npu.product".')
NOT_A_DATE = gettext_noop("Write a date such as 2026-11-30.")
NOT_AN_ID = gettext_noop("This is no id of a job.")
NOT_AN_AMOUNT = gettext_noop("Write a whole number from 1 to {maximum}.")
SOURCE_MISSING = gettext_noop("Say where this is from: a data sheet, a measurement, an address.")

_DNS = re.compile(r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?){0,20}", re.ASCII)
_LABEL = re.compile(r"(?:[a-z0-9][a-z0-9.-]{0,252}/)?[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?", re.ASCII)
_VALUE = re.compile(r"(?:[A-Za-z0-9](?:[A-Za-z0-9._-]{0,61}[A-Za-z0-9])?)?", re.ASCII)
_RESOURCE = re.compile(r"[a-z0-9][a-z0-9.-]{0,120}/[A-Za-z0-9*][A-Za-z0-9._*-]{0,62}", re.ASCII)


def read_words(options: Iterable[str], *, needed: bool = False) -> Callable[[object], list[str]]:
    """A reader of a list of these words, each once and in their order."""
    known = tuple(options)

    def read(value: object) -> list[str]:
        for name in (given := _list(value)):
            if name not in known:
                raise BadInput("UnknownName", NOT_ONE_OF, {"name": str(name)[:40], "options": ", ".join(known)})
        if needed and not given:
            raise BadInput("NoneGiven", NONE_GIVEN)
        return [name for name in known if name in given]

    return read


def read_word(options: Iterable[str]) -> Callable[[object], str]:
    """A reader of one of these words; "" is none."""
    known = tuple(options)

    def read(value: object) -> str:
        if value != "" and value not in known:
            raise BadInput("UnknownName", NOT_ONE_OF, {"name": str(value)[:40], "options": ", ".join(known)})
        return str(value)

    return read


def read_flag(value: object) -> bool:
    """Yes or no."""
    if not isinstance(value, bool):
        raise BadInput("NotAFlag", NOT_A_FLAG)
    return value


def read_one(options: Iterable[str]) -> Callable[[object], str]:
    """A reader of one of these words; there is no none."""
    known = tuple(options)

    def read(value: object) -> str:
        if value not in known:
            raise BadInput("UnknownName", NOT_ONE_OF, {"name": str(value)[:40], "options": ", ".join(known)})
        return str(value)

    return read


def read_keys(value: object) -> list[str]:
    """Keys of things, each once; whether there are such things is the service's to say."""
    return sorted({clean_slug(key) for key in _list(value)})


def read_dns(example: str) -> Callable[[object], str]:
    """A reader of a name as Kubernetes has them; "" is none."""

    def read(value: object) -> str:
        if not isinstance(value, str):
            raise BadInput("NotText", NOT_TEXT)
        if value and (len(value) > 253 or not _DNS.fullmatch(value)):
            raise BadInput("NotAName", NOT_DNS, {"example": example})
        return value

    return read


def read_labels(value: object) -> dict[str, str]:
    """A few words about a pool."""
    pairs = clean_pairs(value)
    if len(pairs) > MOST_LABELS:
        raise BadInput("TooMany", TOO_MANY, {"count": len(pairs), "most": MOST_LABELS})
    return pairs


def tolerations_of(text: object) -> list[dict[str, str]]:
    """One toleration a line as kubectl writes taints: key=value:effect, or key:effect for any value."""
    if not isinstance(text, str):
        raise BadInput("NotText", NOT_TEXT)
    found = []
    for number, line in enumerate(text.replace("\r\n", "\n").split("\n"), 1):
        if line.strip():
            name, colon, effect = line.strip().rpartition(":")
            if not colon:
                raise BadInput("NotAToleration", NO_TAINT, {"line": number})
            key, sign, value = name.partition("=")
            found.append({"key": key, "effect": effect} | ({"value": value} if sign else {}))
    return read_tolerations(found)


def write_tolerations(rows: Iterable[Mapping[str, str]]) -> str:
    """One a line, as they were read."""
    return "\n".join(
        f"{r['key']}={r['value']}:{r['effect']}" if "value" in r else f"{r['key']}:{r['effect']}" for r in rows
    )


def read_tolerations(value: object) -> list[dict[str, str]]:
    """Taints that jobs here tolerate: key and effect, and the value where only that one is meant."""
    found = []
    for number, row in enumerate(_list(value, MOST_TOLERATIONS), 1):
        if not isinstance(row, Mapping) or not {"key", "effect"} <= set(row) <= {"key", "effect", "value"}:
            raise BadInput("NotAToleration", NO_TOLERATION)
        if not all(isinstance(text, str) for text in row.values()) or not _LABEL.fullmatch(row["key"]):
            raise BadInput("NotAToleration", NO_TAINT, {"line": number})
        if not _VALUE.fullmatch(row.get("value", "")):
            raise BadInput("NotAToleration", NO_TAINT, {"line": number})
        if row["effect"] not in EFFECTS:
            raise BadInput("UnknownName", NO_EFFECT, {"name": row["effect"][:40], "options": ", ".join(EFFECTS)})
        found.append(dict(row))
    return found


def read_pattern(value: object) -> str:
    """A resource name with at most one `*`: no expression that a person writes is ever run."""
    if not isinstance(value, str) or not _RESOURCE.fullmatch(value) or value.count("*") > 1:
        raise BadInput("NotAPattern", NOT_A_PATTERN)
    return value


def read_label(value: object) -> str:
    """The key of a node label; "" is none."""
    if value != "" and (not isinstance(value, str) or not _LABEL.fullmatch(value)):
        raise BadInput("NotALabel", NOT_A_LABEL)
    return str(value)


def read_source(value: object) -> str:
    """Where a fact is from."""
    text = clean_line(value, maximum=300)
    if not text:
        raise BadInput("SourceMissing", SOURCE_MISSING)
    return text


def read_date(value: object) -> date:
    """A day."""
    if isinstance(value, date):
        return value
    try:
        if not isinstance(value, str) or not re.fullmatch(r"[12][0-9]{3}-[0-9]{2}-[0-9]{2}", value, re.ASCII):
            raise ValueError
        return date.fromisoformat(value)
    except ValueError:
        raise BadInput("NotADate", NOT_A_DATE) from None


def read_job_id(value: object) -> uuid.UUID:
    """The id of a job."""
    try:
        return value if isinstance(value, uuid.UUID) else uuid.UUID(str(value))
    except ValueError:
        raise BadInput("NotAnId", NOT_AN_ID) from None


def read_amount(value: object) -> int:
    """A whole number above 0."""
    if type(value) is not int or not 0 < value < MOST_AMOUNT:
        raise BadInput("NotWholeNumber", NOT_AN_AMOUNT, {"maximum": MOST_AMOUNT - 1})
    return value


def _list(value: object, most: int = MOST_NAMED) -> list[Any]:
    if not isinstance(value, list | tuple):
        raise BadInput("NotAList", NOT_A_LIST)
    if len(value) > most:
        raise BadInput("TooMany", TOO_MANY, {"count": len(value), "most": most})
    return list(value)


DECLARED_READERS: Final[Mapping[str, Callable[[Any], Any]]] = {
    # runtimes
    "image": clean_image,
    "framework": lambda value: clean_line(value, maximum=120),
    "version": lambda value: clean_line(value, maximum=60),
    "runtime_class": read_dns("nvidia"),
    "kinds": read_words(KINDS, needed=True),
    "classes": read_keys,
    "task_types": read_words(TASK_TYPES),
    "driver_range": clean_range,
    # pools
    "purpose": lambda value: clean_line(value, maximum=300),
    "labels": read_labels,
    "runtimes": read_keys,
    "scheduler_name": read_dns("default-scheduler"),
    "tolerations": read_tolerations,
    "relaxation": read_word(RELAXATIONS),
    "cost_basis": read_one(COST_BASES),
    "borrowing": read_flag,
    "known_driver_only": read_flag,
    # facts and equivalences
    "subject": lambda value: clean_line(value, maximum=120),
    "source": read_source,
    "as_of": read_date,
    "amount": read_amount,
    "evidence": lambda value: clean_line(value, maximum=1_000),
    "evidence_job": read_job_id,
    # vendor rows
    "pattern": read_pattern,
    "model_label": read_label,
    "memory_label": read_label,
    "driver_label": read_label,
}
