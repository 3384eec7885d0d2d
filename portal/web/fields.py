"""How a form field is drawn: the control with its class, and every hint linked to it by id."""

from typing import Any

from django.forms import widgets
from django.forms.boundfield import BoundField
from django.utils.functional import Promise

_GROUPS = (widgets.RadioSelect, widgets.CheckboxSelectMultiple)


def shape(bound: BoundField, unit: str | Promise, optional: bool) -> dict[str, Any]:
    """What ui/field.html needs. `unit` falls back to the field's own `unit` attribute."""
    widget = bound.field.widget
    group = isinstance(widget, _GROUPS)
    check = isinstance(widget, widgets.CheckboxInput)
    described = [
        name
        for name, there in (
            (f"{bound.auto_id}_helptext", bound.help_text),
            (f"{bound.auto_id}_error", bound.errors),
        )
        if there
    ]
    return {
        "bound": bound,
        "unit": unit or getattr(bound.field, "unit", ""),
        "optional": optional and not bound.field.required,
        "group": group,
        "check": check,
        "wide": isinstance(widget, widgets.Textarea),
        "described": " ".join(described),
        "control": bound.as_widget(attrs=_attributes(widget, described, plain=group or check)),
    }


def _attributes(widget: widgets.Widget, described: list[str], *, plain: bool) -> dict[str, Any]:
    names = [str(widget.attrs.get("class", ""))]
    if not plain:
        names.append("in num" if isinstance(widget, widgets.NumberInput) else "in")
    found: dict[str, Any] = {"class": " ".join(filter(None, names)) or None}
    if isinstance(widget, widgets.Textarea) and str(widget.attrs.get("rows")) == "10":
        found["rows"] = 4  # Django's default of ten rows pushes the rest of a form off the screen
    if described:
        found["aria-describedby"] = " ".join(described)
    return {name: value for name, value in found.items() if value is not None}
