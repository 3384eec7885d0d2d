"""Celery's way into resources: load by id, call the service."""

import logging

from celery import shared_task

from portal.lib.clock import utc_now
from portal.lib.queue import begun, enqueue
from resources.models import Cluster
from resources.services.renew_review import renew_review
from resources.services.settle_cordons import settle_cordons
from resources.services.sync_inventory import sync_inventory

log = logging.getLogger(__name__)


@shared_task(name="resources.sync_all")
def sync_all() -> None:
    """One pass over every attached cluster, each as a task of its own: one that hangs holds up no other."""
    for key in Cluster.objects.exclude(state=Cluster.State.DETACHED).values_list("pk", flat=True):
        enqueue("resources.sync_cluster", str(key))


@shared_task(name="resources.sync_cluster")
def sync_cluster(cluster_id: str) -> None:
    """One pass over one cluster."""
    begun("resources.sync_cluster", cluster_id)
    for cluster in Cluster.objects.filter(pk=cluster_id):
        sync_inventory(cluster=cluster, now=utc_now())
        settle_cordons(cluster=cluster, now=utc_now())


@shared_task(name="resources.settle_cordons")
def settle_cordons_of(cluster_id: str) -> None:
    """What was asked of one cluster's nodes, as soon as it was asked."""
    begun("resources.settle_cordons", cluster_id)
    for cluster in Cluster.objects.filter(pk=cluster_id):
        settle_cordons(cluster=cluster, now=utc_now())


def sync_here() -> None:
    """One pass over every attached cluster in this process, where no worker runs yet."""
    for cluster in Cluster.objects.exclude(state=Cluster.State.DETACHED):
        try:
            sync_inventory(cluster=cluster, now=utc_now())
        except Exception:
            log.exception("cluster %s: its inventory failed, the others go on", cluster.key)


@shared_task(name="resources.review_all")
def review_all() -> None:
    """What the credentials of every attached cluster may do, where that is not known or old; a task for each."""
    reached = Cluster.objects.exclude(state=Cluster.State.DETACHED).filter(endpoint__isnull=False)
    for key in reached.values_list("pk", flat=True):
        enqueue("resources.review_cluster", str(key))


@shared_task(name="resources.review_cluster")
def review_cluster(cluster_id: str) -> None:
    """The same for one cluster."""
    begun("resources.review_cluster", cluster_id)
    for cluster in Cluster.objects.filter(pk=cluster_id):
        renew_review(cluster=cluster, now=utc_now())
