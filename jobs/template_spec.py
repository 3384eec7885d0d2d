"""What an administrator may write into a template's next version, checked against the version it starts from. Pure.

Free are titles, texts, bounds and defaults, and of each parameter everything but its name and kind: the program is
the same one and reads just these. A problem names its JSON path, such as `params.properties.steps.maximum`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from jobs.params.schema import BadSchema, Schema, read_schema
from jobs.shipped.template import inputs_of
from portal.lib.text import BadInput, clean_name, clean_note, gettext_noop

TITLE_LENGTH = 120
TEXT_LENGTH = 1_000
LANGUAGES = ("en", "zh-hans")
RANGES: Mapping[str, tuple[int, int]] = {
    "cpu_milli": (1, 1_000_000_000),
    "memory_bytes": (1 << 20, 1 << 50),
    "devices": (0, 100_000),
    "members": (1, 100_000),
    "time_limit_ms": (1_000, 366 * 86_400_000),
}
"""Ranges of a spec and what their numbers lie between, base units."""
FREE = ("title", "description", "params", *RANGES)

UNKNOWN_PART = gettext_noop("This part cannot be changed: it belongs to the program. Free are: {free}.")
NOT_A_RANGE = gettext_noop("Give an object of the whole numbers default, minimum and maximum.")
NOT_IN_ORDER = gettext_noop("Minimum {minimum}, default {default} and maximum {maximum} are not in this order.")
OUT_OF_BOUNDS = gettext_noop("Give whole numbers from {low} to {high}.")
NO_RANGE = gettext_noop("This template has no such range, and cannot get one: its program works without.")
NOT_WORDS = gettext_noop("Give a text in English, and one in Chinese if there is one: en, zh-hans.")
PARAM_MISSING = gettext_noop("The program reads this parameter: it cannot be left out.")
PARAM_UNKNOWN = gettext_noop("The program does not read such a parameter.")
PARAM_KIND = gettext_noop("The program reads this parameter as {kind}.")
NUL = gettext_noop("The character NUL cannot be stored.")


@dataclass(frozen=True, slots=True)
class SpecProblem:
    """What is wrong at which JSON path; the template is filled from the facts."""

    path: str
    reason: str
    template: str
    facts: Mapping[str, Any] = field(default_factory=dict)


class BadSpec(ValueError):
    """A refused spec, with everything found wrong in it."""

    def __init__(self, problems: list[SpecProblem]) -> None:
        super().__init__("; ".join(f"{problem.path}: {problem.reason}" for problem in problems))
        self.problems = tuple(problems)


@dataclass(frozen=True, slots=True)
class SpecChange:
    """A value at a JSON path before and after, as JSON text; None where there was or is none."""

    path: str
    old: str | None
    new: str | None


def next_spec(base: Mapping[str, Any], wanted: Mapping[str, Any], *, version: int) -> dict[str, Any]:
    """The base with the wanted parts in their place, as version `version`. Raises BadSpec with all its problems."""
    problems: list[SpecProblem] = []
    for name in wanted:
        if name not in FREE:
            problems.append(SpecProblem(str(name)[:40], "FixedPart", UNKNOWN_PART, {"free": ", ".join(FREE)}))
    parts = {name: wanted[name] for name in FREE if name in wanted}
    for name in RANGES:
        if name in parts:
            problems += _range(name, parts[name], base.get(name))
    for name, maximum, required in (("title", TITLE_LENGTH, True), ("description", TEXT_LENGTH, False)):
        if name in parts:
            found = _words(name, parts[name], maximum, required)
            problems += [item for item in found if isinstance(item, SpecProblem)]
            parts[name] = dict(item for item in found if isinstance(item, tuple))
    if "params" in parts:
        problems += _params(parts["params"], base["params"])
    if "\\u0000" in json.dumps(parts):
        problems.append(SpecProblem("", "BadCharacter", NUL))
    if problems:
        raise BadSpec(problems)
    spec = {**base, **parts, "version": version}
    return {**spec, "inputs": [asdict(needed) for needed in inputs_of(spec["params"])]}


def changes_between(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[SpecChange]:
    """Every JSON path whose value differs, in the order of the paths; the version number aside."""
    before, after = dict(_leaves(old)), dict(_leaves(new))
    paths = sorted({*before, *after} - {"version"})
    return [SpecChange(p, before.get(p), after.get(p)) for p in paths if before.get(p) != after.get(p)]


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, Mapping) and value:
        for key, child in value.items():
            yield from _leaves(child, f"{path}.{key}" if path else str(key))
    elif path:
        yield path, json.dumps(value, ensure_ascii=False, sort_keys=True)


def _range(name: str, raw: object, base: object) -> list[SpecProblem]:
    if base is None:
        return [] if raw is None else [SpecProblem(name, "NoRange", NO_RANGE)]
    keys = ("minimum", "default", "maximum")
    if not isinstance(raw, dict) or set(raw) != set(keys) or any(type(raw[key]) is not int for key in keys):
        return [SpecProblem(name, "NotARange", NOT_A_RANGE)]
    low, high = RANGES[name]
    outside = [key for key in keys if not low <= raw[key] <= high]
    if outside:
        return [
            SpecProblem(f"{name}.{key}", "OutOfBounds", OUT_OF_BOUNDS, {"low": low, "high": high}) for key in outside
        ]
    if not raw["minimum"] <= raw["default"] <= raw["maximum"]:
        return [SpecProblem(name, "NotInOrder", NOT_IN_ORDER, dict(raw))]
    return []


def _words(name: str, raw: object, maximum: int, required: bool) -> list[SpecProblem | tuple[str, str]]:
    if not isinstance(raw, dict) or "en" not in raw or any(key not in LANGUAGES for key in raw):
        return [SpecProblem(name, "NotWords", NOT_WORDS)]
    found: list[SpecProblem | tuple[str, str]] = []
    for language, words in raw.items():
        clean = clean_name if required and language == "en" else clean_note
        try:
            found.append((language, clean(words, maximum=maximum)))
        except BadInput as bad:
            found.append(SpecProblem(f"{name}.{language}", bad.reason, bad.template, bad.facts))
    return found


def _params(raw: object, base: object) -> list[SpecProblem]:
    try:
        schema = read_schema(raw)
    except BadSchema as bad:
        return [SpecProblem(f"params.{p.path}".rstrip("."), p.reason, p.template, p.facts) for p in bad.problems]
    return list(_against(schema, read_schema(base)))


def _against(schema: Schema, base: Schema) -> Iterator[SpecProblem]:
    for param in base.params:
        path, found = f"params.properties.{param.name}", schema.param(param.name)
        if found is None:
            yield SpecProblem(path, "ParameterMissing", PARAM_MISSING)
        elif found.kind != param.kind or found.artifact_kind != param.artifact_kind:
            kind = " ".join(filter(None, (param.kind.value, param.artifact_kind)))
            yield SpecProblem(path, "ParameterKind", PARAM_KIND, {"kind": kind})
        elif unknown := set(found.options) - set(param.options):
            facts = {"kind": ", ".join(param.options)}
            yield SpecProblem(f"{path}.enum", "OptionUnknown", PARAM_KIND, facts | {"unknown": sorted(unknown)[:5]})
        elif param.required and not found.required and found.default is None:
            yield SpecProblem("params.required", "ParameterMissing", PARAM_MISSING, {"name": param.name})
    for param in schema.params:
        if base.param(param.name) is None:
            yield SpecProblem(f"params.properties.{param.name}", "ParameterUnknown", PARAM_UNKNOWN)
