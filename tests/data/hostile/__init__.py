"""Hostile inputs per field type: each form and API field of a type refuses each of these and stores nothing.

Source: the reliability research note, section 5, and glossary part 3. Import and parametrize:

    for bad in hostile.for_type("integer"):
        with hostile.told(bad): ...

`for_form` leaves out what a form cannot post or may rightly read (a JSON "12" is no integer).
Values under "json" are whole request bodies. Expected: 400 or 422, the field named, never 500, below 50 ms.
"""

import gc
import time
from collections.abc import Iterator
from contextlib import contextmanager

from tests.data.hostile.bodies import JSON
from tests.data.hostile.case import Hostile
from tests.data.hostile.numbers import COUNT, INTEGER, NUMBER, QUANTITY
from tests.data.hostile.texts import FORMULAS, HARMLESS_NAMES, IDENTIFIER, LOOKALIKES, NAME, NOTE, SLUG, TEXT
from tests.data.hostile.values import BOOLEAN, CHOICE, DATE, DATETIME, DURATION, LIST, URL

__all__ = ["CORPUS", "FORMULAS", "HARMLESS_NAMES", "LOOKALIKES", "Hostile", "for_form", "for_type", "told"]

CORPUS: dict[str, tuple[Hostile, ...]] = {
    "quantity_cpu": (
        *QUANTITY,
        Hostile("1Ki", "a memory unit"),
        Hostile("0.5m", "finer than 1m"),
        Hostile("1025", "too many"),
    ),
    "quantity_memory": (
        *QUANTITY,
        Hostile("500m", "a CPU unit"),
        Hostile("1Ki", "below 1Mi"),
        Hostile("65Ti", "above 64Ti"),
    ),
    "count": COUNT,
    "integer": INTEGER,
    "number": NUMBER,
    "name": NAME,
    "text": TEXT,
    "note": NOTE,
    "slug": SLUG,
    "uuid": IDENTIFIER,
    "artifact": IDENTIFIER,
    "datasource": IDENTIFIER,
    "choice": CHOICE,
    "boolean": BOOLEAN,
    "date": DATE,
    "datetime": DATETIME,
    "duration": DURATION,
    "list": LIST,
    "url": URL,
    "json": JSON,
}
"""Field type -> what it must refuse."""


def for_type(kind: str) -> tuple[Hostile, ...]:
    """Everything a field of this type must refuse as a JSON value. KeyError for an unknown type."""
    return CORPUS[kind]


def for_form(kind: str) -> tuple[Hostile, ...]:
    """What a field of this type must refuse as posted text."""
    return tuple(bad for bad in CORPUS[kind] if isinstance(bad.value, str) and not bad.json_only)


@contextmanager
def told(bad: Hostile, *, seconds: float = 0.050) -> Iterator[None]:
    """Adds to a failure which input it was, and fails when its handling took more CPU time than `seconds`."""
    gc.collect(0)
    gc.disable()  # a collection of the whole suite's objects is not the input's doing
    started = time.process_time()
    try:
        yield
    except Exception as error:
        error.add_note(f"hostile input: {bad.why}: {str(bad.value)[:60]!r}")
        raise
    finally:
        spent = time.process_time() - started
        gc.enable()
    assert spent <= seconds, f"{bad.why}: {spent:.3f} s"
