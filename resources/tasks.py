"""Celery's way into resources: load by id, call the service."""

import logging

from celery import shared_task

from portal.lib.clock import utc_now
from resources.models import Cluster
from resources.services.renew_review import renew_review
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


@shared_task(name="resources.review_all")
def review_all() -> None:
    """What the credentials of every attached cluster may do, where that is not known or old."""
    for cluster in Cluster.objects.exclude(state=Cluster.State.DETACHED).filter(endpoint__isnull=False):
        try:
            renew_review(cluster=cluster, now=utc_now())
        except Exception:
            log.exception("cluster %s: its permissions were not reviewed, the others go on", cluster.key)
