"""Write down what is seen of a running attempt, and move it to RUNNING once it is up."""

from datetime import datetime

from django.db import transaction

from jobs.models import Attempt
from jobs.reasons import Reason
from jobs.reconcile import Progress
from jobs.rows import running_facts
from jobs.services.transition import transition
from jobs.services.write_seen import write_seen
from jobs.states import JobState
from resources.drivers.base import SeenWorkload


@transaction.atomic
def note_progress(*, attempt: Attempt, seen: SeenWorkload | None, action: Progress, now: datetime) -> bool:
    """True when something new was written. Times come from the cluster and are never moved once known."""
    changed = write_seen(attempt=attempt, seen=seen, times=action.times)
    if action.to is JobState.RUNNING and attempt.job.state == JobState.STARTING:
        changed |= transition(
            job=attempt.job,
            to=JobState.RUNNING,
            reason=Reason.RUNNING,
            facts=running_facts(attempt),
            at=action.times.started_at,
            now=now,
        )
    return changed
