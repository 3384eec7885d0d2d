"""Give a person another role in the same scope."""

from datetime import datetime

from django.db import transaction

from portal.lib.errors import FieldError, Invalid, NotFound
from tenants.models import Membership, User
from tenants.naming import TAKEN
from tenants.role_lock import hold_roles
from tenants.role_words import ROLE_WORDS
from tenants.roles import Role
from tenants.services.grant_role import grant_role
from tenants.services.revoke_role import revoke_role


@transaction.atomic
def change_role(*, actor: User | None, membership: Membership, role: Role, now: datetime, note: str = "") -> Membership:
    """The new membership; the old role ends in the same transaction. Refusals are those of both halves."""
    if membership.user is not None:
        hold_roles(membership.user)
    row = Membership.objects.select_for_update(of=("self",)).filter(pk=membership.pk).first()
    scope = row.scope if row else None
    if row is None or scope is None or row.user is None:
        raise NotFound(f"membership {membership.pk}")
    if row.role == role.value:
        return row
    if Membership.objects.filter(user=row.user, team=row.team, project=row.project, role=role.value).exists():
        raise Invalid.of(FieldError("role", "Taken", TAKEN, {"name": str(ROLE_WORDS[role])}))
    # Granted first: an owner who makes themselves a member may still do both.
    granted = grant_role(actor=actor, user=row.user, role=role, scope=scope, now=now, note=note)
    revoke_role(actor=actor, membership=row, now=now, note=note)
    return granted
