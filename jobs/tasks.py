"""Celery's way into jobs: load by id, call the service."""

import logging
import time

from celery import shared_task

from jobs.selectors.validation import nodes_to_visit
from jobs.services.archive_unstarted import archive_unstarted
from jobs.services.judge_health import judge_health
from jobs.services.listen_clusters import listen_clusters
from jobs.services.publish_container_templates import publish_container_templates
from jobs.services.reconcile_cluster import reconcile_cluster
from jobs.services.run_cycle import run_cycle
from jobs.services.validate_node import validate_node
from portal.lib.clock import utc_now
from portal.lib.queue import begun, enqueue
from resources.models import Cluster, Node

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


@shared_task(name="jobs.pass_cluster")
def pass_cluster_task(cluster_id: str) -> None:
    """One pass over one cluster, because it is time. One under way is enough: nothing waits for it."""
    begun("jobs.pass_cluster", cluster_id)
    for cluster in Cluster.objects.filter(pk=cluster_id):
        reconcile_cluster(cluster=cluster, now=utc_now())


@shared_task(name="jobs.reconcile_all")
def reconcile_all_task() -> None:
    """A pass over every cluster that is not detached, each as a task of its own: one that hangs holds up no other.
    Then the jobs that never reached one."""
    for key in Cluster.objects.exclude(state=Cluster.State.DETACHED).values_list("pk", flat=True):
        enqueue("jobs.pass_cluster", str(key))
    archive_unstarted(now=utc_now())


@shared_task(name="jobs.listen")
def listen_task() -> None:
    """Hear of changes until the next of its kind."""
    listen_clusters()


@shared_task(name="jobs.validate_nodes")
def validate_nodes_task() -> None:
    """One step of every node that is due for one; before that the templates its cluster may need."""
    publish_container_templates(now=utc_now())
    for node in Node.objects.filter(pk__in=nodes_to_visit(utc_now())):
        try:
            validate_node(node=node, now=utc_now())
        except Exception:
            log.exception("node %s: its validation failed, the others go on", node.name)


@shared_task(name="jobs.judge_health")
def judge_health_task() -> None:
    """Nodes on which the platform failed several jobs leave service."""
    judge_health(now=utc_now())
