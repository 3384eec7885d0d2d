"""The form of a new job. It holds no rules: the services decide, and their refusals stand beside the fields."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django import forms
from django.utils.translation import gettext
from django.utils.translation import gettext_lazy as _

from jobs.models import Job, TemplateVersion
from jobs.params.checks import write_duration
from jobs.params.forms import ParamsForm
from jobs.params.values import as_given
from jobs.request import JobRequest
from jobs.selectors.offers import Offer, offer_of
from jobs.selectors.templates import schema_of
from portal.lib.errors import DomainError, FieldError
from portal.lib.localised import localised
from resources.drivers.base import WHOLE_DEVICE
from resources.quantities import write_cpu, write_memory
from tenants.models import Project

_ATTRS = {"class": "in"}


class _Raw(forms.CharField):
    """Text as it was posted: nothing is trimmed or judged here."""

    def __init__(self, **options: Any) -> None:
        super().__init__(required=False, strip=False, empty_value="", **options)
        self.widget.attrs.setdefault("class", "in")

    def validate(self, value: Any) -> None:
        """Judged by the service."""

    def run_validators(self, value: Any) -> None:
        """Judged by the service: Django's own would trip over NUL first."""


class SizeForm(forms.Form):
    """Name, size per member, limits. Values are texts; the template's defaults stand in the fields."""

    name = _Raw(label=_("Name"))
    members = _Raw(label=_("Members"))
    cpu = _Raw(label=_("CPU per member"), help_text=_("Cores, such as 2 or 0.5."))
    memory = _Raw(label=_("Memory per member"), help_text=_("Such as 512Mi or 4Gi."))
    pool = _Raw(label=_("Pool"))
    device_class = _Raw(label=_("Device class"))
    devices = _Raw(label=_("Devices per member"))
    time_limit = _Raw(label=_("Run limit"), help_text=_("Such as 30m or 2h."))
    max_wait = _Raw(label=_("Longest wait"), help_text=_("Empty: wait as long as it takes."))

    def __init__(self, version: TemplateVersion, offer: Offer, data: Any = None, *, job: Job | None = None) -> None:
        super().__init__(data, initial=_initial(version, job))
        spec = version.spec
        if len(offer.pools) > 1:
            named = [(pool.key, localised(pool.name, pool.key)) for pool in offer.pools]
            self.fields["pool"].widget = forms.Select(choices=[("", _("Any that fits")), *named], attrs=_ATTRS)
        else:
            del self.fields["pool"]
        if spec["members"]["maximum"] == spec["members"]["minimum"]:
            del self.fields["members"]
        if not spec["time_limit_ms"] or spec["end_rule"] == "time_to_live":
            del self.fields["time_limit"]
        classes = offer.classes
        if classes:
            options = [("", _("No devices")), *((c.key, localised(c.name, c.key)) for c in classes)]
            self.fields["device_class"].widget = forms.Select(choices=options, attrs=_ATTRS)
        else:
            del self.fields["device_class"], self.fields["devices"]
        for field, words in _ranges(spec).items():
            if field in self.fields:
                known = self.fields[field].help_text
                self.fields[field].help_text = f"{words} {known}".strip()


class NewJobForm:
    """Size and parameters of one template for one project, as one form to the view."""

    def __init__(
        self,
        version: TemplateVersion,
        project: Project,
        data: Any = None,
        *,
        now: datetime,
        job: Job | None = None,
    ) -> None:
        schema = schema_of(version)
        self.offer = offer_of(version, project, now)
        self.choices = {
            name: [(choice.id, choice.label) for choice in offered] for name, offered in self.offer.inputs.items()
        }
        initial = as_given(schema, job.params) if job is not None else None
        self.size = SizeForm(version, self.offer, data, job=job)
        self.params = ParamsForm(schema, data, choices=self.choices, initial=initial)

    def request(self) -> JobRequest:
        """What was asked for, raw where the service reads it, typed where the parameters' form did."""
        self.size.is_valid()
        self.params.is_valid()
        raw = {name: self.size.cleaned_data.get(name, "") for name in self.size.fields}
        return JobRequest(params=self.params.given, **raw)

    def label(self, name: str) -> str:
        """What a field is called on the form; a name that is no field is called by itself."""
        field = self.params.fields.get(name) or self.size.fields.get(name)
        return str(field.label) if field else name

    def to_choose(self, field: FieldError) -> bool:
        """Whether it only says that an input has not been chosen yet."""
        return field.reason == "Missing" and field.field in self.choices

    def offers(self, name: str) -> bool:
        """Whether the project has anything to choose for this input."""
        return bool(self.choices.get(name))

    def show(self, error: DomainError) -> None:
        """Put each refusal beside its field; what belongs to none stands on top."""
        for field in error.fields:
            if field.field in self.params.fields:
                continue  # said by the parameters' own form
            target = field.field if field.field in self.size.fields else None
            self.size.add_error(target, field.text())


def _ranges(spec: Mapping[str, Any]) -> dict[str, str]:
    """What the template allows, in words beside each field."""
    limit = spec["time_limit_ms"]
    bounds: dict[str, tuple[str, str]] = {
        "members": (str(spec["members"]["minimum"]), str(spec["members"]["maximum"])),
        "cpu": (write_cpu(spec["cpu_milli"]["minimum"]), write_cpu(spec["cpu_milli"]["maximum"])),
        "memory": (write_memory(spec["memory_bytes"]["minimum"]), write_memory(spec["memory_bytes"]["maximum"])),
        "devices": (str(spec["devices"]["minimum"]), str(spec["devices"]["maximum"])),
    }
    if limit:
        bounds["time_limit"] = (write_duration(limit["minimum"]), write_duration(limit["maximum"]))
    return {name: range_text(low, high) for name, (low, high) in bounds.items()}


def range_text(low: str, high: str) -> str:
    """The bounds of a value, both allowed."""
    return gettext("From {low} to {high}.").format(low=low, high=high)


def _initial(version: TemplateVersion, job: Job | None) -> dict[str, str]:
    """The template's defaults, or what the job that is run again had."""
    spec = version.spec
    limit = spec["time_limit_ms"]
    given = {
        "name": localised(spec["title"]),
        "members": str(spec["members"]["default"]),
        "cpu": write_cpu(spec["cpu_milli"]["default"]),
        "memory": write_memory(spec["memory_bytes"]["default"]),
        "devices": str(spec["devices"]["default"]),
        "time_limit": write_duration(limit["default"]) if limit else "",
    }
    if job is None:
        return given
    pods = job.alternatives[0]["pod_sets"][0]
    amounts = {resource: amount for _key, resource, amount in pods["lines"]}
    devices = next((line for line in pods["lines"] if line[1] == "device"), None)
    return given | {
        "name": job.name,
        "members": str(pods["count"]),
        "device_class": devices[0] if devices else "",
        "devices": str(devices[2] // WHOLE_DEVICE) if devices else "0",
        "pool": job.pool_keys[0] if job.pool_keys else "",
        "cpu": write_cpu(amounts["cpu"]),
        "memory": write_memory(amounts["memory"]),
        "time_limit": write_duration(job.time_limit_ms) if job.time_limit_ms else "",
    }
