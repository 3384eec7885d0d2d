"""Declare a fact of a resource class, with its source and date."""

from datetime import date, datetime
from typing import Final

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from portal.lib.errors import Conflict, FieldError, Invalid
from resources.inputs import checked
from resources.models import ClassFact, ResourceClass
from tenants import access
from tenants.models import User
from tenants.services.record_audit import record_audit

PRECISIONS: Final = ("FP64", "FP32", "TF32", "BF16", "FP16", "FP8", "INT8", "INT4")
_COUNTED: Final = (ClassFact.Topic.THROUGHPUT, ClassFact.Topic.ISLAND, ClassFact.Topic.NUMA)
NO_TOPIC = _("There is no such topic.")
NO_PRECISION = _("Name the precision it holds for: {options}.")
NO_SUBJECT = _("Name what is supported, with its version.")
NO_AMOUNT = _("Write how much it is.")
NO_SUPPORT = _("Say whether it is supported.")
NOT_HERE = _("This does not belong to the topic.")
IN_FUTURE = _("A fact cannot be of a day to come.")


@transaction.atomic
def declare_fact(
    *,
    actor: User | None,
    resource_class: ResourceClass,
    topic: str,
    source: str,
    as_of: date,
    now: datetime,
    subject: str = "",
    amount: int | None = None,
    support: str = "",
    note: str = "",
) -> ClassFact:
    """The fact; it ends the one on the same subject, which stays in the history.

    `amount`: operations per second of a throughput, devices of an island, NUMA nodes of a host.
    Raises Conflict (`ClassRetired`) for a retired class.
    """
    if actor is not None:
        access.require_platform(actor, "policy.manage")
    said = checked(subject=subject, amount=amount, source=source, as_of=as_of, note=note)
    because = said.pop("note")
    _require_shape(topic, said["subject"], amount, support)
    if said["as_of"] > now.date():
        raise Invalid.of(FieldError("as_of", "InFuture", IN_FUTURE, {}))
    row = ResourceClass.objects.select_for_update().get(pk=resource_class.pk)
    if row.retired_at:
        raise Conflict("ClassRetired", _("{key} is retired and stays as it is."), facts={"key": row.key})
    ended = ClassFact.objects.filter(
        resource_class=row, topic=topic, subject=said["subject"], withdrawn_at__isnull=True
    )
    before = {"fact": _told(old)} if (old := ended.first()) else {}
    ended.update(withdrawn_at=now)
    fact = ClassFact.objects.create(
        resource_class=row, topic=topic, support=support, declared_at=now, declared_by=actor, **said
    )
    record_audit(
        actor=actor, verb="class.fact_declared", target=row, before=before, after={"fact": _told(fact)}, note=because,
        now=now,
    )  # fmt: skip
    return fact


def _require_shape(topic: str, subject: str, amount: int | None, support: str) -> None:
    """Raise Invalid unless the topic has what it needs and nothing else."""
    if topic not in ClassFact.Topic.values:
        raise Invalid.of(FieldError("topic", "UnknownTopic", NO_TOPIC, {}))
    errors = []
    if topic in _COUNTED:
        if amount is None:
            errors.append(FieldError("amount", "AmountMissing", NO_AMOUNT, {}))
        if support:
            errors.append(FieldError("support", "NotHere", NOT_HERE, {}))
        if topic == ClassFact.Topic.THROUGHPUT and subject not in PRECISIONS:
            facts = {"options": ", ".join(PRECISIONS)}
            errors.append(FieldError("subject", "PrecisionMissing", NO_PRECISION, facts))
    else:
        if amount is not None:
            errors.append(FieldError("amount", "NotHere", NOT_HERE, {}))
        if support not in ClassFact.Support.values:
            errors.append(FieldError("support", "SupportMissing", NO_SUPPORT, {}))
        if not subject:
            errors.append(FieldError("subject", "SubjectMissing", NO_SUBJECT, {}))
    if errors:
        raise Invalid.of(*errors)


def _told(fact: ClassFact) -> dict[str, object]:
    return {name: getattr(fact, name) for name in ("topic", "subject", "amount", "support", "source")} | {
        "as_of": fact.as_of.isoformat()
    }
