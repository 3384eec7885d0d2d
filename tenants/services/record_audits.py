"""Append many records to the audit chain at once, in the caller's transaction."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Model

from portal.lib.locks import hold_until_commit
from tenants.chain import CHAIN, last_of_chain, next_in_chain
from tenants.models import AuditEvent, User

_BATCH = 2_000


@dataclass(frozen=True, slots=True)
class Draft:
    """One record to be: when it happened, what, to what, by whom, and the values after it."""

    at: datetime
    verb: str
    target: Model
    actor: User | None
    after: Mapping[str, Any]


@transaction.atomic
def record_audits(*, drafts: Iterable[Draft]) -> int:
    """How many were appended, each linked to the one before it; the chain is locked until the transaction commits."""
    hold_until_commit(CHAIN)
    last, events = last_of_chain(), []
    for draft in drafts:
        event = next_in_chain(
            last, actor=draft.actor, verb=draft.verb, at=draft.at, target=draft.target, after=draft.after
        )
        events.append(event)
        last = (event.seq, event.hash)
    AuditEvent.objects.bulk_create(events, batch_size=_BATCH)
    return len(events)
