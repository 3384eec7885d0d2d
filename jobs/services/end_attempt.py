"""An attempt is over on its cluster: move the job to where that leads, with the times seen there."""

from datetime import datetime
from typing import Any

from django.db import transaction

from jobs.models import Attempt
from jobs.reasons import Reason
from jobs.reconcile import End
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
    # The end that a stop was asked for keeps what was said then: by whom, for whom, at which limit.
    said = job.facts if job.reason == action.reason else {}
    for state, reason, at in _way(JobState(job.state), action, now):
        facts = _running_facts(attempt)
        if reason == action.reason:
            facts = {**said, **action.facts, "i": attempt.number + 1}
        last = state is action.to
        moved = transition(
            job=job,
            to=state,
            reason=reason,
            facts=facts,
            at=moment if last else at,
            now=now,
            attempt=attempt if last else None,
            stop_to=action.to.value if state is JobState.STOPPING else "",
        )
        if not moved:
            transaction.set_rollback(True)
            return False
    if action.to is JobState.QUEUED:
        enqueue("jobs.run_cycle")
    return True


def _running_facts(attempt: Attempt) -> dict[str, Any]:
    return {"nodes": len({member["node"] for member in attempt.placement})}


def _way(state: JobState, action: End, now: datetime) -> list[tuple[JobState, Reason, datetime | None]]:
    """The states passed on the way to the end, with the reason and time of each."""
    way: list[tuple[JobState, Reason, datetime | None]] = []
    via_stop = action.to in (JobState.QUEUED, JobState.CANCELLED)
    if state is JobState.STARTING and action.times.started_at is not None:
        way.append((JobState.RUNNING, Reason.RUNNING, action.times.started_at))
    elif state is JobState.STARTING and action.to is JobState.SUCCEEDED:
        way.append((JobState.RUNNING, Reason.RUNNING, action.times.stopped_at))
    if via_stop and state is not JobState.STOPPING:
        way.append((JobState.STOPPING, action.reason, action.times.stopped_at))
    return [*way, (action.to, action.reason, None)]
