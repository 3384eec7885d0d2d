"""The forms of template administration: a copy's name and place, and what a next version may change."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from django import forms
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from jobs.params.checks import parse_duration, write_duration
from jobs.params.schema import read_schema
from jobs.template_spec import RANGES, TEXT_LENGTH, TITLE_LENGTH
from portal.lib.change_form import CleanText
from portal.lib.errors import DomainError
from portal.lib.rest.body import read_object
from portal.lib.text import BadInput, clean_name, clean_note, clean_slug
from resources.quantities import parse_count, parse_cpu, parse_memory, write_cpu, write_memory

LARGEST_JSON = 64 * 1024
EDGES: Mapping[str, str | Promise] = {"minimum": _("minimum"), "default": _("default"), "maximum": _("maximum")}
_WORDS: Mapping[str, str | Promise] = {
    "cpu_milli": _("CPU per member"),
    "memory_bytes": _("Memory per member"),
    "devices": _("Devices per member"),
    "members": _("Members"),
    "time_limit_ms": _("Run limit"),
}
_READ: Mapping[str, Callable[[str], int]] = {
    "cpu_milli": parse_cpu,
    "memory_bytes": parse_memory,
    "devices": lambda raw: parse_count(raw, minimum=0, maximum=RANGES["devices"][1]),
    "members": lambda raw: parse_count(raw, maximum=RANGES["members"][1]),
    "time_limit_ms": parse_duration,
}
_WRITE: Mapping[str, Callable[[int], str]] = {
    "cpu_milli": write_cpu,
    "memory_bytes": write_memory,
    "time_limit_ms": write_duration,
}


class Amount(forms.CharField):
    """An amount in base units, written as people do: 0.5, 4Gi, 2h."""

    def __init__(self, name: str, edge: str) -> None:
        self.name = name
        super().__init__(label=f"{_WORDS[name]}, {EDGES[edge]}", max_length=16, strip=False)

    def prepare_value(self, value: Any) -> Any:
        """Base units as text; what was typed stays."""
        return _WRITE.get(self.name, str)(value) if isinstance(value, int) else value

    def to_python(self, value: Any) -> Any:
        """Base units, or "" for nothing."""
        if value in self.empty_values:
            return ""
        try:
            return _READ[self.name](value)
        except BadInput as bad:
            raise forms.ValidationError(_(bad.template).format_map(bad.facts), code=bad.reason) from bad

    def validate(self, value: Any) -> None:
        """Needed; its bounds are the service's business."""
        if value == "":
            raise forms.ValidationError(self.error_messages["required"], code="required")

    def run_validators(self, value: Any) -> None:
        """It is a number by now."""


class JsonText(forms.CharField):
    """A JSON object as it was typed, read as strictly as the body of an API request; cleaned it is the object."""

    def __init__(self, **options: Any) -> None:
        widget = forms.Textarea(attrs={"rows": 24, "spellcheck": "false", "class": "in mono"})
        super().__init__(max_length=LARGEST_JSON, strip=False, widget=widget, **options)

    def prepare_value(self, value: Any) -> Any:
        """Indented; what was typed stays."""
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, indent=2)

    def to_python(self, value: Any) -> Any:
        """The value, or "" for nothing."""
        if value in self.empty_values:
            return ""
        try:
            return read_object(value.encode("utf-8", "replace"))
        except DomainError as error:
            raise forms.ValidationError(error.text(), code=error.reason) from error

    def validate(self, value: Any) -> None:
        """Needed; its shape is the service's business."""
        if value == "":
            raise forms.ValidationError(self.error_messages["required"], code="required")

    def run_validators(self, value: Any) -> None:
        """It is no text by now."""


def _title(**options: Any) -> CleanText:
    return CleanText(lambda raw: clean_name(raw, maximum=TITLE_LENGTH), **options)


def _text(**options: Any) -> CleanText:
    widget = forms.Textarea(attrs={"rows": 2})
    return CleanText(lambda raw: clean_note(raw, maximum=TEXT_LENGTH), required=False, widget=widget, **options)


class CopyForm(forms.Form):
    """Where the copy belongs, its short name and title."""

    place = forms.ChoiceField(label=_("For"))
    slug = CleanText(clean_slug, label=_("Short name"), help_text=_("In addresses and in the API; it stays."))
    title = _title(label=_("Title"))

    def __init__(self, *args: Any, places: Sequence[tuple[str, str | Promise]] = (), **options: Any) -> None:
        super().__init__(*args, **options)
        field = self.fields["place"]
        assert isinstance(field, forms.ChoiceField)
        field.choices = places


class VersionForm(forms.Form):
    """Titles, texts, bounds and parameters of the next version."""

    title_en = _title(label=_("Title in English"))
    title_zh = _title(label=_("Title in Chinese"), required=False)
    description_en = _text(label=_("What it does, in English"))
    description_zh = _text(label=_("What it does, in Chinese"))

    def __init__(self, *args: Any, spec: Mapping[str, Any], **options: Any) -> None:
        super().__init__(*args, **options)
        for name in RANGES:
            for edge in EDGES if spec.get(name) is not None else ():
                self.fields[f"{name}_{edge}"] = Amount(name, edge)
        self.fields["params"] = JsonText(
            label=_("Parameters as a JSON schema"),
            help_text=_(
                "The program reads just these parameters; their titles, bounds, choices and defaults are free."
            ),
        )


def values_of(spec: Mapping[str, Any]) -> dict[str, Any]:
    """A spec as the form's values."""
    found: dict[str, Any] = {
        "title_en": spec["title"].get("en", ""),
        "title_zh": spec["title"].get("zh-hans", ""),
        "description_en": spec.get("description", {}).get("en", ""),
        "description_zh": spec.get("description", {}).get("zh-hans", ""),
        "params": _in_form_order(spec["params"]),
    }
    for name in RANGES:
        for edge in EDGES if spec.get(name) is not None else ():
            found[f"{name}_{edge}"] = spec[name][edge]
    return found


def parts_of(values: Mapping[str, Any]) -> dict[str, Any]:
    """The form's values as parts of a spec."""
    parts: dict[str, Any] = {
        "title": _languages(values["title_en"], values["title_zh"]),
        "description": _languages(values["description_en"], values["description_zh"]),
        "params": values["params"],
    }
    for name in RANGES:
        if f"{name}_default" in values:
            parts[name] = {edge: values[f"{name}_{edge}"] for edge in EDGES}
    return parts


def field_of(path: str) -> str:
    """The form's field that holds what lies at a JSON path, "" for none."""
    head, _dot, rest = path.partition(".")
    if head == "params":
        return head
    if head in ("title", "description"):
        return f"{head}_{'zh' if rest == 'zh-hans' else 'en'}"
    return f"{head}_{rest or 'default'}" if head in RANGES else ""


def _in_form_order(params: Mapping[str, Any]) -> dict[str, Any]:
    """The same schema with its parts as people read them: the database does not keep the order of keys."""
    known = params["properties"]
    properties = {param.name: known[param.name] for param in read_schema(params).params}
    return {**{key: value for key, value in params.items() if key != "properties"}, "properties": properties}


def _languages(english: str, chinese: str) -> dict[str, str]:
    return {"en": english} | ({"zh-hans": chinese} if chinese else {})
