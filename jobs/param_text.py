"""A parameter's value as its reader knows it: durations and amounts in words, options by their labels."""

from typing import Any

from django.utils.translation import get_language, gettext

from jobs.params.checks import check_value
from jobs.params.param import Kind, Param
from jobs.params.values import to_text
from portal.lib import units


def text_of(param: Param, value: Any) -> str:
    """The typed value in the active language, with the parameter's unit."""
    language = get_language() or "en"
    return f"{_plain(param, value, language)} {param.unit.get(language, '')}".strip()


def default_text(param: Param) -> str:
    """The default, which a template gives as a user would; "" without one."""
    return "" if param.default is None else text_of(param, check_value(param, param.default))


def _plain(param: Param, value: Any, language: str) -> str:
    if param.options:
        return param.option_label(str(value), language)
    if param.kind is Kind.BOOLEAN:
        return gettext("yes") if value else gettext("no")
    if param.kind is Kind.DURATION:
        return units.duration_text(value)
    if param.kind is Kind.QUANTITY:
        return units.cpu_text(value) if param.resource == "cpu" else units.bytes_text(value)
    if param.kind is Kind.INTEGER and param.unit:
        return units.number(value)  # a count of something; a seed or a port is no amount
    return to_text(value)
