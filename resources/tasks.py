"""Celery's way into resources: load by id, call the service."""

from celery import shared_task

from portal.lib.clock import utc_now
from resources.models import Cluster
from resources.services.sync_inventory import sync_inventory


@shared_task(name="resources.sync_all")
def sync_all() -> None:
    """One pass over every attached cluster."""
    for cluster in Cluster.objects.exclude(state=Cluster.State.DETACHED):
        sync_inventory(cluster=cluster, now=utc_now())
