"""One step of a node's validation: ask for the job that is due, or note how the one that was asked for ended (R-10)."""

from datetime import datetime
from typing import Any

from django.db import transaction

from jobs.models import Job, ReleaseRecord
from jobs.reasons import Reason
from jobs.request import NAME_LENGTH, JobRequest
from jobs.selectors.offers import job_of, offer_of
from jobs.selectors.reach import kind_of
from jobs.selectors.validation import can_never_start, device_lines, is_due, version_for
from jobs.services.record_event import record_event
from jobs.services.transition import transition
from jobs.states import AllocationState, JobState
from portal.lib.errors import DomainError, Invalid
from portal.lib.failpoints import failpoint
from portal.lib.queue import enqueue
from resources.drivers.base import WHOLE_DEVICE
from resources.models import Node
from resources.services.close_trial import close_trial
from resources.services.open_trial import open_trial
from tenants.services.record_audit import record_audit


@transaction.atomic
def validate_node(*, node: Node, now: datetime) -> bool:
    """True when this call took a step. Idempotent: with the node locked, so that it has one validation job at a time.

    A run proves the node when its job succeeded and everything it held was seen free (a completed ReleaseRecord);
    until then it is under way. A kill before the commit leaves nothing: the next pass takes the step.
    """
    rows = Node.objects.select_for_update(of=("self",), no_key=True)
    row = (
        rows.select_related("cluster", "pool__validation_project__team", "pool__validation_by")
        .prefetch_related("groups__resource_class", "groups__devices")
        .get(pk=node.pk)
    )
    if row.trial_job is not None:
        return _follow(row, now)
    return _begin(row, now) if is_due(row, now) else False


def _begin(node: Node, now: datetime) -> bool:
    try:
        job = _job(node, now)
    except DomainError as error:
        fields = {field.field: field.reason for field in error.fields}
        close_trial(node=node, passed=False, reason=error.reason, facts=fields, now=now)
        return True
    job.save(force_insert=True)
    record_event(job=job, at=now, now=now, kind="state", new=job.state, reason=Reason.SUBMITTED)
    failpoint("jobs.validate.before_open")
    lines = job.alternatives[0]["pod_sets"][0]["lines"]
    open_trial(node=node, job=job.pk, ref=job.ref, used=lines, now=now)
    after = {"name": job.name, "template": job.template_version.template.slug, "task_type": job.task_type}
    record_audit(actor=None, verb="job.submitted", target=job, after={**after, "validates": node.name}, now=now)
    enqueue("jobs.run_cycle")
    return True


def _job(node: Node, now: datetime) -> Job:
    """The unsaved job of all its devices, as its pool's rule has it. Raises DomainError where that cannot be met."""
    pool = node.pool
    assert pool is not None
    project, person, version = pool.validation_project, pool.validation_by, version_for(pool)
    if project is None or person is None or project.archived_at is not None:
        raise Invalid("ProjectArchived", "")
    if version is None:
        raise Invalid("TemplateRetired", "")
    if kind_of(version.spec) != node.cluster.driver:
        raise Invalid("TemplateOfAnotherKind", "")
    lines, has_devices = device_lines(node, version.spec["devices"]["maximum"])
    if has_devices and not lines and version.spec["devices"]["maximum"]:
        raise Invalid("NoUsableDevice", "")
    first: dict[str, Any] = {"devices": "0"}
    if lines:
        first = {"device_class": lines[0][0], "devices": str(lines[0][2] // WHOLE_DEVICE)}
    name = f"Validate {node.name}"[:NAME_LENGTH]
    request = JobRequest(name=name, members="1", pool=pool.key, **first)
    offer = offer_of(version, project, now)
    job = job_of(offer, actor=person, project=project, version=version, request=request, now=now)
    job.alternatives[0]["pod_sets"][0]["lines"] += lines[1:]
    job.validates, job.max_attempts = node, 1
    return job


def _follow(node: Node, now: datetime) -> bool:
    job = Job.objects.filter(pk=node.trial_job).first() if node.trial_job else None
    if job is None:
        close_trial(node=node, passed=False, reason="JobGone", now=now)
        return True
    if can_never_start(job):
        reason, facts = job.reason, job.facts
        cause = {"cause": reason}
        if not transition(job=job, to=JobState.FAILED, reason=Reason.NEVER_FITS, facts=cause, now=now):
            return False
        close_trial(node=node, passed=False, reason=reason, facts=facts, now=now)
        return True
    if not job.is_final or (job.state == JobState.SUCCEEDED and not _released(job)):
        return False
    failpoint("jobs.validate.before_close")
    passed = job.state == JobState.SUCCEEDED
    close_trial(node=node, passed=passed, reason="" if passed else job.reason, facts=job.facts, now=now)
    return True


def _released(job: Job) -> bool:
    """Whether all that its attempt held was seen free, and the proof of it is written."""
    records = ReleaseRecord.objects.filter(allocation__attempt__job=job)
    held = records.exclude(allocation__state=AllocationState.RELEASED)
    return records.filter(completed_at__isnull=False).exists() and not held.exists()
