"""The reader's own tokens of the API: listed, made and shown once, deleted."""

import uuid
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_http_methods

from portal.lib.change_form import ChangePage, CleanText, Effect, Preview, run_change
from portal.lib.clock import utc_now
from portal.lib.errors import Conflict, Invalid, NotFound
from portal.lib.pages import page_of
from portal.lib.signin import signed_in
from tenants.naming import read_name
from tenants.selectors.tokens import tokens_of
from tenants.services.create_token import DAYS, MOST_DAYS, create_token
from tenants.services.delete_token import delete_token
from tenants.web.parts import actor_of


class TokenForm(forms.Form):
    """What a token is called, how long it works, and whether it may change anything."""

    name = CleanText(read_name, label=gettext_lazy("Name"), help_text=gettext_lazy("What you will know it by."))
    days = forms.IntegerField(
        label=gettext_lazy("Works for"), min_value=1, max_value=MOST_DAYS, initial=DAYS, localize=False
    )
    read_only = forms.BooleanField(label=gettext_lazy("May only read"), required=False, initial=True)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["days"].unit = gettext_lazy("days")  # type: ignore[attr-defined]


@require_GET
@signed_in
def token_list(request: HttpRequest) -> HttpResponse:
    """Tokens that still work, the newest first."""
    now = utc_now()
    page = page_of(request, tokens_of(request.user, now))
    return render(request, "tenants/token_list.html", {"page": page, "now": now})


@require_http_methods(["GET", "POST"])
@signed_in
def token_new(request: HttpRequest) -> HttpResponse:
    """The form; a POST answers with the token, this once."""
    form = TokenForm(request.POST if request.method == "POST" else None)
    if request.method == "GET" or not form.is_valid():
        return render(request, "tenants/token_new.html", {"form": form}, status=422 if form.is_bound else 200)
    try:
        token, clear = create_token(user=actor_of(request), now=utc_now(), **form.cleaned_data)
    except (Invalid, Conflict) as error:
        for bad in error.fields:
            form.add_error(bad.field, bad.text())
        if not error.fields:
            form.add_error(None, error.text())
        return render(request, "tenants/token_new.html", {"form": form}, status=error.status)
    return shown_once(request, title=_("Token made"), name=token.name, secret=clear, back=reverse("token_list"))


@require_http_methods(["GET", "POST"])
@signed_in
def token_delete(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """What uses it is refused from the next request on."""
    actor = actor_of(request)
    token = tokens_of(actor, utc_now()).filter(key=key).first()
    if token is None:
        raise NotFound(f"token {key}")

    def save(_values: dict[str, Any], reason: str) -> str:
        delete_token(actor=actor, token=token, now=utc_now(), note=reason)
        return reverse("token_list")

    page = ChangePage(
        title=_("Delete the token {name}").format(name=token.name),
        back=reverse("token_list"),
        crumbs=[(gettext_lazy("Tokens"), reverse("token_list")), (token.name, "")],
        preview=lambda _values: Preview(
            effects=[Effect(_("Whatever uses it is refused from its next request on."), "warn")]
        ),
        save=save,
        verb=gettext_lazy("Delete the token"),
        done=gettext_lazy("The token was deleted."),
        danger=True,
    )
    return run_change(request, page)


def shown_once(request: HttpRequest, *, title: str, name: str, secret: str, back: str) -> HttpResponse:
    """A secret for the one time it is shown; nothing on the way may keep the page."""
    context = {"title": title, "name": name, "secret": secret, "back": back}
    response = render(request, "tenants/shown_once.html", context)
    response["Cache-Control"] = "no-store"
    return response
