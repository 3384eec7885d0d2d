"""Every shipped template is whole: its schema is in the subset, its program exists, its defaults are valid."""

import json

import pytest

from jobs.params.param import LANGUAGES, Kind
from jobs.params.schema import read_schema
from jobs.params.values import validate
from jobs.shipped.catalogue import PROGRAMS, TEMPLATES
from jobs.shipped.template import Range, Template
from portal.lib.text import clean_slug

TASK_TYPES = ("training", "fine_tuning", "inference", "data_processing", "batch", "experiment", "evaluation")
EACH = pytest.mark.parametrize("template", TEMPLATES, ids=lambda template: template.slug)


def test_each_task_type_has_exactly_one_template() -> None:
    assert sorted(template.task_type for template in TEMPLATES) == sorted(TASK_TYPES)


def test_each_program_belongs_to_a_template_and_shared_modules_are_no_programs() -> None:
    assert {template.program for template in TEMPLATES} == set(PROGRAMS)
    assert not any(key.startswith("portal_") for key in PROGRAMS)


@EACH
def test_its_slug_is_a_dns_label_and_its_spec_is_json(template: Template) -> None:
    assert clean_slug(template.slug) == template.slug
    assert json.loads(json.dumps(template.spec()))["slug"] == template.slug


@EACH
def test_its_words_are_in_both_languages(template: Template) -> None:
    schema = read_schema(template.params)
    titles = [template.title, template.description, *(param.title for param in schema.params)]
    titles += [labels for param in schema.params for labels in param.labels.values()]
    for words in titles:
        assert set(words) == set(LANGUAGES)
        assert all(words.values())


@EACH
def test_its_form_can_be_submitted_as_it_opens_once_inputs_are_chosen(template: Template) -> None:
    inputs = {needed.param: "00000000-0000-4000-8000-000000000000" for needed in template.inputs()}
    schema = read_schema(template.params)
    checked = validate(schema, inputs)
    assert checked.errors == ()
    assert set(checked.values) == {param.name for param in schema.params}


@EACH
def test_its_inputs_are_required_artifacts_by_their_variable(template: Template) -> None:
    for needed in template.inputs():
        param = read_schema(template.params).param(needed.param)
        assert param and param.kind is Kind.ARTIFACT and param.required
        assert needed.variable == f"PORTAL_INPUT_{needed.param.upper()}"


@EACH
def test_its_ranges_hold_their_defaults(template: Template) -> None:
    ranges = [template.cpu_milli, template.memory_bytes, template.devices, template.members, template.time_limit_ms]
    for limits in ranges:
        if isinstance(limits, Range):
            assert 0 <= limits.minimum <= limits.default <= limits.maximum
    assert template.members.minimum >= 1
    assert template.grace_ms > 0


@EACH
def test_it_ends_by_a_rule(template: Template) -> None:
    assert (template.end_rule == "reservation") is template.serves
    assert (template.time_limit_ms is None) is template.serves
    assert bool(template.health_path) is template.serves


@EACH
def test_members_start_together_or_one_by_one_never_both(template: Template) -> None:
    assert template.gang is not template.parallel


def test_what_one_template_makes_another_takes() -> None:
    made = {kind for template in TEMPLATES for kind in template.outputs.values()}
    taken = {needed.kind for template in TEMPLATES for needed in template.inputs()}
    assert taken <= made


def test_a_session_fits_into_its_time_limit() -> None:
    (session,) = (template for template in TEMPLATES if template.task_type == "experiment")
    live = read_schema(session.params).param("time_to_live")
    assert live and live.maximum and session.time_limit_ms
    assert live.maximum < session.time_limit_ms.maximum
