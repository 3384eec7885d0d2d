"""The setup page and the wizard of the smallest pilot."""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_http_methods

from portal.lib.change_form import Change, ChangePage, CleanText, Effect, Preview, run_change
from portal.lib.clock import utc_now
from portal.lib.signin import signed_in
from portal.lib.text import clean_name
from portal.web.pilot import Step, apply_pilot, planned
from portal.web.pilot.apply import hold_pilots
from portal.web.setup.checklist import checklist, done_of
from portal.web.setup.facts import setup_facts
from portal.web.stages import WORDS, is_on
from tenants import access
from tenants.models import User


class PilotForm(forms.Form):
    """Team, two projects, and who works in them."""

    team = CleanText(clean_name, label=gettext_lazy("Team"))
    lead = forms.CharField(
        label=gettext_lazy("Team lead"), required=False, max_length=150, help_text=gettext_lazy("One user name.")
    )
    project_1 = CleanText(clean_name, label=gettext_lazy("First project"))
    people_1 = forms.CharField(
        label=gettext_lazy("Its people"),
        max_length=4_000,
        widget=forms.Textarea,
        help_text=gettext_lazy("Exact user names, one a line; the first is the owner, the others are members."),
    )
    project_2 = CleanText(clean_name, label=gettext_lazy("Second project"))
    people_2 = forms.CharField(label=gettext_lazy("Its people"), max_length=4_000, widget=forms.Textarea)


@require_GET
@signed_in
def setup(request: HttpRequest) -> HttpResponse:
    """The four stages with their checklists, for the platform administrator."""
    access.require_platform(request.user, "cluster.manage")
    now = utc_now()
    stages = [
        {"key": stage, "words": WORDS[stage], "on": is_on(stage), "items": items, "done": done_of(items)}
        for stage, items in checklist(setup_facts(now)).items()
    ]
    return render(request, "portal/setup.html", {"stages": stages, "now": now})


@require_http_methods(["GET", "POST"])
@signed_in
def setup_pilot(request: HttpRequest) -> HttpResponse:
    """Say who and what; see what would be made; make it with a reason."""
    access.require_platform(request.user, "cluster.manage")
    actor, now = request.user, utc_now()
    assert isinstance(actor, User)

    def preview(values: dict[str, Any]) -> Preview:
        _pilot, steps = planned(values, now)
        return _preview(steps)

    def save(values: dict[str, Any], reason: str) -> str:
        apply_pilot(actor=actor, given=values, now=now, note=reason)
        return reverse("setup")

    page = ChangePage(
        title=_("The smallest pilot"),
        intro=_("One pool, one team with two projects, a template for training and one for inference."),
        back=reverse("setup"),
        crumbs=[(_("Setup"), reverse("setup")), (_("Pilot"), "")],
        form=PilotForm,
        preview=preview,
        lock=hold_pilots,
        save=save,
        verb=_("Make the pilot"),
        done=_("The pilot is there."),
    )
    return run_change(request, page)


def _preview(steps: list[Step]) -> Preview:
    there, made = _("is there"), _("will be made")
    changes = [
        Change(
            _kind(step.kind),
            there if step.there else _("is not there"),
            f"{_named(step)}: {there if step.there else made}",
        )
        for step in steps
    ]
    missing = sum(not step.there for step in steps)
    text = _("{n} of {all} steps are to be taken; the rest is left as it is.").format(n=missing, all=len(steps))
    if not missing:
        text = _("All of it is there already: saving changes nothing.")
    return Preview(changes=changes, effects=[Effect(text, "wait" if missing else "ok")])


def _named(step: Step) -> str:
    if step.kind != "role":
        return step.name if step.name == step.key else f"{step.name} ({step.key})"
    words = {"lead": _("team lead"), "owner": _("project owner"), "member": _("project member")}
    return _("{person} as {role} of {scope}").format(person=step.name, role=words[step.role], scope=step.scope)


def _kind(kind: str) -> str:
    words = {
        "cluster": _("Cluster"),
        "runtime": _("Runtime and classes"),
        "pool": _("Pool"),
        "team": _("Team"),
        "project": _("Project"),
        "template": _("Template"),
        "grant": _("Grant of the pool"),
        "role": _("Role"),
    }
    return words[kind]
