"""Refuse what would leave the organisation without a platform administrator."""

from django.db.models import Q
from django.utils.translation import gettext_lazy as _

from portal.lib.errors import Conflict
from portal.lib.locks import hold_until_commit
from tenants.models import User
from tenants.roles import Role


def keep_administrator(*, leaving: User) -> None:
    """Raise Conflict `LastAdministrator` when nobody else could administer the platform any more.

    Holds a lock until the transaction ends: of two who remove each other at once one succeeds.
    """
    hold_until_commit("tenants.administrators")
    role = Role.PLATFORM_ADMIN.value
    holders = User.objects.filter(Q(memberships__role=role) | Q(groups__memberships__role=role), is_active=True)
    if not holders.filter(pk=leaving.pk).exists() or holders.exclude(pk=leaving.pk).exists():
        return
    raise Conflict(
        "LastAdministrator",
        _("{user} is the last platform administrator who can sign in. Give the role to somebody else first."),
        facts={"user": str(leaving)},
    )
