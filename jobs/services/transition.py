"""The one writer of Job.state."""

import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from jobs.models import Attempt, Job
from jobs.rows import ENDS_ATTEMPT, close_attempt, move_values
from jobs.services.announce_job import announce_job
from jobs.services.move_allocation import move_allocation
from jobs.services.record_event import record_event
from jobs.states import AllocationState, JobState
from portal.lib.failpoints import failpoint
from tenants.models import User
from tenants.notify.events import Event

_TOLD = {JobState.FAILED: Event.JOB_FAILED, JobState.SUCCEEDED: Event.JOB_SUCCEEDED}
"""What its submitter hears of."""


def transition(
    *,
    job: Job,
    to: JobState,
    reason: str,
    now: datetime,
    at: datetime | None = None,
    facts: Mapping[str, Any] | None = None,
    attempt: Attempt | None = None,
    actor: User | None = None,
    cycle_id: uuid.UUID | None = None,
    **fields: Any,
) -> bool:
    """True when this call moved the job; False when someone else was first, which is no error.

    Checks the table, updates where the state and generation are still the old ones, writes the event and moves
    what the attempt holds, all in one transaction. `at` is when it happened, `now` when we learnt of it.
    A move that is not in the table raises ValueError: it is a fault of the caller.
    """
    old = JobState(job.state)
    moment = at or now
    values = fields | move_values(job, to, reason=reason, facts=facts, moment=moment, requeue=attempt is not None)
    with transaction.atomic():
        moved = Job.objects.filter(pk=job.pk, state=old.value, generation=job.generation).update(**values)
        if not moved:
            return False
        failpoint("jobs.transition.after_update")
        record_event(
            job=job,
            at=moment,
            now=now,
            kind="state",
            old=old.value,
            new=to.value,
            reason=str(reason),
            facts=facts,
            attempt=attempt,
            actor=actor,
            cycle_id=cycle_id,
        )
        # A fleet that comes into service would fill its administrator's inbox: what passes is seen on the nodes.
        if to in _TOLD and not (job.validates_id and to is JobState.SUCCEEDED):
            announce_job(job=job, event=_TOLD[to], reason=str(reason), facts=facts or {}, now=now)
        if attempt is not None and to in ENDS_ATTEMPT:
            _end_attempt(attempt, old=old, reason=reason, facts=facts, moment=moment, now=now)
    for name, value in values.items():
        setattr(job, name, value)
    return True


def _end_attempt(
    attempt: Attempt,
    *,
    old: JobState,
    reason: str,
    facts: Mapping[str, Any] | None,
    moment: datetime,
    now: datetime,
) -> None:
    """Close the attempt. What was surely never created is free at once; anything else must be seen free first."""
    never_created = close_attempt(attempt, old=old, reason=reason, facts=facts, moment=moment, now=now)
    attempt.save(update_fields=["ended", "end_reason", "end_facts", "stopped_at", "released_at", "closed"])
    to = AllocationState.RELEASED if never_created else AllocationState.RELEASING
    for allocation in attempt.allocations.all():
        at = now if never_created else attempt.stopped_at or moment
        move_allocation(allocation=allocation, to=to, at=at, now=now)
