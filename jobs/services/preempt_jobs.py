"""Stop running jobs for one that has a right to what they hold, and keep what they give back for it."""

import uuid
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from jobs.models import Attempt, Job
from jobs.reasons import Reason
from jobs.scheduler.decision import Preemption
from jobs.scheduler.victims import Rule
from jobs.services.announce_job import announce_job
from jobs.services.transition import transition
from jobs.states import JobState
from portal.lib.clock import to_ms
from portal.lib.failpoints import failpoint
from portal.lib.localised import localised
from portal.lib.queue import enqueue
from resources.models import Pool
from tenants.notify.events import Event
from tenants.selectors.tenant_names import tenant_name
from tenants.services.record_audit import record_audit

_REASONS = {Rule.RECLAIM: Reason.RECLAIMED, Rule.PRIORITY: Reason.PREEMPTED, Rule.FAIR_SHARE: Reason.EVENED_OUT}
_RUNS = frozenset({JobState.STARTING, JobState.RUNNING})


class _Stale(Exception):
    """One of them moved since the snapshot; the next pass sees the facts."""


def preempt_jobs(*, preemption: Preemption, now: datetime, cycle_id: uuid.UUID) -> int:
    """How many jobs were asked to stop: all of them, or none when one of the jobs moved meanwhile.

    Each is queued again once it is seen gone, with the attempt it lost given back. One audit record for all of them.
    """
    try:
        with transaction.atomic():
            return _preempt(preemption, now, cycle_id)
    except _Stale:
        return 0


def _preempt(preemption: Preemption, now: datetime, cycle_id: uuid.UUID) -> int:
    winner = Job.objects.select_for_update().get(pk=preemption.job)
    if winner.state != JobState.QUEUED or winner.generation != preemption.attempt:
        raise _Stale
    victims = list(Job.objects.select_for_update().filter(pk__in=preemption.victims).order_by("pk"))
    facts = _facts(preemption, winner, now)
    for victim in victims:
        _stop(victim, winner, facts, preemption, now, cycle_id)
        failpoint("jobs.preempt.between_victims")
    Job.objects.filter(pk=winner.pk).update(claims_pool=preemption.pool, claims_since=now)
    record_audit(
        actor=None,
        verb="jobs.preempted",
        target=winner,
        after={
            "pool": preemption.pool,
            "rule": preemption.rule,
            "for_tenant": facts["owner"],
            "stopped": [str(victim.pk) for victim in victims],
            "nodes": list(preemption.hosts),
        },
        now=now,
    )
    return len(victims)


def _stop(
    victim: Job, winner: Job, facts: Mapping[str, Any], preemption: Preemption, now: datetime, cycle_id: uuid.UUID
) -> None:
    attempt = Attempt.objects.filter(job=victim, ended=False).first()
    if victim.state not in _RUNS or attempt is None:
        raise _Stale
    reason = _REASONS[Rule(preemption.rule)]
    moved = transition(
        job=victim, to=JobState.STOPPING, reason=reason, facts=facts, now=now, cycle_id=cycle_id,
        stop_to=JobState.QUEUED.value, stops_for=winner, max_attempts=victim.max_attempts + 1,
    )  # fmt: skip
    if not moved:
        raise _Stale
    Attempt.objects.filter(pk=attempt.pk).update(stop_asked_at=now)
    announce_job(job=victim, event=Event.JOB_STOPPED_FOR, reason=reason, facts=facts, now=now)
    enqueue("jobs.reconcile_cluster", str(attempt.cluster_id))


def _facts(preemption: Preemption, winner: Job, now: datetime) -> dict[str, Any]:
    pool = Pool.objects.filter(key=preemption.pool).first()
    return {
        "t": to_ms(now),
        "pool": localised(pool.name, pool.key) if pool else preemption.pool,
        "pool_key": preemption.pool,
        "owner": tenant_name(preemption.tenant),
        "winner": winner.name,
        "winner_job": str(winner.pk),
    }
