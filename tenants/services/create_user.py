"""Make a local account."""

import re
import secrets
from datetime import datetime
from typing import Final

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from portal.lib.errors import FieldError, Invalid
from portal.lib.locks import hold_until_commit
from portal.lib.text import BadInput
from tenants import access
from tenants.models import User
from tenants.naming import checked, read_name, taken
from tenants.services.record_audit import record_audit

_USERNAME: Final = re.compile(r"[a-z0-9](?:[a-z0-9._-]{0,61}[a-z0-9])?", re.ASCII)
BAD_USERNAME = _("Use lower-case letters a–z, digits, dots, hyphens and underscores, at most 63.")


@transaction.atomic
def create_user(
    *, actor: User | None, username: str, display_name: str, now: datetime, email: str = "", note: str = ""
) -> tuple[User, str]:
    """The person without any role, and a random password in clear for the one time it is shown.

    Needs `member.change` on the organisation. Raises Invalid for a user name that is taken in any case.
    """
    if actor is not None:
        access.require_platform(actor, "member.change")
    said = checked(note=note)
    name = _checked(username, display_name)
    hold_until_commit(f"tenants.user:{username.lower()}")  # two at once: the second sees the first
    if User.objects.filter(username__iexact=username).exists():
        raise taken("username", username)
    password = secrets.token_urlsafe(15)
    user = User.objects.create_user(username, email=email, password=password, display_name=name)
    after = {"username": username, "display_name": name, "email": email}
    record_audit(actor=actor, verb="user.created", target=user, after=after, note=said["note"], now=now)
    return user, password


def _checked(username: str, display_name: str) -> str:
    errors = [] if _USERNAME.fullmatch(username) else [FieldError("username", "BadUsername", BAD_USERNAME, {})]
    try:
        name = read_name(display_name)
    except BadInput as bad:
        errors.append(FieldError("display_name", bad.reason, _(bad.template), bad.facts))
    if errors:
        raise Invalid.of(*errors)
    return name
