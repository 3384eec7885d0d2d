"""A form field for a secret: between the two steps of a change the page holds it sealed, never as it is."""

from collections.abc import Mapping
from typing import Any, Final

from django import forms
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext_lazy as _

from resources.vault import CannotOpen, seal, unseal

KEPT_S: Final = 1_800
_PREFIX: Final = "sealed:"
_KEPT: Final = "-kept"


class SealedArea(forms.Textarea):
    """Empty, whatever its value; a value given before rides along sealed, and is used when nothing new is typed."""

    def __init__(self, rows: int) -> None:
        super().__init__({"autocomplete": "off", "spellcheck": "false", "autocapitalize": "off", "rows": rows})

    def value_from_datadict(self, data: Mapping[str, Any], files: Any, name: str) -> Any:
        """What was typed, else what was kept."""
        return data.get(name) or data.get(name + _KEPT, "")

    def render(self, name: str, value: Any, attrs: Any = None, renderer: Any = None) -> SafeString:
        """The empty area, and beside it what is kept."""
        area = super().render(name, "", attrs, renderer)
        if not value:
            return area
        kept = _("Given before and kept; leave this empty to use it.")
        hidden = '{}<input type="hidden" name="{}" value="{}"><small>{}</small>'
        return format_html(hidden, area, name + _KEPT, value, kept)


class SealedText(forms.CharField):
    """A secret on one person's form: sealed in the page, it opens for that person only, and for KEPT_S seconds."""

    def __init__(self, person: object, maximum: int, *, rows: int = 4, **options: Any) -> None:
        super().__init__(strip=False, empty_value="", widget=SealedArea(rows), **options)
        self.about = f"form:{person}"
        self.maximum = maximum

    def prepare_value(self, value: Any) -> str:
        """As a page may show it."""
        if not isinstance(value, str) or not 0 < len(value) <= self.maximum or value.startswith(_PREFIX):
            return value if isinstance(value, str) and value.startswith(_PREFIX) else ""
        return _PREFIX + seal(value, about=self.about)

    def to_python(self, value: Any) -> str:
        """The secret itself. Browsers' line ends become plain ones."""
        if not isinstance(value, str) or not value:
            return ""
        if value.startswith(_PREFIX):
            try:
                return unseal(value.removeprefix(_PREFIX), about=self.about, within_s=KEPT_S)
            except CannotOpen as error:
                raise forms.ValidationError(_("This was kept too long. Paste it again."), code="Expired") from error
        if len(value) > self.maximum:
            facts = {"length": len(value), "maximum": self.maximum}
            message = _("{length} characters are too many; at most {maximum} are allowed.")
            raise forms.ValidationError(str(message).format_map(facts), code="TooLong")
        return value.replace("\r\n", "\n")

    def run_validators(self, value: Any) -> None:
        """Whoever reads it decides."""

    def show(self, value: Any) -> str:
        """A preview says that there is one, never which."""
        return str(_("given")) if value else "–"
