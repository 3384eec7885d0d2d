"""The audit trail: filtered, paged by sequence number, as CSV."""

import json
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse, HttpResponseBase, QueryDict
from django.shortcuts import render
from django.utils import timezone
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET

from portal.lib import units
from portal.lib.clock import utc_now
from portal.lib.csv_file import csv_response
from portal.lib.display import Link
from portal.lib.signin import signed_in
from tenants import access
from tenants.audit_words import TARGET_WORDS, VERBS, changes
from tenants.models import AuditEvent
from tenants.selectors.audit import RESULTS, AuditFilter, audit_matching, page_before, project_slugs, require_audit
from tenants.services.verify_audit import CHECKED, verify_audit

PER_PAGE = 50
RESULT_WORDS = {"done": _("Done"), "denied": _("Denied"), "failed": _("Failed")}
CSV_COLUMNS = (
    "seq", "at", "actor_id", "actor_name", "verb", "result", "target_type", "target_id", "target_name",
    "team_id", "project_id", "before", "after", "reason", "note", "request_id", "source_ip", "prev_hash", "hash",
)  # fmt: skip


class AuditForm(forms.Form):
    """The filters; days are days of the page's time zone, both included."""

    text = forms.CharField(label=_("Text"), max_length=200, required=False, help_text=_("In object, reason or note."))
    verb = forms.CharField(label=_("Act"), max_length=60, required=False, widget=forms.Select)
    target_type = forms.ChoiceField(
        label=_("Kind of object"), required=False, choices=[("", _("any")), *TARGET_WORDS.items()]
    )
    actor = forms.CharField(label=_("Person"), max_length=200, required=False)
    result = forms.ChoiceField(
        label=_("Result"), required=False, choices=[("", _("any")), *((r, RESULT_WORDS[r]) for r in RESULTS)]
    )
    team = forms.CharField(label=_("Team and all below"), max_length=63, required=False)
    project = forms.CharField(label=_("Project"), max_length=200, required=False)
    since = forms.DateField(label=_("From"), required=False, widget=forms.DateInput(attrs={"type": "date"}))
    until = forms.DateField(label=_("To"), required=False, widget=forms.DateInput(attrs={"type": "date"}))
    after = forms.DateTimeField(label=_("Not before"), required=False, widget=forms.HiddenInput)
    privileged = forms.CharField(label=_("Privileged changes"), max_length=1, required=False, widget=forms.HiddenInput)
    before = forms.IntegerField(required=False, min_value=1, max_value=2**63 - 1, widget=forms.HiddenInput)

    def __init__(self, given: QueryDict) -> None:
        super().__init__(given)
        widget, asked = self.fields["verb"].widget, given.get("verb", "").strip()
        assert isinstance(widget, forms.Select)
        # An address may also ask for all verbs that begin alike, such as "role.": that stays chosen.
        more = [(asked, asked)] if asked and asked not in VERBS else []
        widget.choices = [("", _("any")), *VERBS.items(), *more]

    def wanted(self) -> AuditFilter:
        """The filter of a valid form."""
        said = self.cleaned_data
        until = said["until"]
        since = [moment for moment in (_midnight(said["since"]), said["after"]) if moment]
        return AuditFilter(
            verb=said["verb"],
            actor=said["actor"],
            result=said["result"],
            project=said["project"],
            team=said["team"],
            target_type=said["target_type"],
            text=said["text"],
            since=max(since, default=None),
            privileged=said["privileged"] == "1",
            until=_midnight(until + timedelta(days=1) if until and until < date.max else until),
        )


@require_GET
@signed_in
def audit_verify(request: HttpRequest) -> HttpResponse:
    """Whether the newest records still hold together, computed now from the records themselves."""
    access.require_platform(request.user, "audit.see")
    context = {"chain": verify_audit(last=CHECKED), "most": CHECKED, "now": utc_now()}
    return render(request, "tenants/audit_verify.html", context)


@require_GET
@signed_in
def audit_list(request: HttpRequest) -> HttpResponseBase:
    """Records of the organisation or of the reader's teams, newest first; `?before=` pages, `?format=csv` exports."""
    require_audit(request.user)
    form = AuditForm(request.GET)
    if not form.is_valid():
        return render(request, "tenants/audit_list.html", {"form": form, "rows": []}, status=422)
    rows = audit_matching(request.user, form.wanted())
    if request.GET.get("format") == "csv":
        return csv_response("audit", CSV_COLUMNS, _csv_rows(rows.iterator(chunk_size=1000)))
    page, older = page_before(rows, form.cleaned_data["before"], PER_PAGE)
    return _page(request, form, page, older)


def _page(request: HttpRequest, form: AuditForm, page: list[AuditEvent], older: int | None) -> HttpResponse:
    slugs = project_slugs({event.project_id for event in page if event.project_id})
    context = {
        "form": form,
        "filtered": form.wanted().is_set,
        "rows": [(event, slugs.get(event.project_id), changes(event.before, event.after)) for event in page],
        "chips": _chips(request, form),
        "may_verify": access.at_platform(request.user, "audit.see"),
        "older": _address(request, before=str(older)) if older else "",
        "newest": _address(request) if form.cleaned_data["before"] else "",
        "csv": _address(request, format="csv"),
        "results": RESULT_WORDS,
        "now": utc_now(),
    }
    return render(request, "tenants/audit_list.html", context)


def _chips(request: HttpRequest, form: AuditForm) -> list[Link]:
    """Each filter that is set, as a chip that takes it off; and the refusals, one click away."""
    chips = []
    for name, field in form.fields.items():
        value = form.cleaned_data.get(name)
        if value and name != "before":
            said = str(field.label) if name == "privileged" else f"{field.label}: {_chip_word(name, value)}"
            chips.append(Link(said, _address(request, **{name: ""}), current=True))
    if not form.cleaned_data["result"]:
        chips.append(Link(str(_("Refusals")), _address(request, result="denied"), state="denied"))
    return chips


def _chip_word(name: str, value: Any) -> str:
    if isinstance(value, datetime):
        return units.time_text(value, timezone.get_current_timezone(), "minute")
    words: dict[str, Any] = {"verb": VERBS, "result": RESULT_WORDS, "target_type": TARGET_WORDS}
    return str(words.get(name, {}).get(value, value))


def _address(request: HttpRequest, **more: str) -> str:
    query = request.GET.copy()
    for name in ("before", "format"):
        query.pop(name, None)
    for name, value in more.items():
        query[name] = value
        if not value:
            del query[name]
    return f"?{query.urlencode()}"


def _csv_rows(events: Iterator[AuditEvent]) -> Iterator[list[Any]]:
    for event in events:
        yield [_plain(getattr(event, name)) for name in CSV_COLUMNS]


def _plain(value: Any) -> Any:
    return json.dumps(value, ensure_ascii=False, sort_keys=True) if isinstance(value, dict) else value


def _midnight(day: date | None) -> datetime | None:
    return datetime.combine(day, time.min, tzinfo=timezone.get_current_timezone()) if day else None
