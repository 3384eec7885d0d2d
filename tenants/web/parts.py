"""Pieces that several pages of tenants share."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from portal.lib.pages import page_of
from portal.lib.units import Unit, unit_word
from tenants import access
from tenants.audit_words import word_of
from tenants.models import AuditEvent, Membership, Project, QuotaCell, Team, User
from tenants.role_words import ROLE_WORDS
from tenants.roles import GRANTS, SCOPES, Role
from tenants.selectors.audit import records_of
from tenants.selectors.teams import cells_on, grants_on, members_on, path_teams

CHANGES_SHOWN = 10
UNITS: dict[str, Unit] = {"device": "devices", "cpu": "cpu", "memory": "bytes", "storage": "bytes"}
ENVIRONMENT_WORDS: dict[str, str | Promise] = {
    "research": _("Research"),
    "test": _("Test"),
    "production": _("Production"),
}
HELD_WORDS: dict[str, str | Promise] = {
    "ProjectArchived": _("The project is archived."),
    "BudgetExhausted": _("The budget is used up."),
}
Scope = Team | Project
Powers = frozenset[str]  # what the reader may do here, see `access.powers_at`


@dataclass(frozen=True, slots=True)
class MemberRow:
    """A role held here. `inherited` is the team above that it comes from, None when it is held in the scope itself."""

    membership: Membership
    word: str | Promise
    inherited: Team | None
    may_change: bool


def actor_of(request: HttpRequest) -> User:
    """Who asks, behind `signed_in`."""
    assert isinstance(request.user, User)
    return request.user


def address_of(scope: Scope) -> str:
    """The page of a team or project."""
    return reverse("project_detail" if isinstance(scope, Project) else "team_detail", args=[scope.slug])


def trail(user: User, scope: Scope, *more: str | Promise) -> list[tuple[str | Promise, str]]:
    """Crumbs down to the scope's page, then the names of the pages below it."""
    parts: list[tuple[str | Promise, str]] = [(_("Teams"), reverse("team_list"))]
    if isinstance(scope, Project):
        seen = access.can(user, "team.see", scope.team)
        parts.append((scope.team.name, address_of(scope.team) if seen else ""))
    return [*parts, (scope.name, address_of(scope) if more else ""), *((name, "") for name in more)]


def member_rows(scope: Scope, powers: Powers) -> list[MemberRow]:
    """Everybody with a role here, the inherited ones last; who may change which follows from the reader's powers."""
    may = "member.change" in powers
    rows = []
    for membership in members_on(scope):
        role = Role(membership.role)
        own = scope.pk in (membership.project_id, membership.team_id)
        inherited = None if own else membership.team
        rows.append(MemberRow(membership, ROLE_WORDS[role], inherited, own and may and GRANTS[role] <= powers))
    return sorted(rows, key=lambda row: row.inherited is not None)


def roles_to_give(user: User, scope: Scope) -> list[tuple[str, str | Promise]]:
    """Roles that are held in such a scope and reach no further than the user's own, as choices: the weakest first."""
    powers, kind = access.powers_at(user, scope), access.kind_of_scope(scope)
    roles = sorted(Role, key=lambda role: len(GRANTS[role]))
    return [(role.value, ROLE_WORDS[role]) for role in roles if kind in SCOPES[role] and GRANTS[role] <= powers]


def rules_context(request: HttpRequest, scope: Scope, now: datetime, powers: Powers) -> dict[str, Any]:
    """Grants and quota cells in force here, with where each comes from, and whether they may be changed."""
    may_see = "quota.see" in powers
    grants = page_of(request, grants_on(scope, now) if may_see else [], name="grants")
    cells = page_of(request, cells_on(scope) if may_see else [], name="cells")
    return {
        "may_see_rules": may_see,
        "grants": grants,
        "grant_rows": [(g, g.valid_from <= now, _origin(g.tenant, scope)) for g in grants],
        "cells": cells,
        "cell_rows": [cell_row(cell, scope) for cell in cells],
        "may_change_rules": "quota.change" in powers,
        "may_see_audit": "audit.see" in powers,
        "new_grant_url": _address("grant_new", scope),
        "new_quota_url": _address("quota_new", scope),
    }


def cell_row(cell: QuotaCell, scope: Scope) -> tuple[QuotaCell, Unit, str, Scope | None]:
    """A cell, the unit of its amounts with its word, and the team it is inherited from."""
    unit = UNITS.get(cell.resource, "count")
    return cell, unit, unit_word(unit, 2), _origin(cell.tenant, scope)


def _address(name: str, scope: Scope) -> str:
    """A page of the roof about this scope; "" where it is not served."""
    try:
        return reverse(name, args=["projects" if isinstance(scope, Project) else "teams", scope.slug])
    except NoReverseMatch:
        return ""


def _origin(tenant: Scope, scope: Scope) -> Scope | None:
    return None if tenant.pk == scope.pk else tenant


def last_changes(scope: Scope, powers: Powers) -> list[tuple[AuditEvent, str | Promise]]:
    """The newest records about the scope with the words of their verbs, for those who run or audit it."""
    if not powers & {"audit.see", "team.change"}:
        return []
    return [(event, word_of(event.verb)) for event in records_of(scope).filter(result="done")[:CHANGES_SHOWN]]


def names_above(scope: Scope) -> Sequence[Team]:
    """Teams above the scope, the organisation first."""
    teams = path_teams(scope)
    return teams if isinstance(scope, Project) else teams[:-1]


def environments(*more: str) -> Iterable[tuple[str, str | Promise]]:
    """Choices of the environment; one that is stored and not listed stays possible."""
    return [*ENVIRONMENT_WORDS.items(), *((key, key) for key in more if key and key not in ENVIRONMENT_WORDS)]
