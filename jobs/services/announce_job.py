"""Tell a job's submitter how it goes, and its pool's administrators what it did not give back."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from jobs.models import Job
from tenants.notify.events import Event
from tenants.notify.recipients import holders, people
from tenants.services.announce import announce


def announce_job(
    *,
    job: Job,
    event: Event,
    reason: str,
    facts: Mapping[str, Any],
    now: datetime,
    cluster: str = "",
    pool: str = "",
) -> None:
    """One outbox row for each event, generation and reason of the job. A leak is the pool's, the rest the submitter's.

    The same transaction as the event; idempotent.
    """
    whom = holders("pool.change", pool=pool) if event == Event.ALLOCATION_LEAKED else people(job.submitter_id)
    announce(
        event=event,
        subject=job,
        facts={
            "job": job.name,
            "ref": job.ref,
            "project_id": job.project_id,
            "reason": str(reason),
            "reason_facts": dict(facts),
            "cluster": cluster,
            "pool": pool,
        },
        recipients=whom,
        once=f"{job.generation}:{reason}",
        now=now,
    )
