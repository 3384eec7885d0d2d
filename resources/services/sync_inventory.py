"""Bring what we know of a cluster in step with what it reports now."""

import logging
from datetime import datetime, timedelta
from typing import Any

from django.db import transaction

from portal.lib.locks import try_session_lock
from resources.drivers.base import ClockReading, Driver, DriverUnavailable
from resources.models import Cluster
from resources.selectors.drivers import driver_for
from resources.services.announce_losses import announce_losses
from resources.services.record_capacity import record_capacity
from resources.services.store_inventory import store_inventory

log = logging.getLogger(__name__)
FACTS_EVERY = timedelta(minutes=5)
"""Storage classes, extensions and the like change seldom."""


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
        sheet = _sheet(cluster, driver, now)
        with transaction.atomic():
            store_inventory(cluster=cluster, inventory=inventory)
            Cluster.objects.filter(pk=cluster.pk).update(
                last_seen_at=inventory.at,
                last_error="",
                simulated=capability.simulated,
                isolation=capability.isolation,
                isolation_detail=capability.isolation_detail[:300],
                **_clock(inventory.clock),
                **sheet,
            )
            record_capacity(cluster=cluster, now=now)
            cluster.last_seen_at = inventory.at
            announce_losses(cluster=cluster, now=now)
    return True


def _clock(reading: ClockReading | None) -> dict[str, Any]:
    """The cluster's clock as columns; nothing when it was not measured this time."""
    if reading is None:
        return {}
    return {"clock_ahead_ms": reading.ahead_ms, "clock_within_ms": reading.within_ms, "clock_at": reading.at}


def _sheet(cluster: Cluster, driver: Driver, now: datetime) -> dict[str, Any]:
    """The fact sheet as columns; nothing when it is new enough, there is none, or it could not be read this time."""
    if cluster.facts_at is not None and timedelta() <= now - cluster.facts_at < FACTS_EVERY:
        return {}
    try:
        facts = driver.facts()
    except DriverUnavailable as error:
        log.warning("cluster %s: its fact sheet was not read: %s", cluster.key, error.detail)
        return {}
    if facts is None:
        return {}
    topics = {
        name: {"presence": str(topic.presence), "why": topic.why, "items": [dict(one) for one in topic.items]}
        for name, topic in facts.topics.items()
    }
    return {"facts": topics, "facts_at": facts.at}
