"""Celery's way into resources: load by id, call the service."""

import logging

from celery import shared_task

from portal.lib.clock import utc_now
from resources.models import Cluster
from resources.services.sync_inventory import sync_inventory

log = logging.getLogger(__name__)


@shared_task(name="resources.sync_all")
def sync_all() -> None:
    """One pass over every attached cluster."""
    for cluster in Cluster.objects.exclude(state=Cluster.State.DETACHED):
        try:
            sync_inventory(cluster=cluster, now=utc_now())
        except Exception:
            log.exception("cluster %s: its inventory failed, the others go on", cluster.key)
