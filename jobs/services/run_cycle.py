"""One pass of the scheduler: read the facts, decide, apply."""

import hashlib
import logging
import time
import uuid
from collections.abc import Iterable
from datetime import datetime
from typing import Any

from django.db import transaction

from jobs.models import Cycle, Job
from jobs.reasons import Kind, Reason
from jobs.scheduler.cycle import cycle
from jobs.scheduler.decision import Admit, Decision, Expire
from jobs.scheduler.rules import Rules
from jobs.selectors.explanations import facts_of, material
from jobs.selectors.snapshot import load_snapshot
from jobs.services.admit_job import admit_job
from jobs.services.announce_job import announce_job
from jobs.services.preempt_jobs import preempt_jobs
from jobs.services.record_event import record_event
from jobs.services.transition import transition
from jobs.states import JobState
from portal.lib.failpoints import failpoint
from portal.lib.locks import try_session_lock
from portal.lib.queue import enqueue
from resources.models import Cluster
from tenants.notify.events import Event

log = logging.getLogger(__name__)
LOCK = "jobs.cycle"
CURRENCY = "points"


def run_cycle(*, now: datetime) -> int:
    """How many jobs were admitted; 0 also when another pass is under way.

    Idempotent: each decision is applied only where the job is still as the snapshot saw it. A kill between any two
    decisions loses nothing: the next pass reads the facts again.
    """
    if not Job.objects.filter(state=JobState.QUEUED).exists():
        return 0
    with try_session_lock(LOCK) as held:
        return _pass(now) if held else 0


def _pass(now: datetime) -> int:
    begun = time.monotonic()
    snapshot = load_snapshot(now=now)
    result = cycle(snapshot, Rules())
    cycle_id = uuid.uuid4()
    admitted = [d for d in result.decisions if isinstance(d, Admit)]
    done = [d for d in admitted if _apply_admit(d, now, cycle_id)]
    for preemption in result.preemptions:
        preempt_jobs(preemption=preemption, now=now, cycle_id=cycle_id)
        failpoint("jobs.cycle.after_preempt")
    changed = _explain(result.decisions, now, cycle_id)
    for cluster in Cluster.objects.filter(key__in={d.cluster for d in done}):
        enqueue("jobs.reconcile_cluster", str(cluster.pk))
    if done or changed:
        Cycle.objects.create(
            id=cycle_id,
            at=now,
            duration_ms=int((time.monotonic() - begun) * 1000),
            waiting=result.stats.waiting,
            admitted=len(done),
            snapshot_sha256=hashlib.sha256(snapshot.to_json()).hexdigest(),
        )
    return len(done)


def _apply_admit(decision: Admit, now: datetime, cycle_id: uuid.UUID) -> bool:
    failpoint("jobs.cycle.before_admit")
    admitted = admit_job(decision=decision, now=now, cycle_id=cycle_id, currency=CURRENCY)
    if not admitted:
        log.info("admission of %s withdrawn: the facts changed since the snapshot", decision.job)
    failpoint("jobs.cycle.after_admit")
    return admitted


def _explain(decisions: Iterable[Decision], now: datetime, cycle_id: uuid.UUID) -> int:
    """Leave reason and numbers on every job that did not start; how many got another reason or other numbers.

    Place and estimate of every job move with each that joins the queue: that is no event, and one statement.
    """
    waiting = {d.job: d for d in decisions if not isinstance(d, Admit)}
    changed, moved_on = 0, []
    for job in Job.objects.filter(pk__in=waiting, state=JobState.QUEUED):
        decision = waiting[str(job.pk)]
        reason, facts = decision.why.reason, facts_of(decision)
        if isinstance(decision, Expire):
            transition(job=job, to=JobState.FAILED, reason=reason, facts=facts, now=now, cycle_id=cycle_id)
            changed += 1
        elif job.reason != reason or material(job.facts) != material(facts):
            changed += _note(job, reason, facts, now, cycle_id)
        elif job.facts != facts:
            job.facts = facts
            moved_on.append(job)
    Job.objects.filter(state=JobState.QUEUED).bulk_update(moved_on, ["facts"], batch_size=500)
    return changed


@transaction.atomic
def _note(job: Job, reason: Reason, facts: dict[str, Any], now: datetime, cycle_id: uuid.UUID) -> int:
    """1 when the job still waits and was told, else 0."""
    still = Job.objects.filter(pk=job.pk, state=JobState.QUEUED, generation=job.generation)
    moved = still.update(reason=reason, facts=facts, reason_at=now)
    if moved:
        record_event(job=job, at=now, now=now, kind="reason", reason=reason, facts=facts, cycle_id=cycle_id)
        if reason.kind is Kind.NEVER:
            announce_job(job=job, event=Event.JOB_NEVER, reason=reason, facts=facts, now=now)
    return moved
