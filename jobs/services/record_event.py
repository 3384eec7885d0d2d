"""Append one event to a job's history, in the caller's transaction."""

import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from jobs.models import Attempt, Job
from jobs.rows import event_row
from tenants.models import User


def record_event(
    *,
    job: Job,
    at: datetime,
    now: datetime,
    kind: str,
    reason: str,
    old: str = "",
    new: str = "",
    facts: Mapping[str, Any] | None = None,
    attempt: Attempt | None = None,
    actor: User | None = None,
    cycle_id: uuid.UUID | None = None,
) -> None:
    """Append one event to the job's history."""
    event_row(
        job=job,
        at=at,
        now=now,
        kind=kind,
        reason=reason,
        old=old,
        new=new,
        facts=facts,
        attempt=attempt,
        actor=actor,
        cycle_id=cycle_id,
    ).save(force_insert=True)
