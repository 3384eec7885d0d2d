"""The form of a template's parameters. It holds no rules: `values.validate` decides, as for the API."""

from collections.abc import Mapping, Sequence
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.html import conditional_escape
from django.utils.translation import get_language, gettext
from django.utils.translation import gettext_lazy as _

from jobs.params import said, values
from jobs.params.checks import write_duration
from jobs.params.param import Kind, Param, in_language
from jobs.params.schema import Schema
from resources.quantities import write_cpu, write_memory

Choices = Mapping[str, Sequence[tuple[str, str]]]
"""Per artifact or data source parameter: (id, label) of what this user may choose."""

_CHOSEN = (Kind.CHOICE, Kind.ARTIFACT, Kind.DATASOURCE)
_NUMERIC = (Kind.INTEGER, Kind.NUMBER)


class ParamsForm(forms.Form):
    """One field per parameter. After `is_valid()`, `params` holds the typed values.

    `initial` holds given values (`values.as_given`) that replace the template's defaults.
    """

    params: Mapping[str, Any]
    given: Mapping[str, Any]
    """Values as JSON would have them: what a service takes and checks itself."""

    def __init__(
        self,
        schema: Schema,
        data: Any = None,
        *,
        choices: Choices | None = None,
        initial: Any = None,
        prefix: str = "params",
    ) -> None:
        super().__init__(data, prefix=prefix)
        self.schema, self.choices = schema, choices or {}
        self.params, self.given = {}, {}
        given = dict(initial or {})
        for param in schema.params:
            self.fields[param.name] = ParamField(
                param,
                given=given.get(param.name, param.default),
                choices=self.choices.get(param.name, ()),
                language=get_language() or "en",
            )

    def clean(self) -> dict[str, Any]:
        """Typed values; each refusal stands beside its field, with the reason as its code."""
        cleaned = super().clean() or {}
        given = {
            param.name: values.from_text(param, cleaned[param.name])
            for param in self.schema.params
            if _is_given(param, cleaned[param.name])
        }
        offered = {name: frozenset(key for key, _label in choices) for name, choices in self.choices.items()}
        checked = values.validate(self.schema, given, offered=offered)
        for error in said.of_values(checked.errors):
            self.add_error(error.field or None, ValidationError(error.text(), code=error.reason))
        self.given = given
        self.params = {} if checked.errors else checked.values
        return cleaned


class ParamField(forms.Field):
    """The raw text of one parameter; templates read `unit` beside the input and `param` for the rest."""

    def __init__(self, param: Param, *, given: Any, choices: Sequence[tuple[str, str]], language: str) -> None:
        self.param = param
        self.unit = in_language(param.unit, language)
        super().__init__(
            required=False,  # `values.validate` says what is missing, for form and API alike
            label=param.label(language),
            # Django's own field template prints help text unescaped, so it is escaped here.
            help_text=conditional_escape(f"{in_language(param.description, language)} {_range(param)}".strip()),
            initial=None if given is None else values.to_text(given),
            widget=_widget(param, choices, language),
        )
        self.widget.attrs |= _attributes(param)

    def to_python(self, value: Any) -> str | None:
        """The text as it was posted, None when it was not: nothing is trimmed, nothing is judged here."""
        return value if isinstance(value, str) else None


class StrictCheckbox(forms.widgets.Input):
    """A checkbox that passes on what was posted: absent is "false", a strange value stays strange."""

    input_type = "checkbox"
    template_name = "django/forms/widgets/checkbox.html"

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        """Posts "true" when it is checked."""
        checked = {"checked": True} if value in (True, "true", "on") else {}
        return super().get_context(name, "true", (attrs or {}) | checked)

    def value_from_datadict(self, data: Any, files: Any, name: str) -> str:
        """The posted text, or "false"."""
        posted = data.get(name, "false")
        return posted if isinstance(posted, str) else str(posted)

    def value_omitted_from_data(self, data: Any, files: Any, name: str) -> bool:
        """Never: an unchecked box is not posted at all."""
        return False


def _is_given(param: Param, text: str | None) -> bool:
    """An emptied field leaves the value to the default, except for text, where empty may replace it."""
    replaces = param.kind is Kind.TEXT and param.default is not None
    return text is not None and (text != "" or replaces)


def _widget(param: Param, choices: Sequence[tuple[str, str]], language: str) -> forms.Widget:
    if param.kind is Kind.BOOLEAN:
        return StrictCheckbox()
    if param.kind in _CHOSEN:
        options = [(option, param.option_label(option, language)) for option in param.options] or list(choices)
        empty = [] if param.default is not None else [("", _("Choose …") if param.required else _("None"))]
        return forms.Select(choices=[*empty, *options])
    if param.kind is Kind.TEXTS or param.multiline:
        return forms.Textarea(attrs={"rows": 3})
    return forms.NumberInput() if param.kind in _NUMERIC else forms.TextInput()


def _range(param: Param) -> str:
    """The bounds in words, as the field takes them."""
    if param.minimum is None or param.maximum is None:
        return ""
    low, high = _bound(param, param.minimum), _bound(param, param.maximum)
    return gettext("From {low} to {high}.").format(low=low, high=high)


def _bound(param: Param, value: int | float) -> str:
    if param.kind is Kind.DURATION:
        return write_duration(int(value))
    if param.kind is Kind.QUANTITY:
        return write_cpu(int(value)) if param.resource == "cpu" else write_memory(int(value))
    return f"{value:,}" if isinstance(value, int) else f"{value:,.12f}".rstrip("0").rstrip(".")


def _attributes(param: Param) -> dict[str, Any]:
    """Hints for the browser only; the server checks everything again."""
    attributes: dict[str, Any] = {"class": "in num" if param.kind in _NUMERIC else "in"}
    if param.kind is Kind.BOOLEAN:
        return {}
    if param.kind in _NUMERIC:
        step = 1 if param.kind is Kind.INTEGER else "any"
        attributes |= {"min": param.minimum, "max": param.maximum, "step": step}
    if param.kind is Kind.TEXT:
        attributes["maxlength"] = param.max_length
    if param.required:
        attributes["required"] = True
    return attributes
