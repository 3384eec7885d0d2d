"""Append one record to the audit chain, in the caller's transaction."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Model

from portal.lib.locks import hold_until_commit
from tenants.chain import CHAIN, last_of_chain, next_in_chain
from tenants.models import AuditEvent, User


def record_audit(
    *,
    actor: User | None,
    verb: str,
    now: datetime,
    target: Model | None = None,
    result: str = "done",
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
    reason: str = "",
    note: str = "",
) -> AuditEvent:
    """The appended event. Called last in a service: the chain is locked until the transaction commits.

    `before` and `after` hold only the fields that changed. Same transaction as the change, so neither is
    ever without the other.
    """
    with transaction.atomic():
        hold_until_commit(CHAIN)
        event = next_in_chain(
            last_of_chain(),
            actor=actor,
            verb=verb,
            at=now,
            target=target,
            result=result,
            before=before,
            after=after,
            reason=reason,
            note=note,
        )
        event.save(force_insert=True)
    return event
