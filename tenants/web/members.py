"""Give, change and take roles in a team or project."""

import uuid
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_http_methods

from portal.lib.change_form import ChangePage, Effect, Preview, run_change
from portal.lib.clock import utc_now
from portal.lib.errors import NotFound
from portal.lib.signin import signed_in
from tenants import access, effects
from tenants.models import Membership
from tenants.role_words import ROLE_WORDS
from tenants.roles import Role
from tenants.selectors.people import person_named
from tenants.selectors.teams import members_on, project_by_slug, team_by_slug
from tenants.services.change_role import change_role
from tenants.services.grant_role import grant_role
from tenants.services.revoke_role import revoke_role
from tenants.web.forms import MemberForm, RoleForm
from tenants.web.parts import Scope, actor_of, address_of, roles_to_give, trail

GET_POST = ["GET", "POST"]


@require_http_methods(GET_POST)
@signed_in
def team_member_new(request: HttpRequest, slug: str) -> HttpResponse:
    """A role in this team and all below it."""
    return _add(request, team_by_slug(request.user, slug, "member.change"))


@require_http_methods(GET_POST)
@signed_in
def project_member_new(request: HttpRequest, slug: str) -> HttpResponse:
    """A role in this project."""
    return _add(request, project_by_slug(request.user, slug, "member.change"))


@require_http_methods(GET_POST)
@signed_in
def member_edit(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Another role in the same scope."""
    membership, scope = _membership(request, key)
    actor, person = actor_of(request), membership.user

    def save(values: dict[str, Any], reason: str) -> str:
        change_role(actor=actor, membership=membership, role=Role(values["role"]), now=utc_now(), note=reason)
        return address_of(scope)

    def form(*args: Any, **kwargs: Any) -> forms.Form:
        return RoleForm(*args, roles=roles_to_give(actor, scope), **kwargs)

    page = ChangePage(
        title=_("Change the role of {person}").format(person=person),
        back=address_of(scope),
        crumbs=trail(actor_of(request), scope, gettext_lazy("Change role")),
        form=form,
        today=lambda: Membership.objects.filter(pk=membership.pk).values("role").first() or {},
        lock=lambda: _still(membership),
        preview=lambda values: Preview(effects=effects.of_changed_role(Role(values["role"]), scope)),
        save=save,
    )
    return run_change(request, page)


@require_http_methods(GET_POST)
@signed_in
def member_remove(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Take the role."""
    membership, scope = _membership(request, key)
    actor = actor_of(request)

    def save(_values: dict[str, Any], reason: str) -> str:
        revoke_role(actor=actor, membership=membership, now=utc_now(), note=reason)
        return address_of(scope)

    word = str(ROLE_WORDS[Role(membership.role)])
    page = ChangePage(
        title=_("Take the role {role} from {person}").format(role=word, person=membership.user),
        back=address_of(scope),
        crumbs=trail(actor_of(request), scope, gettext_lazy("Take role")),
        preview=lambda _values: Preview(effects=effects.of_taken_role(membership, scope)),
        save=save,
        verb=gettext_lazy("Take the role"),
        done=gettext_lazy("The role was taken."),
        danger=True,
    )
    return run_change(request, page)


def _add(request: HttpRequest, scope: Scope) -> HttpResponse:
    actor = actor_of(request)

    def save(values: dict[str, Any], reason: str) -> str:
        person = person_named(values["username"])
        grant_role(actor=actor, user=person, role=Role(values["role"]), scope=scope, now=utc_now(), note=reason)
        return address_of(scope)

    def form(*args: Any, **kwargs: Any) -> forms.Form:
        return MemberForm(*args, roles=roles_to_give(actor, scope), **kwargs)

    def preview(values: dict[str, Any]) -> Preview:
        person, role = person_named(values["username"]), Role(values["role"])
        own = {"project": scope} if hasattr(scope, "team_id") else {"team": scope}
        there = members_on(scope).filter(user=person, role=role.value, **own).exists()
        blockers = [Effect(_("They hold this role here already."), "bad")] if there else []
        return Preview(effects=effects.of_given_role(person, role, scope), blockers=blockers)

    page = ChangePage(
        title=_("Give a role in {scope}").format(scope=scope),
        back=address_of(scope),
        crumbs=trail(actor_of(request), scope, gettext_lazy("Give a role")),
        form=form,
        preview=preview,
        save=save,
        verb=gettext_lazy("Give the role"),
        done=gettext_lazy("The role was given."),
    )
    return run_change(request, page)


def _membership(request: HttpRequest, key: uuid.UUID) -> tuple[Membership, Scope]:
    """The membership and its scope, for somebody who may change both. Raises NotFound or Denied."""
    row = Membership.objects.select_related("user", "team", "project__team").filter(pk=key).first()
    scope = row.scope if row else None
    if row is None or scope is None or row.user is None:
        raise NotFound(f"membership {key}")
    access.fetch(request.user, type(scope), scope.pk, "member.change")
    access.require_role_power(request.user, Role(row.role), scope)
    return row, scope


def _still(membership: Membership) -> Membership:
    row = Membership.objects.select_for_update(of=("self",)).filter(pk=membership.pk).first()
    if row is None:
        raise NotFound(f"membership {membership.pk}")
    return row
