"""Make one of the changes that let a waiting job start; a larger quota becomes a draft of a request."""

from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from jobs.job_access import require_change
from jobs.models import Job
from jobs.reasons import Reason
from jobs.scheduler.snapshot import WaitingJob
from jobs.scheduler.unblock import Change
from jobs.selectors.unblocking import ACTS, Offer, edited, offers_for
from jobs.services.record_event import record_event
from jobs.states import JobState
from portal.lib.errors import Conflict, Invalid
from portal.lib.queue import enqueue
from tenants.models import Request, User
from tenants.services.record_audit import record_audit

_CAUSES = {Change.LIMIT: "NewLimit", Change.SHRINK: "NewSize", Change.POOL: "NewPool", Change.OTHER: "NewClass"}


def unblock_job(*, actor: User, job: Job, change: str, now: datetime) -> Job | Request:
    """The job as it waits now, or the draft that asks for more quota; the same draft again when there is one.

    Whoever may cancel the job may do it. What is offered is worked out anew: Conflict when this no longer is, or the
    job no longer waits. Raises Invalid for a change that is nobody's to press, Denied without the permission.
    """
    require_change(actor, job)
    if change not in {one.value for one in ACTS}:
        raise Invalid("NotAChange", _("This is no change that can be made here."), facts={"change": change})
    with transaction.atomic():
        job = Job.objects.select_for_update(of=("self",)).select_related("project").get(pk=job.pk)
        offer = next((one for one in offers_for(job, now) if one.change == change), None)
        if offer is None:
            raise Conflict(
                "NoLongerOffered",
                _("This would no longer let the job start. Look again at what would."),
                facts={"job": job.name},
            )
        return _draft(actor, job, offer, now) if offer.change is Change.QUOTA else _change(actor, job, offer, now)


def _change(actor: User, job: Job, offer: Offer, now: datetime) -> Job:
    values = _values(edited(job, offer, now), offer.change)
    before = {name: getattr(job, name) for name in values}
    moved = Job.objects.filter(pk=job.pk, state=JobState.QUEUED, generation=job.generation).update(**values)
    assert moved, "the row is locked"
    for name, value in values.items():
        setattr(job, name, value)
    facts = {"who": str(actor), "cause": _CAUSES[offer.change]}
    record_event(job=job, at=now, now=now, kind="change", reason=Reason.CHANGED, facts=facts, actor=actor)
    record_audit(actor=actor, verb="job.changed", target=job, before=before, after=values, now=now)
    enqueue("jobs.run_cycle")
    return job


def _values(waiting: WaitingJob, change: Change) -> dict[str, Any]:
    """The columns that a change writes."""
    if change is Change.LIMIT:
        return {"time_limit_ms": waiting.time_limit_ms}
    if change is Change.POOL:
        return {"pool_keys": list(waiting.pools)}
    return {"alternatives": [_stored(way.key, way.pod_sets) for way in waiting.alternatives]}


def _stored(key: str, pod_sets: Any) -> dict[str, Any]:
    pods = [
        {"name": p.name, "count": p.count, "lines": [[a.class_key, a.resource.value, n] for a, n in p.lines]}
        for p in pod_sets
    ]
    return {"key": key, "pod_sets": pods}


def _draft(actor: User, job: Job, offer: Offer, now: datetime) -> Request:
    cells = [
        {
            "tenant": cell.tenant,
            "pool": cell.pool,
            "class": cell.axis.class_key,
            "resource": cell.axis.resource.value,
            "nominal": cell.nominal,
            "ceiling": cell.ceiling,
        }
        for cell in offer.found.facts["cells"]
    ]
    asked = {"cells": cells, "job": str(job.pk)}
    known = Request.objects.filter(author=actor, kind="quota", state=Request.State.DRAFT, asked=asked).first()
    if known is not None:
        return known
    draft = Request.objects.create(project=job.project, author=actor, kind="quota", asked=asked, created_at=now)
    record_audit(
        actor=actor, verb="request.drafted", target=job, after={"request": str(draft.pk), "cells": cells}, now=now
    )
    return draft
