"""Submit a job from a template."""

import hashlib
import json
from datetime import datetime

from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _

from jobs.models import IdempotencyKey, Job, TemplateVersion
from jobs.reasons import Reason
from jobs.request import JobRequest
from jobs.scheduler.decision import Never
from jobs.selectors.verdict import judge
from jobs.services.build_job import build_job
from jobs.services.record_event import record_event
from portal.lib.errors import Conflict, Invalid
from portal.lib.failpoints import failpoint
from portal.lib.queue import enqueue
from tenants.models import Project, User
from tenants.services.record_audit import record_audit


def submit_job(
    *,
    actor: User,
    project: Project,
    version: TemplateVersion,
    request: JobRequest,
    now: datetime,
    idempotency_key: str = "",
    run_again_of: Job | None = None,
) -> Job:
    """The queued job. With a key, the same request gives the same job again and another request is a Conflict.

    Raises Denied, Invalid (fields), or Invalid with the NEVER reason and its numbers: what can never start is
    not queued.
    """
    fingerprint = _fingerprint(project, version, request)
    known = _known(actor, idempotency_key, fingerprint)
    if known is not None:
        return known
    job = build_job(actor=actor, project=project, version=version, request=request, now=now)
    decision = judge(job, now, alone=True).decision
    if isinstance(decision, Never):
        reason = decision.why.reason
        raise Invalid(reason.value, _(reason.message), facts={**decision.why.facts, "verdict": "never"})
    job.run_again_of = run_again_of
    try:
        with transaction.atomic():
            _save(job, actor, now, idempotency_key, fingerprint)
    except IntegrityError:
        # The same key came twice at once: the other call's job is the answer.
        known = _known(actor, idempotency_key, fingerprint)
        if known is None:
            raise
        return known
    return job


def _save(job: Job, actor: User, now: datetime, key: str, fingerprint: str) -> None:
    job.save(force_insert=True)
    if key:
        IdempotencyKey.objects.create(user=actor, key=key, fingerprint=fingerprint, job=job, created_at=now)
    record_event(job=job, at=now, now=now, kind="state", new=job.state, reason=Reason.SUBMITTED, actor=actor)
    failpoint("jobs.submit.before_audit")
    after = {"name": job.name, "template": job.template_version.template.slug, "task_type": job.task_type}
    record_audit(actor=actor, verb="job.submitted", target=job, after=after, now=now)
    enqueue("jobs.run_cycle")


def _known(actor: User, key: str, fingerprint: str) -> Job | None:
    row = IdempotencyKey.objects.filter(user=actor, key=key).select_related("job").first() if key else None
    if row is None:
        return None
    if row.fingerprint != fingerprint:
        raise Conflict(
            "IdempotencyKeyReused",
            _("This Idempotency-Key was already used for another request."),
            facts={"key": key, "job": str(row.job_id)},
        )
    return row.job


def _fingerprint(project: Project, version: TemplateVersion, request: JobRequest) -> str:
    body = [str(project.pk), str(version.pk), {name: getattr(request, name) for name in JobRequest.__slots__}]
    text = json.dumps(body, sort_keys=True, default=repr, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
