"""Keep inboxes and the outbox bounded."""

from datetime import datetime, timedelta

from django.db.models import F, Window
from django.db.models.functions import RowNumber

from tenants.models import Notice, Outbox

KEPT_FOR = timedelta(days=90)
MOST_KEPT = 500
"""Notices of one person, newest first; what is older is removed, read or not: the facts stand in jobs and audit."""


def prune_notices(*, now: datetime) -> int:
    """How many notices were removed: older than 90 days, or beyond a person's 500 newest. Idempotent."""
    old, _ = Notice.objects.filter(at__lt=now - KEPT_FOR).delete()
    place = Window(RowNumber(), partition_by=F("recipient"), order_by=[F("at").desc(), F("id").desc()])
    beyond = Notice.objects.order_by().annotate(place=place).filter(place__gt=MOST_KEPT).values_list("pk", flat=True)
    over, _ = Notice.objects.filter(pk__in=list(beyond)).delete()
    Outbox.objects.filter(fanned_at__isnull=False, at__lt=now - KEPT_FOR).delete()
    return old + over
