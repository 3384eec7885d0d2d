"""Make a personal token of the API."""

from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.utils.translation import gettext_lazy as _
from knox.models import get_digest_token
from knox.settings import CONSTANTS

from portal.lib.errors import Conflict, FieldError, Invalid
from portal.lib.text import BadInput, clean_name
from tenants.models import ApiToken, User
from tenants.selectors.tokens import tokens_of
from tenants.services.record_audit import record_audit

DAYS: Final = 90
MOST_DAYS: Final = 365
MOST_TOKENS: Final = 50


@transaction.atomic
def create_token(
    *, user: User, name: str, now: datetime, days: int = DAYS, read_only: bool = False
) -> tuple[ApiToken, str]:
    """The token's record, and the token in clear for the one time it is shown.

    Raises Invalid for a name or length of life that may not be, Conflict for somebody who holds MOST_TOKENS.
    """
    name = _checked(name, days)
    User.objects.select_for_update(of=("self",)).get(pk=user.pk)
    held = tokens_of(user, now).count()
    if held >= MOST_TOKENS:
        message = _("You hold {held} tokens, the most there may be. Delete one you no longer use.")
        raise Conflict("TooManyTokens", message, facts={"held": held})
    digest, clear = get_digest_token()
    token = ApiToken(
        digest=digest,
        token_key=clear[: CONSTANTS.TOKEN_KEY_LENGTH],
        user=user,
        name=name,
        read_only=read_only,
        created=now,
        expiry=now + timedelta(days=days),
    )
    token.save(force_insert=True)
    after = {"token": str(token.key), "name": name, "expiry": token.expiry, "read_only": read_only}
    record_audit(actor=user, verb="token.created", target=user, after=after, now=now)
    return token, clear


def _checked(name: str, days: int) -> str:
    if not 1 <= days <= MOST_DAYS:
        message = _("A token lives from 1 to {most} days.")
        raise Invalid.of(FieldError("days", "DaysOutOfRange", message, {"most": MOST_DAYS}))
    try:
        return clean_name(name)
    except BadInput as bad:
        raise Invalid.of(FieldError("name", bad.reason, _(bad.template), bad.facts)) from bad
