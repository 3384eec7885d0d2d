"""The portal with two changes of a team more: a new name, and an act without a form."""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.urls import path

from portal.lib.change_form import ChangePage, CleanText, Effect, Preview, run_change
from portal.lib.errors import FieldError, Invalid
from portal.lib.text import clean_name
from portal.urls import urlpatterns as portal_urls
from tenants.models import Team

LIVE = {"jobs": 3}


class NameForm(forms.Form):
    name = CleanText(clean_name, label="Name")
    open = forms.BooleanField(label="Open", required=False)
    size = forms.ChoiceField(label="Size", choices=[("s", "Small"), ("l", "Large")])


def rename(request: HttpRequest, slug: str) -> HttpResponse:
    team = Team.objects.get(slug=slug)

    def save(values: dict[str, Any], reason: str) -> str:
        if values["name"] == "Taken":
            raise Invalid.of(FieldError("name", "NameTaken", "{name} is taken.", {"name": "Taken"}))
        Team.objects.filter(pk=team.pk).update(name=values["name"], contact=reason)
        return "/"

    return run_change(
        request,
        ChangePage(
            title="Rename",
            back="/teams",
            form=NameForm,
            today=lambda: {"name": Team.objects.get(pk=team.pk).name, "open": False, "size": "s"},
            lock=lambda: Team.objects.select_for_update().get(pk=team.pk),
            preview=lambda values: Preview(effects=[Effect(f"{LIVE['jobs']} jobs keep their place", live=True)]),
            save=save,
        ),
    )


def act(request: HttpRequest, slug: str) -> HttpResponse:
    team = Team.objects.get(slug=slug)

    def preview(_values: dict[str, Any]) -> Preview:
        children = team.children.count()
        return Preview(blockers=[Effect(f"{children} teams are below it", "bad")] if children else [])

    def save(_values: dict[str, Any], reason: str) -> str:
        Team.objects.filter(pk=team.pk).update(contact=reason)
        return "/"

    return run_change(request, ChangePage(title="Close", back="/teams", preview=preview, save=save, danger=True))


urlpatterns = [
    path("rename/<slug:slug>", rename, name="test_rename"),
    path("act/<slug:slug>", act, name="test_act"),
    *portal_urls,
]
