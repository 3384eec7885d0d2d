"""Parameter values: typed when right, named with numbers when wrong, and back to what a user would give."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jobs.params.checks import parse_duration, write_duration
from jobs.params.schema import read_schema
from jobs.params.values import as_given, from_text, to_text, validate
from tests.data import hostile
from tests.unit.params.example import DATA_ID, GIVEN, HOSTILE_TYPE, SCHEMA, SOURCE_ID, TYPED

SCHEMA_READ = read_schema(SCHEMA)


def test_given_values_become_typed_ones() -> None:
    checked = validate(SCHEMA_READ, GIVEN)
    assert checked.errors == ()
    assert checked.values == TYPED


def test_typed_values_go_back_to_what_a_user_would_give() -> None:
    again = as_given(SCHEMA_READ, TYPED)
    assert validate(SCHEMA_READ, again).values == TYPED


def test_defaults_are_filled_in_and_other_optional_values_stay_absent() -> None:
    checked = validate(SCHEMA_READ, {"label": "a", "steps": 1, "data": DATA_ID})
    assert checked.errors == ()
    assert checked.values == {
        "label": "a", "steps": 1, "data": DATA_ID,
        "remark": "none yet", "mode": "fast", "rate": 0.05, "fast": True, "pause": 90_000,
    }  # fmt: skip


def test_all_errors_are_told_at_once_each_with_its_field() -> None:
    checked = validate(SCHEMA_READ, {"steps": 0, "rate": 7, "pause": "1d", "code": "ab", "ghost": 1})
    assert [(error.field, error.reason) for error in checked.errors] == [
        ("", "UnknownParameter"),
        ("label", "Missing"),
        ("steps", "TooSmall"),
        ("rate", "TooLarge"),
        ("data", "Missing"),
        ("pause", "TooLarge"),
        ("code", "PatternMismatch"),
    ]
    assert checked.errors[2].facts == {"minimum": 1, "maximum": 1000}
    assert checked.errors[5].facts == {"minimum": "1s", "maximum": "2h"}


@pytest.mark.parametrize("name", HOSTILE_TYPE)
def test_hostile_values_are_refused_beside_their_field_within_ten_milliseconds(name: str) -> None:
    for bad in hostile.for_type(HOSTILE_TYPE[name]):
        with hostile.told(bad, seconds=0.010):
            (error,) = validate(SCHEMA_READ, GIVEN | {name: bad.value}).errors
            assert error.field == name
            said = error.template.format_map(error.facts)
            assert said.isprintable() and len(said) < 400


@pytest.mark.parametrize("given_", [None, [], "text", 1, True, [("label", "a")]])
def test_hostile_wholes_are_no_object(given_: Any) -> None:
    (error,) = validate(SCHEMA_READ, given_).errors
    assert error.reason == "NotAnObject"


def test_hostile_parameter_names_are_shown_short_and_printable_and_only_a_few() -> None:
    names: dict[Any, int] = {"\x00\u202e" + "x" * 10_000: 1, "__class__": 1, 5: 1} | {f"n{i}": 1 for i in range(5_000)}
    errors = validate(SCHEMA_READ, GIVEN | names).errors
    assert len(errors) == 5
    for error in errors:
        said = error.template.format_map(error.facts)
        assert said.isprintable() and len(said) < 100


def test_only_offered_artifacts_may_be_chosen() -> None:
    offered = {"data": {DATA_ID}, "source": set[str]()}
    (error,) = validate(SCHEMA_READ, GIVEN, offered=offered).errors
    assert (error.field, error.reason) == ("source", "NotOffered")
    assert validate(SCHEMA_READ, GIVEN, offered=offered | {"source": {SOURCE_ID}}).errors == ()


@pytest.mark.parametrize(("name", "value", "reason"), [
    ("tags", ["a", "a"], "RepeatedEntry"),
    ("tags", ["a", "b", "c", "d"], "TooManyEntries"),
    ("label", " ", "Blank"),
    ("label", "x" * 41, "TooLong"),
    ("memory", "8Gi", "QuantityTooLarge"),
    ("cores", "10m", "QuantityTooSmall"),
    ("pause", "999999s", "TooLarge"),
])  # fmt: skip
def test_each_rule_has_a_reason_of_its_own(name: str, value: Any, reason: str) -> None:
    (error,) = validate(SCHEMA_READ, GIVEN | {name: value}).errors
    assert (error.field, error.reason) == (name, reason)


@pytest.mark.parametrize("name", list(GIVEN))
def test_what_a_form_shows_is_read_back(name: str) -> None:
    param = SCHEMA_READ.param(name)
    assert param
    assert from_text(param, to_text(GIVEN[name])) == GIVEN[name]


@given(st.floats(min_value=1e-6, max_value=1))
def test_any_number_survives_the_form(number: float) -> None:
    param = SCHEMA_READ.param("rate")
    assert param
    assert from_text(param, to_text(number)) == number


@given(st.integers(1, 9_999_999))
def test_any_whole_second_reads_back_as_written(seconds: int) -> None:
    assert parse_duration(write_duration(seconds * 1000)) == seconds * 1000


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)


@given(st.dictionaries(st.sampled_from(list(GIVEN)), _JSON))
def test_no_json_value_makes_validation_fail_otherwise(given_: dict[str, Any]) -> None:
    checked = validate(SCHEMA_READ, given_)
    for error in checked.errors:
        assert error.template.format_map(error.facts)
    if not checked.errors:
        assert validate(SCHEMA_READ, as_given(SCHEMA_READ, checked.values)).values == checked.values
