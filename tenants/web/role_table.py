"""The permission table as a page: who may what, where."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET

from portal.lib.localised import listed
from portal.lib.signin import signed_in
from tenants.role_words import ROLE_WORDS
from tenants.roles import GRANTS, OBJECTS, SCOPES, VERBS, Role, Scope

OBJECT_WORDS: dict[str, str | Promise] = {
    "project": _("Projects"),
    "team": _("Teams"),
    "member": _("Members and roles"),
    "job": _("Jobs"),
    "template": _("Templates"),
    "data": _("Data"),
    "quota": _("Grants and quota"),
    "request": _("Requests"),
    "usage": _("Usage"),
    "period": _("Periods"),
    "pool": _("Pools"),
    "cluster": _("Clusters and nodes"),
    "policy": _("Policies"),
    "audit": _("Audit trail"),
}
VERB_WORDS: dict[str, str | Promise] = {
    "see": _("see"),
    "ask": _("ask"),
    "change": _("change"),
    "manage": _("manage"),
}
SCOPE_WORDS: dict[Scope, str | Promise] = {
    Scope.ORGANISATION: _("the organisation"),
    Scope.TEAM: _("a team"),
    Scope.PROJECT: _("a project"),
    Scope.POOL: _("a pool"),
}


@require_GET
@signed_in
def role_list(request: HttpRequest) -> HttpResponse:
    """Every role with where it may be held, every kind of thing with what each role may do with it."""
    roles = [(ROLE_WORDS[role], listed(SCOPE_WORDS[scope] for scope in SCOPES[role])) for role in Role]
    rows = [(OBJECT_WORDS[thing], [_verbs(role, thing) for role in Role]) for thing in OBJECTS]
    return render(request, "tenants/role_list.html", {"roles": roles, "rows": rows})


def _verbs(role: Role, thing: str) -> str:
    """What the role may do with such a thing, as one text; "" for nothing."""
    return listed(VERB_WORDS[verb] for verb in VERBS if f"{thing}.{verb}" in GRANTS[role])
