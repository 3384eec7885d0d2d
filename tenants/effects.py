"""What follows from changes of teams, projects and roles, said alike on pages and in the API."""

from collections.abc import Sequence
from typing import Any

from django.utils.translation import gettext as _

from portal.lib.change_form import Effect
from portal.lib.localised import listed
from tenants.models import Membership, Project, Team, User
from tenants.role_words import ROLE_WORDS
from tenants.roles import GRANTS, Role
from tenants.selectors.people import roles_of
from tenants.selectors.teams import members_on

Scope = Team | Project


def of_new_project(team: Team) -> list[Effect]:
    """Which pools it may use."""
    said = _("It may use the pools that are granted to {team} and the teams above.")
    return [Effect(said.format(team=team.name))]


def of_deleted_team() -> list[Effect]:
    """What stays."""
    return [Effect(_("The team goes; its records in the audit trail stay."))]


def of_archived_project(jobs: str = "") -> list[Effect]:
    """What becomes of its jobs; `jobs` is the address of their list."""
    waiting, active = (f"{jobs}&state={state}" if jobs else "" for state in ("waiting", "active"))
    return [
        Effect(_("It takes no new jobs, and jobs that wait are held back."), "warn", waiting),
        Effect(_("Jobs that run go on until their own end."), "off", active),
        Effect(_("Jobs, usage and records stay readable. It can be taken out of the archive again.")),
    ]


def of_restored_project() -> list[Effect]:
    """What becomes of its jobs."""
    return [Effect(_("It takes jobs again, and those that were held back by the archive join the queue."))]


def of_given_role(person: User, role: Role, scope: Scope) -> list[Effect]:
    """Who it is, how far the role reaches, and what else they hold here."""
    who = Effect(_("{name} signs in as {username}.").format(name=person, username=person.username))
    return [who, _reach(role, scope), *_held(members_on(scope).filter(user=person))]


def of_changed_role(role: Role, scope: Scope) -> list[Effect]:
    """How far the other role reaches, and from when."""
    return [_reach(role, scope), _next_request()]


def of_taken_role(membership: Membership, scope: Scope) -> list[Effect]:
    """From when, and what the person still holds here."""
    left = _held(members_on(scope).filter(user=membership.user).exclude(pk=membership.pk))
    return [_next_request(), *(left or [Effect(_("They hold no other role here and will no longer see it."), "warn")])]


def of_new_person() -> list[Effect]:
    """What an account can do at first."""
    return [
        Effect(_("A random password is made and shown once; hand it over in person.")),
        Effect(_("The account holds no role until somebody gives it one."), "warn"),
    ]


def of_new_password() -> list[Effect]:
    """What ends."""
    return [Effect(_("The password of today and all open sessions end; tokens stay."), "warn")]


def of_person_active(person: User, *, active: bool) -> list[Effect]:
    """What a block, or its end, means for somebody's sessions, jobs and roles, and which roles these are."""
    held = [
        Effect(f"{ROLE_WORDS[Role(row.role)]} · {row.scope or row.pool_key}")
        for row in roles_of([person]).get(person.pk, [])
    ]
    if active:
        return [Effect(_("The person may sign in again, with these roles.")), *held]
    return [
        Effect(_("Sessions and tokens of this person are refused from the next request on."), "warn"),
        Effect(_("Jobs that run go on; roles stay, and count again when the account is let in again.")),
        *held,
    ]


def _reach(role: Role, scope: Scope) -> Effect:
    """How far the role reaches, in one sentence."""
    text = _("{role}: may change {n} kinds of things in {scope} and all below it.")
    changes = sum(permission.endswith((".change", ".manage")) for permission in GRANTS[role])
    if not changes:
        text = _("{role}: may look, and change nothing, in {scope} and all below it.")
    return Effect(text.format(role=ROLE_WORDS[role], n=changes, scope=scope), "warn" if changes else "off")


def _next_request() -> Effect:
    return Effect(_("It takes effect on the person's next request; jobs that run go on."))


def _held(rows: Any) -> Sequence[Effect]:
    """Roles a person has here anyway."""
    said = _("{role} in {scope}")
    words = [said.format(role=ROLE_WORDS[Role(row.role)], scope=row.project or row.team) for row in rows]
    return [Effect(_("They also hold: {roles}.").format(roles=listed(words)))] if words else []
