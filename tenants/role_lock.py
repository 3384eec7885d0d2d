"""One writer of a person's roles at a time: what a role leaves behind depends on the others that remain."""

from portal.lib.locks import hold_until_commit
from tenants.models import User


def hold_roles(user: User) -> None:
    """Wait until nobody else gives or takes roles of this person, and let nobody do so until the commit."""
    hold_until_commit(f"tenants.roles:{user.pk}")
