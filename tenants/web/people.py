"""Accounts: who there is and which roles they hold; made with a password shown once, blocked with a reason."""

import uuid
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET, require_http_methods

from portal.lib.change_form import ChangePage, Effect, Preview, run_change
from portal.lib.clock import utc_now
from portal.lib.display import Link
from portal.lib.errors import NotFound
from portal.lib.pages import page_of, word
from portal.lib.signin import signed_in
from tenants import access, effects
from tenants.audit_words import word_of
from tenants.models import Membership, User
from tenants.role_words import ROLE_WORDS
from tenants.roles import Role
from tenants.selectors.audit import records_of
from tenants.selectors.people import people_matching, roles_of
from tenants.services.create_user import create_user
from tenants.services.renew_password import renew_password
from tenants.services.set_user_active import set_user_active
from tenants.web.forms import PersonForm
from tenants.web.parts import CHANGES_SHOWN, actor_of, address_of
from tenants.web.tokens import shown_once

GET_POST = ["GET", "POST"]
CHANGE = "member.change"
RoleLine = tuple[str, str, str]  # role in words, scope's name, its page


@require_GET
@signed_in
def people(request: HttpRequest) -> HttpResponse:
    """Everybody with an account; filters by text, blocked, without a role."""
    access.require_platform(request.user, "member.see")
    text, state = word(request, "q"), word(request, "state", 10)
    active = {"blocked": False}.get(state)
    rows = people_matching(text=text, active=active, without_role=state == "none")
    page = page_of(request, rows)
    held = roles_of(page)
    states = {"blocked": _("Blocked"), "none": _("Without a role")}
    links = [
        Link(label, "?" if state == key else f"?state={key}", current=state == key) for key, label in states.items()
    ]
    context = {
        "page": page,
        "rows": [(person, [_line(m) for m in held.get(person.pk, [])]) for person in page],
        "links": [*links, *([Link(text, "?", current=True)] if text else [])],
        "filtered": bool(text or state in states),
        "may_change": access.at_platform(request.user, CHANGE),
        "now": utc_now(),
    }
    return render(request, "tenants/people.html", context)


@require_GET
@signed_in
def person_detail(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Roles held, last sign-in, and what was done to the account."""
    access.require_platform(request.user, "member.see")
    person = _person(key)
    records = (
        records_of(person).filter(result="done")[:CHANGES_SHOWN]
        if access.at_platform(request.user, "audit.see")
        else []
    )
    context = {
        "person": person,
        "roles": [(_line(m), m.created_at) for m in roles_of([person]).get(person.pk, [])],
        "changes": [(event, word_of(event.verb)) for event in records],
        "may_change": access.at_platform(request.user, CHANGE),
        "now": utc_now(),
    }
    return render(request, "tenants/person_detail.html", context)


@require_http_methods(GET_POST)
@signed_in
def person_new(request: HttpRequest) -> HttpResponse:
    """A local account; its password is shown once."""
    access.require_platform(request.user, CHANGE)
    actor = actor_of(request)

    def save(values: dict[str, Any], reason: str) -> HttpResponse:
        person, password = create_user(actor=actor, now=utc_now(), note=reason, **values)
        return _password(request, person, password)

    page = ChangePage(
        title=_("New account"),
        back=reverse("people"),
        crumbs=[(gettext_lazy("People"), reverse("people")), (gettext_lazy("New account"), "")],
        form=PersonForm,
        preview=lambda _values: Preview(effects=effects.of_new_person()),
        save=save,
        verb=gettext_lazy("Make the account"),
    )
    return run_change(request, page)


@require_http_methods(GET_POST)
@signed_in
def person_block(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """No sign-in any more; jobs that run go on."""
    return _set_active(request, key, active=False)


@require_http_methods(GET_POST)
@signed_in
def person_unblock(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Sign-in again, with the roles that are still held."""
    return _set_active(request, key, active=True)


@require_http_methods(GET_POST)
@signed_in
def person_password(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """A new random password, shown once."""
    access.require_platform(request.user, CHANGE)
    person, actor = _person(key), actor_of(request)

    def save(_values: dict[str, Any], reason: str) -> HttpResponse:
        return _password(request, person, renew_password(actor=actor, user=person, now=utc_now(), note=reason))

    page = ChangePage(
        title=_("New password for {person}").format(person=person),
        back=reverse("person_detail", args=[key]),
        crumbs=_crumbs(person, _("New password")),
        preview=lambda _values: Preview(effects=effects.of_new_password()),
        save=save,
        verb=gettext_lazy("Make a new password"),
        danger=True,
    )
    return run_change(request, page)


def _set_active(request: HttpRequest, key: uuid.UUID, *, active: bool) -> HttpResponse:
    access.require_platform(request.user, CHANGE)
    person, actor = _person(key), actor_of(request)
    back = reverse("person_detail", args=[key])
    so_already = Effect(_("The account is let in already.") if active else _("The account is blocked already."), "bad")

    def preview(_values: dict[str, Any]) -> Preview:
        found = effects.of_person_active(person, active=active)
        return Preview(effects=found, blockers=[so_already] if person.is_active == active else [])

    def save(_values: dict[str, Any], reason: str) -> str:
        set_user_active(actor=actor, user=person, active=active, now=utc_now(), note=reason)
        return back

    title = _("Let {person} in again") if active else _("Block {person}")
    page = ChangePage(
        title=title.format(person=person),
        back=back,
        crumbs=_crumbs(person, title.format(person=person)),
        preview=preview,
        save=save,
        verb=gettext_lazy("Let in again") if active else gettext_lazy("Block the account"),
        danger=not active,
    )
    return run_change(request, page)


def _person(key: uuid.UUID) -> User:
    person = User.objects.filter(pk=key).first()
    if person is None:
        raise NotFound(f"user {key}")
    return person


def _line(membership: Membership) -> RoleLine:
    scope, role = membership.scope, ROLE_WORDS[Role(membership.role)]
    if scope is None:
        return str(role), membership.pool_key, reverse("pool_detail", args=[membership.pool_key])
    return str(role), str(scope), address_of(scope)


def _crumbs(person: User, title: str) -> list[tuple[str, str]]:
    return [(_("People"), reverse("people")), (str(person), reverse("person_detail", args=[person.pk])), (title, "")]


def _password(request: HttpRequest, person: User, password: str) -> HttpResponse:
    back = reverse("person_detail", args=[person.pk])
    return shown_once(request, title=_("Password made"), name=person.username, secret=password, back=back)
