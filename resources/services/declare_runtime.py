"""Declare a runtime: what a job's program runs in, and for which kinds of resource."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db import transaction

from resources.models import Runtime
from tenants import access
from tenants.models import User
from tenants.services.record_audit import record_audit


@transaction.atomic
def declare_runtime(
    *,
    actor: User | None,
    key: str,
    name: Mapping[str, str],
    driver_kind: str,
    kinds: Sequence[str],
    framework: str,
    version: str,
    now: datetime,
    image: str = "",
    runtime_class: str = "",
) -> Runtime:
    """The runtime, new or already there."""
    if actor is not None:
        access.require_platform(actor, "pool.manage")
    row, created = Runtime.objects.get_or_create(
        key=key,
        defaults={
            "name": dict(name),
            "driver_kind": driver_kind,
            "kinds": list(kinds),
            "framework": framework,
            "version": version,
            "image": image,
            "runtime_class": runtime_class,
            "declared_at": now,
        },
    )
    if created:
        after = {"key": key, "kinds": list(kinds)}
        record_audit(actor=actor, verb="runtime.declared", target=row, after=after, now=now)
    return row
