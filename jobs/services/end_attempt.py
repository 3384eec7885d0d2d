"""An attempt is over on its cluster: move the job to where that leads, with the times seen there."""

from datetime import datetime

from django.db import transaction

from jobs.models import Attempt
from jobs.reconcile import End
from jobs.rows import facts_of_step, way_to_end
from jobs.services.transition import transition
from jobs.services.write_seen import write_seen
from jobs.states import JobState
from portal.lib.queue import enqueue
from resources.drivers.base import SeenWorkload


@transaction.atomic
def end_attempt(*, attempt: Attempt, seen: SeenWorkload | None, action: End, now: datetime) -> bool:
    """True when this call ended it. A job first seen finished passes through RUNNING in this one transaction."""
    write_seen(attempt=attempt, seen=seen, times=action.times)
    job = attempt.job
    attempt.exit_code = action.exit_code
    attempt.save(update_fields=["exit_code"])
    moment = action.times.stopped_at or now
    for step in way_to_end(JobState(job.state), action):
        last = step.state is action.to
        moved = transition(
            job=job,
            to=step.state,
            reason=step.reason,
            facts=facts_of_step(job, attempt, step, action),
            at=moment if last else step.at,
            now=now,
            attempt=attempt if last else None,
            stop_to=action.to.value if step.state is JobState.STOPPING else "",
        )
        if not moved:
            transaction.set_rollback(True)
            return False
    if action.to is JobState.QUEUED:
        enqueue("jobs.run_cycle")
    return True
