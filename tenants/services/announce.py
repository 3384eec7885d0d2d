"""Write down that people are to hear of an event, in the transaction of the event itself."""

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.core.serializers.json import DjangoJSONEncoder
from django.db import transaction
from django.db.models import Model

from portal.lib.clock import to_ms
from portal.lib.queue import enqueue
from tenants.models import Outbox
from tenants.notify.events import EVENTS, Event
from tenants.notify.quiet import is_quiet
from tenants.notify.recipients import Recipients


@transaction.atomic
def announce(
    *,
    event: Event,
    subject: Model,
    facts: Mapping[str, Any],
    recipients: Recipients,
    now: datetime,
    once: str = "",
) -> None:
    """One outbox row; people are told by `services/fan_out.py`. Announced twice, the same event is one row.

    `facts` are plain data for the event's message, moments as UTC milliseconds. `once` tells this occurrence from
    others of the same event and subject (an attempt, an outage); without it the moment does. Within `quietly()` nothing
    is written.
    """
    assert event in EVENTS, event
    if is_quiet():
        return
    row = Outbox(
        dedupe_key=f"{event}:{subject.pk}:{once or to_ms(now)}"[:200],
        event=event,
        subject_type=type(subject).__name__,
        subject_id=str(subject.pk),
        facts=json.loads(json.dumps(dict(facts), cls=DjangoJSONEncoder)),
        recipients=recipients.stored(),
        at=now,
    )
    Outbox.objects.bulk_create([row], ignore_conflicts=True)
    enqueue("tenants.fan_out")
