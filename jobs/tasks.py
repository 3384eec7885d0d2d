"""Celery's way into jobs: load by id, call the service."""

import logging
import time

from celery import shared_task

from jobs.services.archive_unstarted import archive_unstarted
from jobs.services.reconcile_cluster import reconcile_cluster
from jobs.services.run_cycle import run_cycle
from portal.lib.clock import utc_now
from portal.lib.queue import begun
from resources.models import Cluster

log = logging.getLogger(__name__)
WAITS, WAIT_SECONDS = 40, 0.05


@shared_task(name="jobs.run_cycle")
def run_cycle_task() -> None:
    """One pass of the scheduler."""
    begun("jobs.run_cycle")
    run_cycle(now=utc_now())


@shared_task(name="jobs.reconcile_cluster")
def reconcile_cluster_task(cluster_id: str) -> None:
    """One pass over one cluster. Another under way may have looked before this was asked for: it is waited for."""
    begun("jobs.reconcile_cluster", cluster_id)
    cluster = Cluster.objects.filter(pk=cluster_id).first()
    for _wait in range(WAITS):
        if cluster is None or reconcile_cluster(cluster=cluster, now=utc_now()) is not None:
            return
        time.sleep(WAIT_SECONDS)


@shared_task(name="jobs.reconcile_all")
def reconcile_all_task() -> None:
    """One pass over every cluster that is not detached; then the jobs that never reached one."""
    for cluster in Cluster.objects.exclude(state=Cluster.State.DETACHED):
        try:
            reconcile_cluster(cluster=cluster, now=utc_now())
        except Exception:
            log.exception("cluster %s: this pass failed, the others go on", cluster.key)
    archive_unstarted(now=utc_now())
