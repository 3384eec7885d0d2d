"""What a hint is for: a device that a finished job gave back shows free within five seconds, without a pass by the
clock."""

import threading
import time

from controlplane import steer
from jobs.models import Allocation
from jobs.selectors.held import held_by_node
from jobs.services import listen_clusters as module
from jobs.services.cancel_job import cancel_job
from jobs.services.listen_clusters import listen_clusters
from jobs.services.reconcile_cluster import reconcile_cluster
from jobs.states import JobState
from portal.lib.clock import utc_now
from resources.drivers.base import Topic
from resources.models import ClusterEndpoint, Node
from resources.selectors.drivers import driver_for
from resources.services.sync_inventory import sync_inventory
from tests.cast import cast, cast_rows
from tests.cluster.test_portal_on_kubernetes import NAMESPACE, rights, site, submit, work

__all__ = ["cast", "cast_rows", "rights", "site"]
FREE_S, MOST_A_SECOND = 5.0, 10


def test_a_device_freed_by_a_finished_job_shows_free_within_five_seconds(cast, site, api, monkeypatch):
    steer.script_pods(api, NAMESPACE, duration=4.0, log="hello")
    job = work(site, submit(cast), JobState.RUNNING)
    held = Allocation.objects.get(attempt__job=job)
    nodes = list(Node.objects.filter(cluster=site))
    assert any(held_by_node(nodes).values())
    looked: list[float] = []

    def look(task: str, key: str) -> None:
        if task == "jobs.reconcile_cluster" and key == str(site.pk):
            looked.append(time.monotonic())
            reconcile_cluster(cluster=site, now=utc_now())

    monkeypatch.setattr(module, "enqueue", look)
    before = threading.active_count()
    deadline = time.monotonic() + 20
    while held.state != "RELEASED" and time.monotonic() < deadline:
        listen_clusters(seconds=5.0)
        assert threading.active_count() <= before, "an ear outlived its owner"
        held.refresh_from_db()
    job.refresh_from_db()
    assert job.state == JobState.SUCCEEDED
    assert (held.released_at - job.finished_at).total_seconds() <= FREE_S
    assert not any(held_by_node(nodes).values())
    assert 1 <= len(looked) <= 8


def test_listening_and_looking_together_ask_little(cast, site, api, fault_proxy, monkeypatch):
    """A job runs, nothing changes: passes every second, an inventory, both ears."""
    steer.script_pods(api, NAMESPACE, duration="inf", log="hello")
    given = ClusterEndpoint.objects.get(cluster=site)
    ClusterEndpoint.objects.filter(pk=given.pk).update(server=fault_proxy.url, version=given.version + 1)
    job = work(site, submit(cast), JobState.RUNNING)
    sync_inventory(cluster=site, now=utc_now())
    driver = driver_for(site)
    time.sleep(2.0)
    before, seconds = len(fault_proxy.requests), 6
    ears = [threading.Thread(target=driver.listen, args=(topic,), kwargs={"seconds": seconds, "hint": lambda: None})
            for topic in Topic]  # fmt: skip
    for ear in ears:
        ear.start()
    for second in range(seconds):
        reconcile_cluster(cluster=site, now=utc_now())
        if second == 0:
            sync_inventory(cluster=site, now=utc_now())
        time.sleep(1.0)
    for ear in ears:
        ear.join()
    asked = [target for _method, target in fault_proxy.requests[before:]]
    assert len([target for target in asked if "watch=1" in target]) == 2
    assert len(asked) / seconds <= MOST_A_SECOND, asked
    cancel_job(actor=cast.member, job=job, now=utc_now())
    work(site, job, JobState.CANCELLED, archived=True)
