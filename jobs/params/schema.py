"""A template's parameter schema: checked against our JSON-Schema subset and read into `Param`s. Pure.

The subset and its own `x-` keywords are documented in README.md. Anything else is refused by name:
a keyword that is ignored in silence is a rule somebody believes in.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from jobs.params import keywords
from jobs.params.checks import check_value
from jobs.params.keywords import BadKeyword
from jobs.params.param import Kind, Param
from portal.lib.text import BadInput, gettext_noop

MAX_PARAMS = 40

NOT_A_SCHEMA = gettext_noop("Give an object with `type: object` and `properties`.")
UNKNOWN_KEYWORD = gettext_noop("The keyword {keyword} is not part of the schema subset. Known here: {known}.")
MISSING_KEYWORD = gettext_noop("The keyword {keyword} is missing.")
UNKNOWN_TYPE = gettext_noop("The type or format is not known. Known types: {types}; known formats: {formats}.")
BAD_NAME = gettext_noop("A parameter name has lower-case letters, digits and underscores, at most {maximum}.")
TOO_MANY_PARAMS = gettext_noop("{count} parameters are too many; at most {maximum} are allowed.")
UNKNOWN_REQUIRED = gettext_noop("{name} is required but is no property.")
REQUIRED_DEFAULT = gettext_noop("A parameter is either required or has a default, not both.")
NO_DEFAULT = gettext_noop("An artifact or data source has no default: it belongs to a project.")
BAD_DEFAULT = gettext_noop("The default does not fit its own rules ({reason}).")
BAD_RANGE = gettext_noop("The smallest value is above the largest.")
BAD_ORDER = gettext_noop("x-order names every property once.")
PATTERN_LENGTH = gettext_noop("With a pattern, maxLength is at most {maximum}.")

_FORMATS = {format_.value: format_ for format_ in (Kind.ARTIFACT, Kind.DATASOURCE, Kind.DURATION, Kind.QUANTITY)}
_TYPES = {"integer": Kind.INTEGER, "number": Kind.NUMBER, "boolean": Kind.BOOLEAN, "array": Kind.TEXTS}
_COMMON = ("type", "title", "description", "default", "x-title", "x-description")
_NEEDED: Mapping[Kind, tuple[str, ...]] = {
    Kind.TEXT: ("maxLength",),
    Kind.CHOICE: ("enum",),
    Kind.INTEGER: ("minimum", "maximum"),
    Kind.NUMBER: ("minimum", "maximum"),
    Kind.BOOLEAN: (),
    Kind.TEXTS: ("items", "maxItems"),
    Kind.ARTIFACT: ("format", "x-kind"),
    Kind.DATASOURCE: ("format",),
    Kind.DURATION: ("format", "x-minimum", "x-maximum"),
    Kind.QUANTITY: ("format", "x-resource", "x-minimum", "x-maximum"),
}
_OPTIONAL: Mapping[Kind, tuple[str, ...]] = {
    Kind.TEXT: ("minLength", "pattern", "x-multiline"),
    Kind.CHOICE: ("x-labels",),
    Kind.INTEGER: ("x-unit",),
    Kind.NUMBER: ("x-unit",),
    Kind.TEXTS: ("minItems", "uniqueItems"),
}


@dataclass(frozen=True, slots=True)
class SchemaProblem:
    """What is wrong where; `path` as in "properties.rows.minimum"."""

    path: str
    reason: str
    template: str
    facts: Mapping[str, Any]


class BadSchema(ValueError):
    """A refused schema, with everything found wrong in it."""

    def __init__(self, problems: tuple[SchemaProblem, ...]) -> None:
        super().__init__("; ".join(f"{problem.path}: {problem.reason}" for problem in problems))
        self.problems = problems


@dataclass(frozen=True, slots=True)
class Schema:
    """The parameters of a template, in the order of the form."""

    params: tuple[Param, ...]

    def param(self, name: str) -> Param | None:
        """The parameter of a name, or None."""
        return next((param for param in self.params if param.name == name), None)


def read_schema(raw: object) -> Schema:
    """The schema a JSON value stands for. Raises BadSchema with all its problems at once."""
    reader = _Reader()
    params = reader.schema(raw)
    if reader.problems:
        raise BadSchema(tuple(reader.problems))
    return Schema(params)


class _Reader:
    """Collects problems while it reads; a part with a problem is left out of the result."""

    def __init__(self) -> None:
        self.problems: list[SchemaProblem] = []

    def problem(self, path: str, code: str, template: str, /, **facts: Any) -> None:
        self.problems.append(SchemaProblem(path, code, template, facts))

    def schema(self, raw: object) -> tuple[Param, ...]:
        if not isinstance(raw, dict) or raw.get("type") != "object" or not isinstance(raw.get("properties"), dict):
            self.problem("", "NotASchema", NOT_A_SCHEMA)
            return ()
        properties: dict[str, Any] = raw["properties"]
        if len(properties) > MAX_PARAMS:
            self.problem("properties", "TooManyParameters", TOO_MANY_PARAMS, count=len(properties), maximum=MAX_PARAMS)
            return ()
        self.known(raw, "", ("type", "properties", "required", "additionalProperties", "x-order"))
        if raw.get("additionalProperties", False) is not False:
            self.problem("additionalProperties", "BadKeyword", keywords.MUST_BE_FALSE)
        required = self.required(raw.get("required", []), properties)
        order = self.order(raw.get("x-order"), properties)
        read = (self.param(name, properties[name], required=name in required) for name in order)
        return tuple(param for param in read if param)

    def known(self, raw: Mapping[str, Any], path: str, allowed: tuple[str, ...]) -> None:
        for keyword in raw:
            if keyword not in allowed:
                shown = keywords.shown(keyword)
                self.problem(path, "UnknownKeyword", UNKNOWN_KEYWORD, keyword=shown, known=", ".join(allowed))

    def required(self, raw: object, properties: Mapping[str, Any]) -> frozenset[str]:
        names = raw if isinstance(raw, list) else [raw]
        for name in names:
            if not isinstance(name, str) or name not in properties:
                self.problem("required", "UnknownRequired", UNKNOWN_REQUIRED, name=keywords.shown(name))
        return frozenset(name for name in names if isinstance(name, str))

    def order(self, raw: object, properties: Mapping[str, Any]) -> list[str]:
        """jsonb does not keep the order of keys, so the order of the form is a keyword of its own."""
        if raw is None:
            return list(properties)
        names = [name for name in raw if isinstance(name, str)] if isinstance(raw, list) else []
        if raw != names or sorted(names) != sorted(properties):
            self.problem("x-order", "BadOrder", BAD_ORDER)
            return list(properties)
        return names

    def param(self, name: str, raw: object, *, required: bool) -> Param | None:
        path = f"properties.{keywords.shown(name)}"
        if not keywords.NAME.fullmatch(name):
            self.problem(path, "BadParameterName", BAD_NAME, maximum=keywords.NAME_LENGTH)
            return None
        kind = _kind(raw)
        if kind is None or not isinstance(raw, dict):
            self.problem(
                path,
                "UnknownType",
                UNKNOWN_TYPE,
                types="string, " + ", ".join(_TYPES),
                formats=", ".join(_FORMATS),
            )
            return None
        before = len(self.problems)
        self.known(raw, path, _COMMON + _NEEDED[kind] + _OPTIONAL.get(kind, ()))
        for keyword in _NEEDED[kind]:
            if keyword not in raw:
                self.problem(path, "MissingKeyword", MISSING_KEYWORD, keyword=keyword)
        param = self.keywords(Param(name=name, kind=kind, required=required), raw, path)
        return self.whole(param, raw, path) if len(self.problems) == before else None

    def keywords(self, param: Param, raw: Mapping[str, Any], path: str) -> Param:
        for keyword, value in raw.items():
            reader = keywords.READERS.get(keyword)
            if reader is None:  # type, default and unknown ones: handled elsewhere
                continue
            try:
                param = replace(param, **reader(value, raw))
            except BadKeyword as bad:
                self.problem(f"{path}.{keyword}", "BadKeyword", bad.template, **bad.facts)
        return param

    def whole(self, param: Param, raw: Mapping[str, Any], path: str) -> Param | None:
        """Rules between keywords, once each of them is well-formed."""
        found = len(self.problems)
        for broken, reason, template in _between(param, raw):
            if broken:
                self.problem(path, reason, template, maximum=keywords.PATTERN_VALUE_LENGTH)
        if "default" in raw and len(self.problems) == found:
            param = self.default(param, raw["default"], path)
        return param if len(self.problems) == found else None

    def default(self, param: Param, value: object, path: str) -> Param:
        try:
            check_value(param, value)
        except BadInput as bad:
            self.problem(f"{path}.default", "BadDefault", BAD_DEFAULT, reason=bad.reason)
        return replace(param, default=value)


def _kind(raw: object) -> Kind | None:
    if not isinstance(raw, dict) or not isinstance(raw.get("type"), str):
        return None
    if raw["type"] != "string":
        return _TYPES.get(raw["type"])
    if "format" in raw:
        return _FORMATS.get(raw["format"]) if isinstance(raw["format"], str) else None
    return Kind.CHOICE if "enum" in raw else Kind.TEXT


def _between(param: Param, raw: Mapping[str, Any]) -> tuple[tuple[bool, str, str], ...]:
    low, high = param.minimum, param.maximum
    in_order = (
        (low is None or high is None or low <= high)
        and (param.kind is not Kind.TEXT or param.min_length <= param.max_length)
        and (param.kind is not Kind.TEXTS or param.min_items <= param.max_items)
    )
    belongs = param.kind in (Kind.ARTIFACT, Kind.DATASOURCE)
    return (
        (not in_order, "BadRange", BAD_RANGE),
        (param.required and "default" in raw, "RequiredDefault", REQUIRED_DEFAULT),
        (belongs and "default" in raw, "NoDefault", NO_DEFAULT),
        (
            bool(param.pattern) and param.max_length > keywords.PATTERN_VALUE_LENGTH,
            "PatternLength",
            PATTERN_LENGTH,
        ),
    )
