"""The form shows the template's words and refuses exactly what the API refuses, beside the field."""

from typing import Any

import pytest
from django.utils.translation import override

from jobs.params import said
from jobs.params.forms import ParamsForm
from jobs.params.schema import BadSchema, read_schema
from jobs.params.values import to_text, validate
from tests.data import hostile
from tests.unit.params.example import DATA_ID, GIVEN, HOSTILE_TYPE, SCHEMA, SOURCE_ID, TYPED

SCHEMA_READ = read_schema(SCHEMA)
CHOICES = {"data": [(DATA_ID, "Moons, 4 shards")], "source": [(SOURCE_ID, "Archive")]}


def _posted(**changes: str | None) -> dict[str, str]:
    texts = {name: to_text(value) for name, value in GIVEN.items()} | changes
    return {f"params-{name}": text for name, text in texts.items() if text is not None}


def _form(**changes: str | None) -> ParamsForm:
    return ParamsForm(SCHEMA_READ, _posted(**changes), choices=CHOICES)


def test_a_posted_form_gives_the_same_typed_values_as_the_api() -> None:
    form = _form()
    assert form.is_valid(), form.errors
    assert form.params == TYPED == validate(SCHEMA_READ, GIVEN).values


@pytest.mark.parametrize("name", HOSTILE_TYPE)
def test_hostile_posts_are_refused_beside_their_field(name: str) -> None:
    assert _form(steps="0").as_p()  # loads templates and translations, which is no input's doing
    for bad in hostile.for_form(HOSTILE_TYPE[name]):
        with hostile.told(bad):
            form = _form(**{name: bad.value})
            assert list(form.errors) == [name]
            assert form.params == {}
            assert str(form[name]) and str(form[name].errors)  # and it renders


def test_form_and_api_say_the_same_words() -> None:
    form = _form(steps="0")
    (error,) = validate(SCHEMA_READ, GIVEN | {"steps": 0}).errors
    assert form.errors["steps"] == [error.template.format_map(error.facts)]
    assert form.errors.as_data()["steps"][0].code == error.reason


def test_an_empty_required_field_is_missing_and_an_empty_optional_one_takes_its_default() -> None:
    form = _form(steps="", rate="", source="", pause=None)
    assert list(form.errors) == ["steps"]
    form = _form(rate="", source="", pause=None)
    assert form.is_valid()
    assert (form.params["rate"], form.params["pause"], "source" in form.params) == (0.05, 90_000, False)


def test_text_with_a_default_can_be_emptied() -> None:
    form = _form(remark="")
    assert form.is_valid()
    assert form.params["remark"] == ""


def test_an_unchecked_box_is_false_although_the_default_is_true() -> None:
    form = _form(fast=None)
    assert form.is_valid()
    assert form.params["fast"] is False


def test_an_artifact_that_is_not_offered_is_refused() -> None:
    form = _form(data="9c2d1d5e-0c5b-4f43-9d0a-6c2c7d1e3f22")
    assert form.errors.as_data()["data"][0].code == "NotOffered"


def test_a_fresh_form_shows_defaults_or_the_values_of_an_earlier_job() -> None:
    fresh = ParamsForm(SCHEMA_READ)
    assert (fresh["rate"].value(), fresh["pause"].value(), fresh["label"].value()) == ("0.05", "90s", None)
    again = ParamsForm(SCHEMA_READ, initial={"rate": 0.5, "label": "First run"})
    assert (again["rate"].value(), again["label"].value()) == ("0.5", "First run")
    assert "checked" in str(fresh["fast"])


def test_labels_units_and_options_speak_the_reader_s_language() -> None:
    with override("zh-hans"):
        form = ParamsForm(SCHEMA_READ, choices=CHOICES)
        assert (form["mode"].label, form["label"].label, form.fields["steps"].unit) == ("方式", "标签", "步")
        assert "快速" in str(form["mode"])
    with override("en"):
        form = ParamsForm(SCHEMA_READ, choices=CHOICES)
        assert (form["mode"].label, form.fields["steps"].unit) == ("Mode", "steps")
        assert "Moons, 4 shards" in str(form["data"])


def test_descriptions_are_escaped_once_in_any_template() -> None:
    html = ParamsForm(SCHEMA_READ).as_p()
    assert "How &lt;often&gt; &amp; long" in html
    assert "<often>" not in html


def test_the_browser_learns_bounds_and_what_is_required() -> None:
    form = ParamsForm(SCHEMA_READ)
    steps, label = str(form["steps"]), str(form["label"])
    assert 'min="1"' in steps and 'max="1000"' in steps and "required" in steps and 'class="in num"' in steps
    assert 'maxlength="40"' in label


def test_a_refused_schema_becomes_one_refusal_with_all_paths() -> None:
    raw: dict[str, Any] = {"type": "object", "properties": {"a": {"type": "integer"}}}
    with pytest.raises(BadSchema) as refused:
        read_schema(raw)
    invalid = said.of_schema(refused.value)
    assert [(field.field, field.reason) for field in invalid.fields] == [("properties.a", "MissingKeyword")] * 2
    assert "minimum" in invalid.fields[0].text()
