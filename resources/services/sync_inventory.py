"""Bring what we know of a cluster in step with what it reports now."""

from datetime import datetime

from django.db import transaction

from portal.lib.locks import try_session_lock
from resources.drivers.base import DriverUnavailable
from resources.models import Cluster
from resources.selectors.drivers import driver_for
from resources.services.announce_losses import announce_losses
from resources.services.record_capacity import record_capacity
from resources.services.store_inventory import store_inventory


def sync_inventory(*, cluster: Cluster, now: datetime) -> bool:
    """True when the cluster answered. Idempotent; one pass at a time per cluster.

    A cluster that does not answer keeps its last facts and their age: stale is shown stale (R-09).
    A partial list proves no absence.
    """
    with try_session_lock(f"inventory:{cluster.pk}") as held:
        if not held:
            return True
        try:
            driver = driver_for(cluster)
            capability, inventory = driver.capability(), driver.inventory()
        except DriverUnavailable as error:
            Cluster.objects.filter(pk=cluster.pk).update(last_error=error.detail[:300])
            record_capacity(cluster=cluster, now=now)
            announce_losses(cluster=cluster, now=now)
            return False
        with transaction.atomic():
            store_inventory(cluster=cluster, inventory=inventory)
            Cluster.objects.filter(pk=cluster.pk).update(
                last_seen_at=inventory.at,
                last_error="",
                simulated=capability.simulated,
                isolation=capability.isolation,
                isolation_detail=capability.isolation_detail[:300],
            )
            record_capacity(cluster=cluster, now=now)
            cluster.last_seen_at = inventory.at
            announce_losses(cluster=cluster, now=now)
    return True
