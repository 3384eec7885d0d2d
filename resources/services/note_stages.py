"""Keep the newest changes of each node's stage."""

from collections.abc import Sequence

from django.db.models import F, Window
from django.db.models.functions import RowNumber

from resources.models import NodeEvent

KEPT = 100
"""Of one node: one that comes and goes every minute must not fill the table."""


def note_stages(*, events: Sequence[NodeEvent]) -> None:
    """Write these and let the oldest of the same nodes go. Part of the services that change a stage."""
    if not events:
        return
    NodeEvent.objects.bulk_create(events, batch_size=1_000)
    newest = Window(RowNumber(), partition_by=F("node"), order_by=[F("at").desc(), F("id").desc()])
    rows = NodeEvent.objects.filter(node__in=[event.node_id for event in events]).order_by()
    old = rows.annotate(place=newest).filter(place__gt=KEPT).values_list("pk", flat=True)
    NodeEvent.objects.filter(pk__in=list(old)).delete()
