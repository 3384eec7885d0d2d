"""Form fields of grants and quotas: moments, durations, device shares and amounts, read strictly into base units."""

import re
from collections.abc import Callable
from datetime import datetime
from typing import Any, Final

from django import forms
from django.utils.translation import gettext_lazy as _

from jobs.params.checks import parse_duration, write_duration
from jobs.sentences import UNIT_OF_RESOURCE
from portal.lib import units
from portal.lib.text import BadInput, gettext_noop
from resources.drivers.base import WHOLE_DEVICE
from resources.quantities import parse_count, parse_cpu, parse_memory, write_cpu, write_memory

MOST_MILLI: Final = 10**10
MOST_BYTES: Final = 1 << 60
MOST_DEVICES: Final = 1_000_000
MOST_JOBS: Final = 1_000_000
NO_RULE = _("no rule")
NOT_DEVICES = gettext_noop('Write a number of cards such as "8" or "0.5", at most {maximum}.')
NOT_A_YEAR = _("Choose a day from 2000 to 2099.")
_DEVICES: Final = re.compile(r"[0-9]{1,7}(?:\.[0-9]{1,4})?", re.ASCII)


def parse_devices(value: object) -> int:
    """Device parts of "8" or "0.5" cards; a part that no device can be cut into is refused. Raises BadInput."""
    text = value if isinstance(value, str) and _DEVICES.fullmatch(value) else ""
    whole, _dot, part = text.partition(".")
    parts, rest = divmod(int(whole + part or "0") * WHOLE_DEVICE, pow(10, len(part)))
    if not text or rest or parts > MOST_DEVICES * WHOLE_DEVICE:
        raise BadInput("NotDevices", NOT_DEVICES, {"maximum": MOST_DEVICES})
    return int(parts)


def write_devices(parts: int) -> str:
    """The number of cards that `parse_devices` reads back."""
    return f"{parts / WHOLE_DEVICE:.4f}".rstrip("0").rstrip(".")


PARSE: dict[str, Callable[[object], int]] = {
    "cpu": lambda text: parse_cpu(text, minimum=0, maximum=MOST_MILLI),
    "memory": lambda text: parse_memory(text, minimum=0, maximum=MOST_BYTES),
    "storage": lambda text: parse_memory(text, minimum=0, maximum=MOST_BYTES),
    "device": parse_devices,
}
WRITE: dict[str, Callable[[int], str]] = {
    "cpu": write_cpu,
    "memory": write_memory,
    "storage": write_memory,
    "device": write_devices,
}


class Whole(forms.Field):
    """A value in base units behind a text; empty is no rule, which is not 0."""

    widget = forms.TextInput
    parse: Callable[[object], int]
    write: Callable[[int], str]

    def to_python(self, value: Any) -> int | None:
        """The number; None for no rule."""
        text = value.strip() if isinstance(value, str) else value
        if text in self.empty_values:
            return None
        try:
            return type(self).parse(text)
        except BadInput as bad:
            raise forms.ValidationError(_(bad.template).format_map(bad.facts), code=bad.reason) from bad

    def prepare_value(self, value: Any) -> Any:
        """The text a person would type for it."""
        return type(self).write(value) if isinstance(value, int) else value

    def show(self, value: int | None) -> str:
        """What a preview says."""
        return str(NO_RULE) if value is None else type(self).write(value)


class Duration(Whole):
    """Milliseconds behind "8h"."""

    parse = staticmethod(parse_duration)
    write = staticmethod(write_duration)

    def show(self, value: int | None) -> str:
        """With its words."""
        return str(NO_RULE) if value is None else units.duration_text(value)


class Devices(Whole):
    """Device parts behind a number of cards."""

    parse = staticmethod(parse_devices)
    write = staticmethod(write_devices)


class Count(Whole):
    """A plain number."""

    parse = staticmethod(lambda text: parse_count(text, minimum=0, maximum=MOST_JOBS))
    write = staticmethod(str)


class Amount(forms.CharField):
    """An amount of a resource that the form learns of; `resource` decides how it is read and shown."""

    resource = ""

    def read(self, text: str) -> int | None:
        """Base units; None for no rule. Raises BadInput."""
        return PARSE[self.resource](text.strip()) if text.strip() else None

    def prepare_value(self, value: Any) -> Any:
        """The text a person would type for it."""
        return WRITE[self.resource](value) if isinstance(value, int) and self.resource else value

    def show(self, value: Any) -> str:
        """The amount with its unit."""
        if value is None:
            return str(NO_RULE)
        return units.amount_text(int(value), UNIT_OF_RESOURCE.get(self.resource, "count"))


class Moment(forms.DateTimeField):
    """A minute in the page's time zone."""

    def __init__(self, **options: Any) -> None:
        form = "%Y-%m-%dT%H:%M"
        widget = forms.DateTimeInput(format=form, attrs={"type": "datetime-local"})
        super().__init__(widget=widget, input_formats=[form, "%Y-%m-%d %H:%M", "%Y-%m-%d"], **options)

    def to_python(self, value: Any) -> datetime | None:
        """The moment, of this century: beyond it databases and calendars do not agree."""
        found: datetime | None = super().to_python(value)
        if found is not None and not 2000 <= found.year < 2100:
            raise forms.ValidationError(NOT_A_YEAR)
        return found
