"""Parameter values: given ones validated into typed ones, and back into what a form shows. Pure.

Three spellings of one value: *text* in a form, *given* as JSON has it (a duration is "30m"),
*typed* as jobs store it and programs read it (a duration is 1800000 milliseconds).
"""

import re
from collections.abc import Container, Mapping
from dataclasses import dataclass
from typing import Any

from jobs.params.checks import check_value, write_duration
from jobs.params.keywords import shown
from jobs.params.param import Kind, Param
from jobs.params.schema import Schema
from portal.lib.text import BadInput, gettext_noop
from resources import quantities

MISSING = gettext_noop("This is needed.")
UNKNOWN = gettext_noop("The template has no parameter {name}.")
NOT_A_MAPPING = gettext_noop("Give the parameters as an object of names and values.")

MAX_UNKNOWN_NAMED = 5
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}", re.ASCII)
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]{0,17})(?:\.[0-9]{1,24})?(?:[eE][+-]?[0-9]{1,3})?", re.ASCII)
_BOOLEANS = {"on": True, "true": True, "false": False}


@dataclass(frozen=True, slots=True)
class FieldError:
    """What is wrong with one parameter; `field` is "" when it is about the whole."""

    field: str
    reason: str
    template: str
    facts: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Checked:
    """Typed values of all parameters that have one, and what was refused; with errors, use no value."""

    values: Mapping[str, Any]
    errors: tuple[FieldError, ...]


def validate(schema: Schema, given: object, *, offered: Mapping[str, Container[str]] | None = None) -> Checked:
    """Typed values, defaults filled in, or all errors at once.

    `offered` lists, per artifact or data source parameter, the ids this user may choose.
    An optional parameter without default is absent when it was not given; null is not a value.
    """
    if not isinstance(given, Mapping):
        return Checked({}, (FieldError("", "NotAnObject", NOT_A_MAPPING, {}),))
    values: dict[str, Any] = {}
    errors = _unknown(schema, given)
    for param in schema.params:
        try:
            if param.name in given or param.default is not None:
                value = given.get(param.name, param.default)
                values[param.name] = check_value(param, value, (offered or {}).get(param.name))
            elif param.required:
                raise BadInput("Missing", MISSING)
        except BadInput as bad:
            errors.append(FieldError(param.name, bad.reason, bad.template, bad.facts))
    return Checked(values, tuple(errors))


def _unknown(schema: Schema, given: Mapping[Any, Any]) -> list[FieldError]:
    known = {param.name for param in schema.params}
    strange = [name for name in given if name not in known]
    return [FieldError("", "UnknownParameter", UNKNOWN, {"name": shown(name)}) for name in strange[:MAX_UNKNOWN_NAMED]]


def as_given(schema: Schema, typed: Mapping[str, Any]) -> dict[str, Any]:
    """Typed values as a user would give them again; validated, they are the same typed values."""
    return {param.name: _given(param, typed[param.name]) for param in schema.params if param.name in typed}


def _given(param: Param, value: Any) -> Any:
    if param.kind is Kind.DURATION:
        return write_duration(value)
    if param.kind is Kind.QUANTITY:
        return quantities.write_cpu(value) if param.resource == "cpu" else quantities.write_memory(value)
    return value


def from_text(param: Param, text: str) -> Any:
    """The JSON value a form's text means, or the text itself, which `validate` then refuses. Never raises."""
    if param.kind is Kind.INTEGER and _INTEGER.fullmatch(text):
        return int(text)
    if param.kind is Kind.NUMBER and len(text) <= 40 and _NUMBER.fullmatch(text):
        number = float(text)
        return text if number == 0 and text.startswith("-") else number
    if param.kind is Kind.BOOLEAN:
        return _BOOLEANS.get(text, text)
    if param.kind is Kind.TEXTS:
        return [line for line in text.replace("\r\n", "\n").split("\n") if line.strip(" ")]
    return text


def to_text(given: Any) -> str:
    """What a form field shows for a given value; `from_text` reads it back."""
    if isinstance(given, bool):
        return "true" if given else "false"
    if isinstance(given, list):
        return "\n".join(given)
    return repr(given) if isinstance(given, float) else str(given)
