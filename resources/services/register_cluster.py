"""Attach a cluster."""

from datetime import datetime

from django.db import transaction

from resources.models import Cluster
from tenants import access
from tenants.models import User
from tenants.services.record_audit import record_audit


@transaction.atomic
def register_cluster(
    *,
    actor: User | None,
    key: str,
    name: str,
    driver: str,
    now: datetime,
    location: str = "",
    maintainer: str = "",
) -> Cluster:
    """The cluster, new or already there. Its nodes appear with the next inventory pass."""
    if actor is not None:
        access.require_platform(actor, "cluster.manage")
    cluster, created = Cluster.objects.get_or_create(
        key=key,
        defaults={
            "name": name,
            "driver": driver,
            "location": location,
            "maintainer": maintainer,
            "created_at": now,
        },
    )
    if created:
        after = {"key": key, "driver": driver}
        record_audit(actor=actor, verb="cluster.attached", target=cluster, after=after, now=now)
    return cluster
