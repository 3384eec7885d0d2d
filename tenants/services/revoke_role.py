"""Take a role from a person."""

from datetime import datetime

from django.db import transaction

from portal.lib.errors import NotFound
from tenants import access
from tenants.models import Membership, User
from tenants.naming import checked
from tenants.notify.events import Event
from tenants.notify.recipients import people
from tenants.role_lock import hold_roles
from tenants.roles import Role
from tenants.services.announce import announce
from tenants.services.keep_administrator import keep_administrator
from tenants.services.record_audit import record_audit


@transaction.atomic
def revoke_role(*, actor: User | None, membership: Membership, now: datetime, note: str = "") -> None:
    """From the next request on the person can do no more what only this role let them do.

    Raises NotFound when it was taken meanwhile, Denied for a role that reaches further than the actor's own,
    Conflict for the last platform administrator. Roles in pools are not taken here: this app does not know pools.
    """
    if membership.user is not None:
        hold_roles(membership.user)
    row = Membership.objects.select_for_update(of=("self",)).filter(pk=membership.pk).first()
    scope = row.scope if row else None
    if row is None or scope is None or row.user is None:
        raise NotFound(f"membership {membership.pk}")
    role = Role(row.role)
    if actor is not None:
        access.require(actor, "member.change", scope)
        access.require_role_power(actor, role, scope)
    said = checked(note=note)
    if role is Role.PLATFORM_ADMIN:
        keep_administrator(leaving=row.user)
    others = Membership.objects.filter(user=row.user, team=row.team, project=row.project).exclude(pk=row.pk)
    access.erase_role(row, scope, {Role(value) for value in others.values_list("role", flat=True)})
    before = {"user": row.user.username, "role": row.role}
    row.delete()
    facts = {"role": role.value, "scope": str(scope)}
    announce(event=Event.ROLE_REMOVED, subject=membership, facts=facts, recipients=people(row.user.pk), now=now)
    record_audit(actor=actor, verb="role.revoked", target=scope, before=before, note=said["note"], now=now)
