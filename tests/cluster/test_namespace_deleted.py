"""Somebody deletes the namespace of the jobs, and with it the runner's rights: what ran there is concluded all the
same, from what the observer still sees, and nothing is concluded from missing rights alone."""

import pytest

from controlplane import steer
from controlplane.api import STRATEGIC
from jobs.models import Allocation, Attempt
from jobs.services.reconcile_cluster import reconcile_cluster
from jobs.states import JobState
from portal.lib.clock import utc_now
from resources.drivers.kubernetes import names
from resources.selectors.drivers import driver_for
from tests.cast import cast, cast_rows
from tests.cluster.test_portal_on_kubernetes import rights, site, submit, work
from tests.cluster.waiting import until
from tests.cluster.workloads import pods

__all__ = ["cast", "cast_rows", "rights", "site"]
SPACE = "ending-jobs"


@pytest.fixture(scope="module")
def space():
    return SPACE


def test_jobs_in_a_namespace_that_is_deleted_are_concluded_and_the_page_says_what_stays(cast, site, api, client):
    steer.script_pods(api, SPACE, duration="inf", log="hello")
    job = work(site, submit(cast), JobState.RUNNING)
    binding = f"/apis/rbac.authorization.k8s.io/v1/namespaces/{SPACE}/rolebindings/armillary-runner"
    api.delete(binding)
    for _ in range(5):
        reconcile_cluster(cluster=site, now=utc_now())
    job.refresh_from_db()
    assert job.state == JobState.RUNNING, "rights that are missing prove nothing"
    api.delete(f"/api/v1/namespaces/{SPACE}")
    work(site, job, JobState.FAILED, archived=True)
    attempt = Attempt.objects.get(job=job)
    assert attempt.closed and attempt.exit_code is not None, "the pod's own end was read"
    assert Allocation.objects.get(attempt=attempt).state == "RELEASED"
    assert job.archive_note.startswith("LeftBehind") and pods(api, SPACE)
    client.force_login(cast.member)
    page = client.get(f"/jobs/{job.pk}?tab=files").content.decode()
    assert "takes the finalizer armillary/evidence off them" in page
    assert "Log of member 0 not available" in client.get(f"/jobs/{job.pk}?tab=log").content.decode()
    second = work(site, submit(cast), JobState.FAILED)
    assert (second.reason, second.facts["detail"]) == ("RejectedByCluster", "NamespaceMissing")
    take_off(api)
    until(lambda: not pods(api, SPACE), seconds=20)
    observation = driver_for(site).observe()
    assert observation.complete and observation.workloads == ()


def take_off(api):
    """What the page tells the cluster's administrator to do."""
    ours = {"metadata": {"$deleteFromPrimitiveList/finalizers": [names.EVIDENCE]}}
    for pod in pods(api, SPACE):
        api.patch(f"/api/v1/namespaces/{SPACE}/pods/{pod['metadata']['name']}", ours, STRATEGIC)
