"""Give a person a role in one scope."""

from datetime import datetime

from django.db import transaction
from django.db.models import Model
from django.utils.translation import gettext_lazy as _

from portal.lib.errors import Invalid
from tenants import access
from tenants.models import Membership, Project, Team, User
from tenants.naming import checked
from tenants.notify.events import Event
from tenants.notify.recipients import people
from tenants.role_lock import hold_roles
from tenants.role_words import ROLE_WORDS
from tenants.roles import SCOPES, Role
from tenants.services.announce import announce
from tenants.services.record_audit import record_audit


@transaction.atomic
def grant_role(
    *, actor: User | None, user: User, role: Role, scope: Model, now: datetime, note: str = ""
) -> Membership:
    """The membership, new or already there. Raises Invalid when the role is not held in such a scope.

    Raises Denied for a role that reaches further than the actor's own. Without an actor (installation) no
    permission is asked. Guardian's rows are derived here and nowhere else.
    """
    if actor is not None:
        access.require(actor, "member.change", scope)
        access.require_role_power(actor, role, scope)
    said = checked(note=note)
    if access.kind_of_scope(scope) not in SCOPES[role]:
        raise Invalid(
            "RoleNotForScope",
            _("Role {role} is not held in {scope}."),
            facts={"role": str(ROLE_WORDS[role]), "scope": str(scope)},
        )
    hold_roles(user)
    membership, created = Membership.objects.get_or_create(
        user=user, role=role.value, **_columns(scope), defaults={"created_at": now}
    )
    access.write_role(membership, scope)  # also where it was: whatever it should give, it gives afterwards
    if created:
        facts = {"role": role.value, "scope": str(scope)}
        announce(event=Event.ROLE_GRANTED, subject=membership, facts=facts, recipients=people(user.pk), now=now)
        record_audit(
            actor=actor,
            verb="role.granted",
            target=scope,
            after={"user": user.username, "role": role.value},
            note=said["note"],
            now=now,
        )
    return membership


def _columns(scope: Model) -> dict[str, object]:
    if isinstance(scope, Project):
        return {"project": scope}
    if isinstance(scope, Team):
        return {"team": scope}
    return {"pool_key": scope.key}  # type: ignore[attr-defined]
