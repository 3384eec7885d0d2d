"""The figures a job reported: small JSON files among its results, read with suspicion."""

import json
import math
from collections.abc import Container, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from jobs.models import Artifact, Job
from jobs.outputs import open_plain
from jobs.selectors.files import kept_file

MOST_FILES = 8
MOST_FIGURES = 40
LARGEST = 64 * 1024
LONGEST_TEXT = 200
_DEEPEST = 4
_HEADLINE = ("metric", "metrics")


@dataclass(frozen=True, slots=True)
class Figure:
    """A value under its name in the file, such as accuracy or model.step; None: the program had no value for it."""

    name: str
    value: int | float | bool | str | None


@dataclass(frozen=True, slots=True)
class Report:
    """One result file: what it measured first, then what else it says. `left_out` counts what is not shown."""

    artifact: Artifact
    metrics: list[Figure] = field(default_factory=list)
    about: list[Figure] = field(default_factory=list)
    left_out: int = 0


def reports_of(job: Job) -> list[Report]:
    """What the job's kept results say; a file that is no small JSON object reports nothing."""
    rows = Artifact.objects.filter(job=job, kind="result", deleted_at__isnull=True).order_by("attempt", "name")
    reports = (_report(row, job.params) for row in rows[:MOST_FILES])
    return [report for report in reports if report is not None]


def _report(artifact: Artifact, given: Container[str]) -> Report | None:
    raw = _read(artifact)
    if raw is None:
        return None
    named = next((key for key in _HEADLINE if isinstance(raw.get(key), Mapping)), None)
    about = list(_figures({key: value for key, value in raw.items() if key != named}, "", _DEEPEST))
    metrics = list(_figures(raw[named], "", _DEEPEST)) if named else _numbers(about, given)
    about = [figure for figure in about if named or figure not in metrics]
    room = max(0, MOST_FIGURES - len(metrics))
    left_out = max(0, len(metrics) - MOST_FIGURES) + max(0, len(about) - room)
    return Report(artifact, metrics[:MOST_FIGURES], about[:room], left_out)


def _read(artifact: Artifact) -> Mapping[str, Any] | None:
    path = kept_file(artifact) if artifact.bytes <= LARGEST else None
    if path is None or path.suffix != ".json":
        return None
    try:
        with open_plain(path) as file:
            raw = json.loads(file.read(LARGEST + 1))
    except (OSError, ValueError, RecursionError):
        return None
    return raw if isinstance(raw, dict) else None


def _figures(raw: Mapping[str, Any], front: str, depth: int) -> Iterator[Figure]:
    """Single values with the path that leads to them; lists and what lies deeper stay in the file."""
    for key, value in raw.items():
        name = f"{front}{_clean(str(key))}"
        if isinstance(value, Mapping) and depth > 1:
            yield from _figures(value, f"{name}.", depth - 1)
        elif value is None or isinstance(value, bool | int | float | str):
            yield Figure(name, _plain(value))


def _numbers(figures: Iterable[Figure], given: Container[str]) -> list[Figure]:
    """What a file without a part of its own for metrics measured: numbers of the first level that were not given."""
    return [f for f in figures if "." not in f.name and f.name not in given and type(f.value) in (int, float)]


def _plain(value: Any) -> int | float | bool | str | None:
    if isinstance(value, str):
        return _clean(value)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)  # NaN is no number, and JSON has no word for it
    return value if not isinstance(value, int) or abs(value) < 10**18 else str(value)[:LONGEST_TEXT]


def _clean(text: str) -> str:
    return "".join(c if c.isprintable() else "\ufffd" for c in text[:LONGEST_TEXT])
