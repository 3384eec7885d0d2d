"""A person's inbox."""

from django.db.models import BooleanField, ExpressionWrapper, Q, QuerySet

from tenants.access import Actor
from tenants.models import Notice
from tenants.notify.events import EVENTS

COUNTED = 100
"""More unread than this is said as "99+": nobody counts further, and the database need not."""


def notices_of(user: Actor, *, group: str = "", unread: bool = False) -> QuerySet[Notice]:
    """The person's own notices, unread first, then newest first; narrowed to a group of events or to unread ones."""
    rows = Notice.objects.filter(recipient=user.pk)
    if group:
        rows = rows.filter(event__in=[event for event, words in EVENTS.items() if words.group == group])
    if unread:
        rows = rows.filter(read_at__isnull=True)
    is_new = ExpressionWrapper(Q(read_at__isnull=True), output_field=BooleanField())
    return rows.annotate(is_new=is_new).order_by("-is_new", "-at", "-id")


def unread_count(user: Actor) -> int:
    """How many unread notices the person has, counted up to `COUNTED`. One query on an index of unread ones."""
    return Notice.objects.filter(recipient=user.pk, read_at__isnull=True).order_by()[:COUNTED].count()
