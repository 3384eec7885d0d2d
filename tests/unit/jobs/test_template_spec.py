"""A template's next version: what may change, what may not, and where exactly something is wrong."""

from copy import deepcopy
from typing import Any

import pytest

from jobs.shipped.catalogue import EVALUATION, TRAINING
from jobs.template_spec import BadSpec, changes_between, next_spec

BASE = TRAINING.spec()


def problems(parts: dict[str, Any], base: dict[str, Any] = BASE) -> dict[str, str]:
    """Reason by JSON path."""
    with pytest.raises(BadSpec) as caught:
        next_spec(base, parts, version=2)
    return {problem.path: problem.reason for problem in caught.value.problems}


def with_param(name: str, **keywords: Any) -> dict[str, Any]:
    params: dict[str, Any] = deepcopy(BASE["params"])
    params["properties"][name] |= keywords
    return {"params": params}


def test_free_parts_take_their_place_and_everything_else_stays() -> None:
    parts = {"title": {"en": "Train here"}, "cpu_milli": {"default": 1_000, "minimum": 500, "maximum": 2_000}}
    made = next_spec(BASE, parts | with_param("steps", maximum=5_000), version=2)
    assert {change.path: (change.old, change.new) for change in changes_between(BASE, made)} == {
        "title.en": ('"Train a network"', '"Train here"'),
        "title.zh-hans": ('"训练神经网络"', None),
        "cpu_milli.default": ("500", "1000"),
        "cpu_milli.minimum": ("100", "500"),
        "cpu_milli.maximum": ("16000", "2000"),
        "params.properties.steps.maximum": ("10000000", "5000"),
    }
    assert made["version"] == 2 and made["program"] == BASE["program"]


def test_an_unchanged_version_has_no_changes() -> None:
    assert changes_between(BASE, next_spec(BASE, {"params": BASE["params"]}, version=9)) == []


@pytest.mark.parametrize(
    ("parts", "found"),
    [
        ({"program": "evaluation"}, {"program": "FixedPart"}),
        ({"title": {}}, {"title": "NotWords"}),
        ({"title": {"en": " "}}, {"title.en": "Blank"}),
        ({"title": {"en": "x" * 121}}, {"title.en": "TooLong"}),
        ({"title": {"en": "T", "fr": "T"}}, {"title": "NotWords"}),
        ({"description": {"en": "a\u202eb"}}, {"description.en": "BadCharacter"}),
        ({"members": {"default": 3, "minimum": 1, "maximum": 2}}, {"members": "NotInOrder"}),
        ({"members": {"default": 1, "minimum": 0, "maximum": 2}}, {"members.minimum": "OutOfBounds"}),
        ({"members": {"default": True, "minimum": 1, "maximum": 2}}, {"members": "NotARange"}),
        ({"members": {"default": 1}}, {"members": "NotARange"}),
        ({"cpu_milli": 5}, {"cpu_milli": "NotARange"}),
        ({"params": []}, {"params": "NotASchema"}),
        (with_param("steps", maximum="many"), {"params.properties.steps.maximum": "BadKeyword"}),
        (with_param("steps", surprise=1), {"params.properties.steps": "UnknownKeyword"}),
        (with_param("steps", type="number"), {"params.properties.steps": "ParameterKind"}),
        (with_param("dataset", **{"x-kind": "checkpoint"}), {"params.properties.dataset": "ParameterKind"}),
        (with_param("steps", **{"x-title": {"en": "a\x00b"}}), {"params.properties.steps.x-title": "BadKeyword"}),
    ],
    ids=str,
)
def test_what_is_wrong_is_named_by_its_path(parts: dict[str, Any], found: dict[str, str]) -> None:
    assert found.items() <= problems(parts).items()


def test_the_program_keeps_its_parameters() -> None:
    params = deepcopy(BASE["params"])
    params["properties"]["extra"] = params["properties"].pop("seed")
    params["x-order"] = list(params["properties"])
    assert problems({"params": params}) == {
        "params.properties.seed": "ParameterMissing",
        "params.properties.extra": "ParameterUnknown",
    }


def test_a_choice_may_lose_options_but_get_none_the_program_does_not_know() -> None:
    base = EVALUATION.spec()
    fewer, more = deepcopy(base["params"]), deepcopy(base["params"])
    split = fewer["properties"]["split"]
    split["enum"], split["x-labels"] = ["held-out"], {"held-out": split["x-labels"]["held-out"]}
    assert next_spec(base, {"params": fewer}, version=2)["params"] == fewer
    more["properties"]["split"]["enum"] = ["held-out", "train", "everything"]
    assert problems({"params": more}, base) == {"params.properties.split.enum": "OptionUnknown"}


def test_a_template_that_serves_gets_no_time_limit() -> None:
    base = {**BASE, "time_limit_ms": None}
    limit = {"default": 60_000, "minimum": 60_000, "maximum": 60_000}
    assert problems({"time_limit_ms": limit}, base) == {"time_limit_ms": "NoRange"}
    assert next_spec(base, {"time_limit_ms": None}, version=2)["time_limit_ms"] is None
