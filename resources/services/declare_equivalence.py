"""Declare that jobs of one type that ask for a class may be given another: one way, on evidence, until a day."""

import uuid
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Final

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from portal.lib.errors import Conflict, FieldError, Invalid
from resources.inputs import checked
from resources.models import ClassEquivalence, ResourceClass
from resources.task_types import TASK_TYPES
from tenants import access
from tenants.models import User
from tenants.services.record_audit import record_audit

LONGEST: Final = timedelta(days=731)
NO_TASK = _("There is no such task type.")
SAME = _("A class needs no equivalence with itself.")
NO_EVIDENCE = _("Give evidence: a job of the portal, or what was measured and where it can be read.")
NO_JOB = _("There is no such job, or none you may see.")
BAD_END = _("It must end after now, and within {days} days.")
RETIRED = _("{key} is retired and stays as it is.")


@transaction.atomic
def declare_equivalence(
    *,
    actor: User | None,
    of: ResourceClass,
    by: ResourceClass,
    task_type: str,
    valid_to: datetime,
    now: datetime,
    evidence: str = "",
    evidence_job: uuid.UUID | None = None,
    job_seen: Callable[[uuid.UUID], bool] = lambda _key: False,
    note: str = "",
) -> ClassEquivalence:
    """The declaration. It says nothing about the other direction, and nothing places jobs by it yet.

    `job_seen` says whether the actor may see a job. Raises Conflict (`EquivalenceInForce`) while one holds.
    """
    if actor is not None:
        access.require_platform(actor, "policy.manage")
    said = checked(evidence=evidence, evidence_job=evidence_job, note=note)
    because, job = said.pop("note"), said.get("evidence_job")
    _require(of, by, task_type, valid_to, now, said["evidence"], job)
    if job is not None and not job_seen(job):
        raise Invalid.of(FieldError("evidence_job", "NoSuchJob", NO_JOB, {}))
    rows = ResourceClass.objects.select_for_update().filter(pk__in=(of.pk, by.pk)).order_by("pk")
    for row in rows:
        if row.retired_at:
            raise Conflict("ClassRetired", RETIRED, facts={"key": row.key})
    _end_the_old(of, by, task_type, now)
    made = ClassEquivalence.objects.create(
        of=of, by=by, task_type=task_type, valid_to=valid_to, declared_at=now, declared_by=actor, **said
    )
    after = {
        "of": of.key, "by": by.key, "task_type": task_type, "valid_to": valid_to, "evidence": said["evidence"],
        "evidence_job": str(job) if job else "",
    }  # fmt: skip
    record_audit(actor=actor, verb="class.equivalence_declared", target=of, after=after, note=because, now=now)
    return made


def _require(
    of: ResourceClass,
    by: ResourceClass,
    task_type: str,
    valid_to: datetime,
    now: datetime,
    evidence: str,
    job: uuid.UUID | None,
) -> None:
    errors = []
    if task_type not in TASK_TYPES:
        errors.append(FieldError("task_type", "UnknownTaskType", NO_TASK, {}))
    if of.pk == by.pk:
        errors.append(FieldError("by", "SameClass", SAME, {}))
    if not evidence and job is None:
        errors.append(FieldError("evidence", "EvidenceMissing", NO_EVIDENCE, {}))
    if not now < valid_to <= now + LONGEST:
        errors.append(FieldError("valid_to", "BadEnd", BAD_END, {"days": LONGEST.days}))
    if errors:
        raise Invalid.of(*errors)


def _end_the_old(of: ResourceClass, by: ResourceClass, task_type: str, now: datetime) -> None:
    """One that has run out makes room; one in force is withdrawn by its own act, with a reason."""
    stored = ClassEquivalence.objects.filter(of=of, by=by, task_type=task_type, withdrawn_at__isnull=True).first()
    if stored is None:
        return
    if stored.valid_to > now:
        raise Conflict(
            "EquivalenceInForce",
            _("This is declared already, until {end}. Withdraw it first to declare it anew."),
            facts={"end": stored.valid_to.date().isoformat()},
        )
    stored.withdrawn_at = stored.valid_to
    stored.save(update_fields=["withdrawn_at"])
