"""Words and amounts of jobs in templates."""

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Any

from django import template
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.html import format_html
from django.utils.safestring import SafeString
from django.utils.translation import gettext, gettext_lazy, pgettext_lazy

from jobs.models import Artifact, Attempt, Job
from jobs.param_text import default_text
from jobs.params.param import Kind as ParamKind
from jobs.params.param import Param
from jobs.selectors.files import kept_file, kept_folder
from jobs.sentences import UNIT_OF_RESOURCE, cause_word
from jobs.web.usage_panel import ClassUse
from portal.lib import units
from portal.lib.localised import localised
from resources.driver_words import driver_word
from resources.selectors.names import Kind, name_of
from resources.task_types import TASK_WORDS
from tenants.models import AuditEvent

register = template.Library()
register.filter("driver_word", driver_word)
_CALLED_TARGETS: dict[str, Kind] = {"ResourceClass": "class", "RateVersion": "class", "Pool": "pool"}

PRIORITY_CLASSES: dict[str, str | Promise] = {
    "system": pgettext_lazy("priority class", "System"),
    "reserved": pgettext_lazy("priority class", "Reserved inference"),
    "production": pgettext_lazy("priority class", "Production"),
    "standard": pgettext_lazy("priority class", "Standard"),
    "best_effort": pgettext_lazy("priority class", "Best effort"),
}
PHASES: dict[str, str | Promise] = {
    "startup": gettext_lazy("Startup"),
    "running": pgettext_lazy("phase of use", "Running"),
    "release_lag": gettext_lazy("Release lag"),
}
KINDS: dict[str, str | Promise] = {
    "dataset": gettext_lazy("Data set"),
    "checkpoint": gettext_lazy("Checkpoint"),
    "model": pgettext_lazy("artifact", "Model"),
    "result": gettext_lazy("Result"),
    "log": gettext_lazy("Log"),
}
EVENT_KINDS: dict[str, str | Promise] = {
    "state": pgettext_lazy("event", "State"),
    "reason": pgettext_lazy("event", "Reason"),
    "attempt": pgettext_lazy("event", "Attempt"),
    "release": pgettext_lazy("event", "Release"),
    "archive": pgettext_lazy("event", "Archive"),
    "change": pgettext_lazy("event", "Change"),
}
PARAM_KINDS: dict[ParamKind, str | Promise] = {
    ParamKind.TEXT: gettext_lazy("Text"),
    ParamKind.CHOICE: gettext_lazy("Choice"),
    ParamKind.INTEGER: gettext_lazy("Whole number"),
    ParamKind.NUMBER: pgettext_lazy("kind of parameter", "Number"),
    ParamKind.BOOLEAN: gettext_lazy("Yes or no"),
    ParamKind.TEXTS: gettext_lazy("List of texts"),
    ParamKind.ARTIFACT: gettext_lazy("File of the project"),
    ParamKind.DATASOURCE: gettext_lazy("Data source"),
    ParamKind.DURATION: gettext_lazy("Duration"),
    ParamKind.QUANTITY: gettext_lazy("Quantity"),
}


@register.simple_tag
def param_kind(param: Param) -> str:
    """What a parameter holds, in words."""
    return str(PARAM_KINDS[param.kind])


@register.simple_tag
def param_default(param: Param) -> str:
    """A parameter's default in words, "" without one."""
    return default_text(param)


@register.simple_tag
def task_type(value: str) -> str:
    """The task type in the users' word."""
    return str(TASK_WORDS.get(value, value))


@register.simple_tag
def priority_class(value: str) -> str:
    """The priority class in words."""
    return str(PRIORITY_CLASSES.get(value, value))


@register.simple_tag
def phase_word(value: str) -> str:
    """A phase of use in words."""
    return str(PHASES.get(value, value))


@register.simple_tag
def artifact_kind(value: str) -> str:
    """What a file is, in words."""
    return str(KINDS.get(value, value))


@register.simple_tag
def hours_word(unit: units.Unit) -> str:
    """The word of resource-hours: card-hours, core-hours, GiB·h."""
    return units.hours_word(unit)


@register.simple_tag
def phase_hours(use: ClassUse, phase: str) -> str:
    """Resource-hours of one phase, without the word."""
    return use.hours(phase)


@register.simple_tag
def line_amount(line: Sequence[Any]) -> str:
    """A demand line [class, resource, amount] as amount and unit."""
    return units.amount_text(int(line[2]), UNIT_OF_RESOURCE.get(str(line[1]), "count"))


@register.simple_tag
def class_name(key: str) -> str:
    """A resource class by its name in the active language."""
    return name_of("class", key)


@register.simple_tag
def pool_name(key: str) -> str:
    """A pool by its name in the active language."""
    return name_of("pool", key)


@register.simple_tag
def runtime_name(key: str) -> str:
    """A runtime by its name in the active language."""
    return name_of("runtime", key)


@register.filter
def cause(code: str, state: str = "") -> str:
    """Why a node takes nothing, in a few words; "" where its state says the same."""
    return "" if code.lower() == str(state).lower() else cause_word(code)


@register.simple_tag
def said_target(event: AuditEvent) -> str:
    """What an audit record is about, by its name: classes and pools are recorded by key."""
    kind = _CALLED_TARGETS.get(event.target_type)
    return name_of(kind, event.target_name) if kind else event.target_name


@register.simple_tag
def said_value(field: str, text: str) -> str:
    """A value of an audit record in words: a class or a pool with its name before the key that the record keeps."""
    if field not in ("class", "pool"):
        return text
    name = name_of("class" if field == "class" else "pool", text)
    return text if name == text else f"{name} ({text})"


@register.simple_tag
def limit_end(attempt: Attempt, job: Job) -> datetime | None:
    """When the time limit ends the attempt, None before it started or without a limit."""
    if attempt.started_at is None or job.time_limit_ms is None:
        return None
    return attempt.started_at + timedelta(milliseconds=job.time_limit_ms)


@register.filter
def ready_members(members: Sequence[Mapping[str, Any]]) -> int:
    """How many members are ready and not ended."""
    return sum(1 for m in members if m.get("ready_at") and not m.get("finished_at"))


@register.filter
def in_language(names: Mapping[str, Any]) -> str:
    """A name kept in both languages, in the active one."""
    return localised(names)


@register.filter
def in_list(item: object) -> list[object]:
    """The one item as a list."""
    return [item]


@register.simple_tag
def artifact_link(artifact: Artifact) -> SafeString | str:
    """The name of a kept file or folder as its download, or the name alone when nothing is kept."""
    if kept_file(artifact) is None and kept_folder(artifact) is None:
        return artifact.name
    url = reverse("job_file", args=[artifact.job_id, artifact.pk])
    return format_html('<a href="{}" download>{}</a>', url, artifact.name)


@register.simple_tag
def figure(value: int | float | bool | str | None) -> str:
    """A reported value: numbers grouped, fractions to six significant digits; none is a word of its own."""
    if value is None:
        return gettext("none")
    if isinstance(value, bool):
        return gettext("yes") if value else gettext("no")
    if isinstance(value, float):
        return f"{value:,.6g}"
    return units.number(value) if isinstance(value, int) else value


@register.simple_tag
def event_kind(value: str) -> str:
    """What an event is about, in words."""
    return str(EVENT_KINDS.get(value, value))


@register.filter
def translated(message: str) -> str:
    """A sentence stored in English, in the active language."""
    return gettext(message) if message else ""


@register.filter
def pretty_json(value: object) -> str:
    """Indented JSON for reading; escaped by the template like any text."""
    return json.dumps(value, ensure_ascii=False, indent=2, default=str)
