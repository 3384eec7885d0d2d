"""The schema subset: what is read, and that everything else is refused by name."""

import copy
from typing import Any

import pytest

from jobs.params.param import Kind
from jobs.params.schema import BadSchema, read_schema
from tests.unit.params.example import SCHEMA


def _with(name: str, **changes: Any) -> dict[str, Any]:
    """The example schema with keywords of one property changed; a value of `...` removes the keyword."""
    schema = copy.deepcopy(SCHEMA)
    prop = schema["properties"][name]
    for argument, value in changes.items():
        keyword = argument.replace("x_", "x-", 1)
        if value is ...:
            del prop[keyword]
        else:
            prop[keyword] = value
    return schema


def _problems(raw: object) -> list[tuple[str, str]]:
    with pytest.raises(BadSchema) as refused:
        read_schema(raw)
    for problem in refused.value.problems:
        assert problem.template.format_map(problem.facts)  # every placeholder has its fact
    return [(problem.path, problem.reason) for problem in refused.value.problems]


def test_every_kind_is_read_in_the_order_of_the_form() -> None:
    schema = read_schema(SCHEMA)
    assert [param.name for param in schema.params] == SCHEMA["x-order"]
    assert {param.kind for param in schema.params} == set(Kind)


def test_bounds_are_typed_and_words_come_in_both_languages() -> None:
    schema = read_schema(SCHEMA)
    pause, cores, memory, mode = (schema.param(name) for name in ("pause", "cores", "memory", "mode"))
    assert pause and (pause.minimum, pause.maximum, pause.default) == (1_000, 7_200_000, "90s")
    assert cores and (cores.minimum, cores.maximum) == (100, 8_000)
    assert memory and (memory.minimum, memory.maximum) == (64 << 20, 4 << 30)
    assert mode and (mode.label("zh-hans"), mode.label("de")) == ("方式", "Mode")
    assert (mode.option_label("fast", "zh-hans"), mode.option_label("exact", "zh-hans")) == ("快速", "exact")


def test_order_falls_back_to_the_order_given() -> None:
    schema = {key: value for key, value in SCHEMA.items() if key != "x-order"}
    assert [param.name for param in read_schema(schema).params] == list(SCHEMA["properties"])


@pytest.mark.parametrize(
    "raw",
    [
        None,
        [],
        "object",
        {},
        {"type": "object"},
        {"type": "array", "properties": {}},
        {"type": "object", "properties": []},
    ],
)
def test_what_is_no_object_schema_is_refused(raw: object) -> None:
    assert _problems(raw) == [("", "NotASchema")]


@pytest.mark.parametrize("keyword", ["$ref", "allOf", "anyOf", "if", "patternProperties", "definitions"])
def test_keywords_outside_the_subset_are_refused_by_name(keyword: str) -> None:
    assert _problems(SCHEMA | {keyword: {}}) == [("", "UnknownKeyword")]


@pytest.mark.parametrize(
    ("name", "changes", "path", "reason"),
    [
        ("steps", {"multipleOf": 5}, "", "UnknownKeyword"),
        ("steps", {"exclusiveMinimum": 0}, "", "UnknownKeyword"),
        ("steps", {"pattern": "1"}, "", "UnknownKeyword"),
        ("steps", {"maximum": ...}, "", "MissingKeyword"),
        ("steps", {"maximum": 0}, "", "BadRange"),
        ("steps", {"maximum": 1.5}, ".maximum", "BadKeyword"),
        ("steps", {"maximum": True}, ".maximum", "BadKeyword"),
        ("steps", {"maximum": 10**400}, ".maximum", "BadKeyword"),
        ("steps", {"default": 5}, "", "RequiredDefault"),
        ("rate", {"maximum": float("inf")}, ".maximum", "BadKeyword"),
        ("rate", {"default": 2}, ".default", "BadDefault"),
        ("rate", {"default": None}, ".default", "BadDefault"),
        ("fast", {"default": "yes"}, ".default", "BadDefault"),
        ("mode", {"enum": []}, ".enum", "BadKeyword"),
        ("mode", {"enum": ["a", "a"]}, ".enum", "BadKeyword"),
        ("mode", {"enum": [1]}, ".enum", "BadKeyword"),
        ("mode", {"x_labels": {"other": {"en": "a", "zh-hans": "b"}}}, ".x-labels", "BadKeyword"),
        ("mode", {"x_title": {"en": "only English"}}, ".x-title", "BadKeyword"),
        ("mode", {"default": "other"}, ".default", "BadDefault"),
        ("label", {"maxLength": ...}, "", "MissingKeyword"),
        ("label", {"maxLength": 10**9}, ".maxLength", "BadKeyword"),
        ("label", {"minLength": 41}, "", "BadRange"),
        ("label", {"format": "email"}, "", "UnknownType"),
        ("label", {"type": "null"}, "", "UnknownType"),
        ("label", {"type": ["string", "null"]}, "", "UnknownType"),
        ("label", {"title": "a\x00"}, ".title", "BadKeyword"),
        ("code", {"pattern": "(a+)+$("}, ".pattern", "BadKeyword"),
        ("code", {"pattern": "(?<=a)b"}, ".pattern", "BadKeyword"),
        ("code", {"maxLength": 300}, "", "PatternLength"),
        ("tags", {"items": {"type": "integer"}}, ".items", "BadKeyword"),
        ("tags", {"maxItems": 1000}, ".maxItems", "BadKeyword"),
        ("tags", {"minItems": 4}, "", "BadRange"),
        ("data", {"x_kind": "anything"}, ".x-kind", "BadKeyword"),
        ("source", {"default": "5b1c7f1e-8f5a-4a7e-8f67-0a4b8c9d0e12"}, "", "NoDefault"),
        ("pause", {"x_minimum": "soon"}, ".x-minimum", "BadKeyword"),
        ("pause", {"x_minimum": "3h"}, "", "BadRange"),
        ("cores", {"x_maximum": "1Gi"}, ".x-maximum", "BadKeyword"),
        ("cores", {"x_resource": "gpu"}, ".x-resource", "BadKeyword"),
    ],
)  # fmt: skip
def test_a_broken_keyword_is_named_with_its_path(name: str, changes: dict[str, Any], path: str, reason: str) -> None:
    assert (f"properties.{name}{path}", reason) in _problems(_with(name, **changes))


@pytest.mark.parametrize("name", ["Steps", "1st", "a-b", "a b", "", "a" * 41, "ｎ", "__proto__", "a\x00"])
def test_parameter_names_are_plain_identifiers(name: str) -> None:
    raw = {"type": "object", "properties": {name: {"type": "boolean"}}}
    (problem,) = _problems(raw)
    assert problem[1] == "BadParameterName"
    assert problem[0].isprintable()


def test_all_problems_are_told_at_once() -> None:
    raw = {
        "type": "object",
        "required": ["ghost"],
        "x-order": ["b"],
        "additionalProperties": True,
        "properties": {"a": {"type": "integer"}, "b": {"type": "boolean", "maximum": 1}},
    }
    assert {reason for _path, reason in _problems(raw)} == {
        "BadKeyword", "BadOrder", "MissingKeyword", "UnknownKeyword", "UnknownRequired",
    }  # fmt: skip


def test_the_number_of_parameters_is_bounded() -> None:
    raw = {"type": "object", "properties": {f"p{index}": {"type": "boolean"} for index in range(41)}}
    assert _problems(raw) == [("properties", "TooManyParameters")]


@pytest.mark.parametrize("name", [1, None, True, ["1"], {"1": 1}])
def test_an_order_of_anything_but_names_is_refused(name: object) -> None:
    prop = next(iter(SCHEMA["properties"].values()))
    assert ("x-order", "BadOrder") in _problems({"type": "object", "properties": {str(name): prop}, "x-order": [name]})
