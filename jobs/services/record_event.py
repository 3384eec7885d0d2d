"""Append one event to a job's history, in the caller's transaction."""

import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from jobs.models import Attempt, Job, JobEvent
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
    JobEvent.objects.create(
        job=job,
        at=at,
        recorded_at=now,
        kind=kind,
        old=old,
        new=new,
        reason=str(reason),
        facts=dict(facts or {}),
        attempt_id=attempt.pk if attempt else None,
        cycle_id=cycle_id,
        actor_id=actor.pk if actor else None,
        actor_name=str(actor) if actor else "",
    )
