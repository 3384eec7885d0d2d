"""Nodes of a real control plane come into service by a pod that ran there: one passes, one fails and says why."""

import time

import pytest

from controlplane import steer
from jobs.models import Job, ReleaseRecord
from jobs.selectors.matrix import matrix
from jobs.selectors.validation import nodes_to_visit, validation_projects, validation_slugs
from jobs.services.publish_container_templates import publish_container_templates
from jobs.services.reconcile_cluster import reconcile_cluster
from jobs.services.run_cycle import run_cycle
from jobs.services.validate_node import validate_node
from jobs.states import JobState
from portal.lib.clock import utc_now
from resources.models import Admission, Node, Pool
from resources.services.set_pool_admission import set_pool_admission
from resources.services.sync_inventory import sync_inventory
from tests.cast import cast, cast_rows
from tests.cluster.test_portal_on_kubernetes import NAMESPACE, nothing_left, rights, site
from tests.cluster.waiting import until

__all__ = ["cast", "cast_rows", "rights", "site"]


@pytest.fixture
def asked(cast, site):
    """From now on nodes of the pool must pass the container check."""
    assert publish_container_templates(now=utc_now()) == 0, "published already"
    pool = Pool.objects.get(key="gpus")
    assert "check-container" in validation_slugs(pool)
    set_pool_admission(
        actor=cast.platform_admin,
        pool=pool,
        admission=Admission.VALIDATE,
        template="check-container",
        project=cast.alpha,
        keep_present=False,
        now=utc_now(),
        note="R-10",
        templates_for=validation_slugs,
        projects_for=lambda row: validation_projects(row, utc_now()),
    )
    return site


def passes(site, *, until_stages: set[str], seconds: float = 40.0) -> dict[str, str]:
    """The passes of the worker, until every node of the pool is in one of these stages and nothing is under way."""
    deadline = time.monotonic() + seconds
    while True:
        now = utc_now()
        for node in Node.objects.filter(pk__in=nodes_to_visit(now)):
            validate_node(node=node, now=now)
        run_cycle(now=now)
        reconcile_cluster(cluster=site, now=now)
        nodes = Node.objects.filter(pool__key="gpus")
        settled = {n.stage for n in nodes} <= until_stages and not nodes.filter(trial_job__isnull=False).exists()
        if settled and all("reason" in node.trial or node.proof for node in nodes):
            return {node.name: node.stage for node in nodes}
        said = list(Job.objects.values_list("name", "state", "reason", "facts"))
        assert time.monotonic() < deadline, (list(nodes.values_list("name", "stage", "standing", "trial")), said)
        time.sleep(0.1)


def test_a_node_whose_pod_succeeds_comes_into_service_with_all_its_devices_proved(asked, api):
    steer.script_pods(api, NAMESPACE, duration=0.5, log="fit", exit_code=0)
    assert {node.stage for node in Node.objects.filter(pool__key="gpus")} == {"discovered"}
    assert set(passes(asked, until_stages={"schedulable"}).values()) == {"schedulable"}
    node = Node.objects.get(name="gpu-1")
    job = Job.objects.get(validates=node)
    assert node.proof["job"] == str(job.pk) and ["card", "device", 8 * 42_000] in node.proof["used"]
    assert node.proof["facts"]["devices"]["nvidia.com/gpu"]["devices"] == 8
    assert node.proof["facts"]["runtime"] == node.container_runtime != ""
    assert ReleaseRecord.objects.get(allocation__attempt__job=job).completed_at
    assert job.attempts.get().placement[0]["node"] == "gpu-1"
    (row,) = [row for row in matrix(class_key="card") if row.runtime == "tools"]
    cell = dict(row.cells)["batch"]
    assert (cell.state, cell.unproved) == ("verified", ())
    until(lambda: nothing_left(api), seconds=10)
    assert sync_inventory(cluster=asked, now=utc_now())
    assert Node.objects.get(pk=node.pk).stage == "schedulable", "the next inventory finds what was proved"


def test_a_node_whose_pod_fails_stays_discovered_with_the_reason(asked, api):
    steer.script_pods(api, NAMESPACE, duration=0.3, log="broken", exit_code=3)
    assert set(passes(asked, until_stages={"discovered"}).values()) == {"discovered"}
    node = Node.objects.get(name="gpu-2")
    job = Job.objects.get(validates=node)
    assert (job.state, node.standing, node.trial["reason"]) == (JobState.FAILED, "ValidationFailed", job.reason)
    assert node.trial["job"] == str(job.pk) and node.trial["next"] and not node.proof
    steer.script_pods(api, NAMESPACE, duration=0.3, log="", exit_code=0)
    until(lambda: nothing_left(api), seconds=10)
