"""The filters of the list of jobs: a form for all of them, chips for the usual ones and for those in force."""

from collections.abc import Iterable, Mapping, Sequence
from datetime import date, datetime, time, timedelta
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from jobs.reason_words import reason_word
from jobs.selectors.jobs import GROUPS, JobFilter, Options
from jobs.states import JobState
from portal.lib import units
from portal.lib.display import Link
from resources.task_types import TASK_WORDS

GROUP_WORDS: Mapping[str, str | Promise] = {
    "waiting": gettext_lazy("Waiting"),
    "active": gettext_lazy("Active"),
    "succeeded": gettext_lazy("Succeeded"),
    "failed": gettext_lazy("Failed"),
    "cancelled": gettext_lazy("Cancelled"),
}
STATE_WORDS: Mapping[str, str | Promise] = {
    JobState.HELD.value: gettext_lazy("Pending approval"),
    JobState.QUEUED.value: gettext_lazy("Queued"),
    JobState.ADMITTED.value: gettext_lazy("Admitted"),
    JobState.STARTING.value: gettext_lazy("Starting"),
    JobState.RUNNING.value: gettext_lazy("Running"),
    JobState.STOPPING.value: gettext_lazy("Stopping"),
    JobState.SUCCEEDED.value: gettext_lazy("Succeeded"),
    JobState.FAILED.value: gettext_lazy("Failed"),
    JobState.CANCELLED.value: gettext_lazy("Cancelled"),
}
Choices = Sequence[tuple[str, str | Promise]]


def _one_of(label: Any) -> forms.CharField:
    """A choice that also takes a value nobody offers: an old link then finds nothing, instead of failing."""
    return forms.CharField(label=label, required=False, max_length=200, widget=forms.Select)


def _flag(label: Any) -> forms.CharField:
    """A filter that is on with "1"; no field of the form shows it, its chip does."""
    return forms.CharField(label=label, required=False, max_length=1, widget=forms.HiddenInput)


class JobFilterForm(forms.Form):
    """Every filter by the name it has in the address; days are days of the page's zone, both included."""

    q = forms.CharField(label=gettext_lazy("Name contains"), required=False, max_length=200)
    state = _one_of(gettext_lazy("State"))
    type = _one_of(gettext_lazy("Type"))
    template = _one_of(gettext_lazy("Template"))
    project = _one_of(gettext_lazy("Project"))
    team = _one_of(gettext_lazy("Team"))
    submitter = _one_of(gettext_lazy("Submitter"))
    pool = _one_of(gettext_lazy("Pool"))
    cluster = _one_of(gettext_lazy("Cluster"))
    reason = _one_of(gettext_lazy("Reason"))
    since = forms.DateField(label=gettext_lazy("From"), required=False, widget=forms.DateInput(attrs={"type": "date"}))
    until = forms.DateField(label=gettext_lazy("To"), required=False, widget=forms.DateInput(attrs={"type": "date"}))
    mine = forms.CharField(required=False, max_length=1, widget=forms.HiddenInput)
    led = _flag(gettext_lazy("Of teams I lead"))
    never = _flag(gettext_lazy("Can never start"))
    ended_since = forms.DateTimeField(label=gettext_lazy("Ended since"), required=False, widget=forms.HiddenInput)
    uses = forms.CharField(label=gettext_lazy("Started from"), required=False, max_length=36, widget=forms.HiddenInput)

    def offer(self, options: Options) -> None:
        """Fill the choices."""
        found: dict[str, Choices] = {
            "state": [*GROUP_WORDS.items(), *STATE_WORDS.items()],
            "type": list(TASK_WORDS.items()),
            "template": _named(options.templates),
            "project": options.projects,
            "team": options.teams,
            "submitter": options.submitters,
            "pool": _named(options.pools),
            "cluster": _named(options.clusters),
            "reason": [(reason, reason_word(reason)) for reason in options.reasons],
        }
        for name, choices in found.items():
            widget = self.fields[name].widget
            assert isinstance(widget, forms.Select)
            widget.choices = [("", gettext_lazy("any")), *choices]

    def wanted(self) -> JobFilter:
        """The filter of a valid form."""
        said = self.cleaned_data
        group = said["state"] if said["state"] in GROUPS else ""
        until = said["until"]
        return JobFilter(
            group=group,
            state="" if group else said["state"],
            text=said["q"],
            mine=said["mine"] == "1",
            led=said["led"] == "1",
            never=said["never"] == "1",
            ended_since=said["ended_since"],
            task_type=said["type"],
            template=said["template"],
            project=said["project"],
            team=said["team"],
            submitter=said["submitter"],
            pool=said["pool"],
            cluster=said["cluster"],
            reason=said["reason"],
            uses=said["uses"],
            since=_midnight(said["since"]),
            until=_midnight(until + timedelta(days=1) if until and until < date.max else until),
        )

    def given(self) -> dict[str, str]:
        """What is set, by its name in the address."""
        said = self.cleaned_data.items()
        return {name: value.isoformat() if isinstance(value, date) else str(value) for name, value in said if value}


def chips(form: JobFilterForm, counts: Mapping[str, int]) -> list[Link]:
    """The chip "mine", the state groups with how many the other filters leave of each, and every filter in force."""
    given = form.given()

    def url(**changes: str) -> str:
        return "?" + urlencode({name: value for name, value in (given | changes).items() if value})

    mine = given.get("mine") == "1"
    groups = [
        Link(
            str(word),
            url(state="" if given.get("state") == key else key),
            count=counts[key],
            current=given.get("state") == key,
        )
        for key, word in GROUP_WORDS.items()
    ]
    taken = [
        Link(_taken(form, name, value), url(**{name: ""}), current=True)
        for name, value in given.items()
        if name != "mine" and not (name == "state" and value in GROUPS)
    ]
    return [Link(_("Mine"), url(mine="" if mine else "1"), current=mine), *groups, *taken]


def _taken(form: JobFilterForm, name: str, value: str) -> str:
    """A filter in force: what it is called and the value; one that is only on or off says what it is."""
    label = str(form.fields[name].label)
    return label if name in ("led", "never") else f"{label}: {_word(form, name, value)}"


def _word(form: JobFilterForm, name: str, value: str) -> str:
    """What the form calls a value, else the value itself; a moment as pages show it."""
    moment = form.cleaned_data[name]
    if isinstance(moment, datetime):
        return units.time_text(moment, timezone.get_current_timezone(), "minute")
    choices = dict(getattr(form.fields[name].widget, "choices", ()))
    return str(choices.get(value, value))


def _named(values: Iterable[str]) -> Choices:
    return [(value, value) for value in values]


def _midnight(day: date | None) -> datetime | None:
    return None if day is None else timezone.make_aware(datetime.combine(day, time.min))
