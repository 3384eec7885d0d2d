"""Add a resource class to the catalogue."""

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction

from resources.models import ResourceClass
from resources.models.catalogue import RESOURCE_OF_KIND
from tenants import access
from tenants.models import User
from tenants.services.record_audit import record_audit


@transaction.atomic
def define_class(
    *,
    actor: User | None,
    key: str,
    name: Mapping[str, str],
    kind: str,
    now: datetime,
    match: Mapping[str, str] | None = None,
    memory_bytes: int | None = None,
) -> ResourceClass:
    """The class, new or already there: a new vendor or model is such a row, not a release (R-04)."""
    if actor is not None:
        access.require_platform(actor, "pool.manage")
    row, created = ResourceClass.objects.get_or_create(
        key=key,
        defaults={
            "name": dict(name),
            "kind": kind,
            "resource": RESOURCE_OF_KIND[kind],
            "match": dict(match or {}),
            "memory_bytes": memory_bytes,
        },
    )
    if created:
        record_audit(actor=actor, verb="class.defined", target=row, after={"key": key, "kind": kind}, now=now)
    return row
