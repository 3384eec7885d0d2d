"""A user's personal tokens."""

from datetime import datetime

from django.db.models import QuerySet

from tenants.access import Actor
from tenants.models import ApiToken


def tokens_of(user: Actor, now: datetime) -> QuerySet[ApiToken]:
    """The user's own tokens that still work."""
    return ApiToken.objects.filter(user=user.pk, expiry__gt=now)
