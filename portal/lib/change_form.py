"""An administrative change in two steps that work without a script: fill in, look at old → new, save with a reason.

A GET shows today's values and their digest. `step=preview` checks what was typed and shows what would change and
what follows from it. `step=save` finds the same facts again under a lock, or answers 409 with the new ones.
A form without fields is an act (delete, archive): its page is the preview itself.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from hashlib import sha256
from typing import Any, Final

from django import forms
from django.contrib import messages
from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from portal.lib import units
from portal.lib.display import Tone
from portal.lib.errors import Conflict, DomainError, Invalid
from portal.lib.localised import listed
from portal.lib.text import BLANK, BadInput, clean_note, visible

Text = str | Promise
LONGEST_REASON: Final = 1_000
TEMPLATE: Final = "ui/change_form.html"
SAVE: Final = _("Save")
SAVED: Final = _("Saved.")


@dataclass(frozen=True, slots=True)
class Change:
    """A field by its name on the form, its value today and the value it would get, as text."""

    label: Text
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Effect:
    """What follows from the change. A `live` figure moves by itself: a save need not find it unchanged."""

    text: str
    tone: Tone = "off"
    url: str = ""
    live: bool = False


@dataclass(frozen=True, slots=True)
class Preview:
    """What a save would do. `blockers` keep it from being saved; `changes` None are read off the form.

    `part` is a template that shows the result itself, filled from `sample`; it sees nothing else.
    """

    changes: Sequence[Change] | None = None
    effects: Sequence[Effect] = ()
    blockers: Sequence[Effect] = ()
    part: str = ""
    sample: Mapping[str, Any] = field(default_factory=dict)


class CleanText(forms.CharField):
    """Text that passes one of the cleaners of `portal.lib.text`; what they refuse stands beside the field."""

    def __init__(self, clean_text: Callable[..., str], **options: Any) -> None:
        super().__init__(strip=False, empty_value="", **options)
        self.clean_text = clean_text

    def run_validators(self, value: Any) -> None:
        """The cleaner's own rules are stricter than Django's, and say more."""

    def to_python(self, value: Any) -> str:
        """The cleaned text; an absent one is ""."""
        if value in self.empty_values:
            return ""
        try:
            return self.clean_text(value)
        except BadInput as bad:
            raise forms.ValidationError(_(bad.template).format_map(bad.facts), code=bad.reason) from bad


class ReasonForm(forms.Form):
    """Why: kept with the old and new values in the audit trail."""

    reason = CleanText(
        lambda raw: clean_note(raw, maximum=LONGEST_REASON),
        label=_("Reason for the change"),
        help_text=_("Kept in the audit trail with the old and new values."),
        widget=forms.Textarea,
        error_messages={"required": _("Say why: others will read it in the audit trail.")},
    )

    def clean_reason(self) -> str:
        """Something that can be read."""
        reason: str = self.cleaned_data["reason"]
        if not visible(reason):
            raise forms.ValidationError(_(BLANK))
        return reason


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangePage:
    """One kind of change. All callables may raise DomainError; Invalid and Conflict come back on the form.

    `today` gives the facts as they are: the form's first values, and what must be the same when it is saved.
    `lock` makes them stay so until the transaction ends. `save` gets values and reason, and says where to go on
    or answers itself. `back` is where giving up leads. `simulated` names clusters whose ribbon the page wears.
    """

    title: Text
    back: str
    save: Callable[[dict[str, Any], str], str | HttpResponse]
    form: Callable[..., forms.Form] = forms.Form
    today: Callable[[], Mapping[str, Any]] = dict
    preview: Callable[[dict[str, Any]], Preview] = lambda _values: Preview()
    lock: Callable[[], object] = lambda: None
    crumbs: Sequence[tuple[Text, str]] = ()
    intro: Text = ""
    verb: Text = SAVE
    done: Text = SAVED
    danger: bool = False
    simulated: Sequence[str] = ()


def run_change(request: HttpRequest, page: ChangePage) -> HttpResponse:
    """The answer to a GET or to a POST with `step` preview (or none), edit or save."""
    step = request.POST.get("step", "preview") if request.method == "POST" else "start"
    today = dict(page.today())
    form = page.form(request.POST if request.method == "POST" else None, initial=today)
    if not form.fields and step != "save":
        return _show_preview(request, page, today, form, _preview(page, form, {}, today))
    if step in ("start", "edit"):
        return _show_form(request, page, today, form)
    if not form.is_valid():
        return _show_form(request, page, today, form, status=422)
    try:
        return _save(request, page, form) if step == "save" else _check(request, page, form, today)
    except (Invalid, Conflict) as error:
        return _refused(request, page, dict(page.today()), form, error)


def _check(request: HttpRequest, page: ChangePage, form: forms.Form, today: dict[str, Any]) -> HttpResponse:
    found = _preview(page, form, form.cleaned_data, today)
    if not found.changes:
        return _show_form(request, page, today, form, notice=_("Nothing has changed: these are the values of today."))
    if request.POST.get("digest", "") not in ("", _digest(today)):
        return _stale(request, page, today, form, found)
    return _show_preview(request, page, today, form, found)


def _save(request: HttpRequest, page: ChangePage, form: forms.Form) -> HttpResponse:
    with transaction.atomic():
        page.lock()
        today = dict(page.today())
        found = _preview(page, form, form.cleaned_data, today)
        if form.fields and not found.changes:
            messages.info(request, _("Nothing has changed: these are the values of today."))
            return redirect(page.back)
        if request.POST.get("digest", "") != _digest(today, found):
            return _stale(request, page, today, form, found)
        why = ReasonForm(request.POST)
        if found.blockers or not why.is_valid():
            status = 409 if found.blockers else 422
            return _show_preview(request, page, today, form, found, why=why, status=status)
        answer = page.save(form.cleaned_data, why.cleaned_data["reason"])
    if isinstance(answer, HttpResponse):
        return answer
    messages.success(request, str(page.done))
    return redirect(answer)


def _preview(page: ChangePage, form: forms.Form, values: dict[str, Any], today: Mapping[str, Any]) -> Preview:
    found = page.preview(values)
    return found if found.changes is not None else replace(found, changes=changes_of(form, values, today))


def changes_of(form: forms.Form, values: Mapping[str, Any], today: Mapping[str, Any]) -> list[Change]:
    """The fields whose value would be another than today's, in the order of the form."""
    return [
        Change(field.label or name, shown(field, today.get(name)), shown(field, values[name]))
        for name, field in form.fields.items()
        if name in values and not _same(today.get(name), values[name])
    ]


def shown(field: forms.Field, value: Any) -> str:
    """A value as the form's reader knows it. A field may have its own way: `show(value)`."""
    own = getattr(field, "show", None)
    if own is not None:
        return str(own(value))
    if isinstance(value, bool):
        return str(_("yes") if value else _("no"))
    if value is None or value == "":
        return "–"
    if isinstance(value, datetime):
        return units.time_text(value, timezone.get_current_timezone(), "minute")
    if isinstance(field, forms.MultipleChoiceField):
        return listed(_option(field, item) for item in value)
    return _option(field, value) if isinstance(field, forms.ChoiceField) else str(value)


def _option(field: forms.ChoiceField, value: Any) -> str:
    options: Any = field.choices
    return str(next((word for key, word in options if str(key) == str(value)), value))


def _same(old: Any, new: Any) -> bool:
    return old == new or (old in (None, "") and new in (None, ""))


def _digest(today: Mapping[str, Any], found: Preview | None = None) -> str:
    """What was shown: today's values, and of a preview the new ones and all that does not move by itself."""
    said = [[e.text, e.tone] for e in (*found.effects, *found.blockers) if not e.live] if found else None
    new = [[c.label, c.old, c.new] for c in found.changes or ()] if found else None
    text = json.dumps([dict(today), said, new], sort_keys=True, default=str, ensure_ascii=True)
    return sha256(text.encode()).hexdigest()


def _stale(
    request: HttpRequest, page: ChangePage, today: dict[str, Any], form: forms.Form, found: Preview
) -> HttpResponse:
    notice = _("Changed meanwhile by somebody else; nothing was saved. Below stands what holds now: look again.")
    why = ReasonForm(initial={"reason": request.POST.get("reason", "")})
    return _show_preview(request, page, today, form, found, why=why, notice=notice, status=409)


def _refused(
    request: HttpRequest, page: ChangePage, today: dict[str, Any], form: forms.Form, error: DomainError
) -> HttpResponse:
    if not form.fields:
        found = _preview(page, form, {}, today)
        return _show_preview(request, page, today, form, found, notice=error.text(), status=error.status)
    for bad in error.fields:
        form.add_error(bad.field if bad.field in form.fields else None, bad.text())
    if not error.fields:
        form.add_error(None, error.text())
    return _show_form(request, page, today, form, status=error.status)


def _show_form(
    request: HttpRequest,
    page: ChangePage,
    today: dict[str, Any],
    form: forms.Form,
    *,
    notice: Text = "",
    status: int = 200,
) -> HttpResponse:
    context = {"change": page, "form": form, "digest": _digest(today), "notice": notice, "simulated": page.simulated}
    return render(request, TEMPLATE, context | {"reason": request.POST.get("reason", "")}, status=status)


def _show_preview(
    request: HttpRequest,
    page: ChangePage,
    today: dict[str, Any],
    form: forms.Form,
    found: Preview,
    *,
    why: ReasonForm | None = None,
    notice: Text = "",
    status: int = 200,
) -> HttpResponse:
    why = why or ReasonForm(initial={"reason": request.POST.get("reason", "")})
    context = {
        "change": page,
        "form": form,
        "preview": found,
        "why": why,
        "notice": notice,
        "simulated": page.simulated,
    }
    return render(request, TEMPLATE, context | {"digest": _digest(today, found)}, status=status)
