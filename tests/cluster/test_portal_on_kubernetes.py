"""A job's whole way on a real control plane: attached with least privilege, found, placed, run, released, metered."""

import time
from datetime import timedelta

import pytest

from controlplane import steer
from jobs.models import Allocation, Attempt, Job, ReleaseRecord, TemplateVersion
from jobs.request import JobRequest
from jobs.selectors.workload import workload_of
from jobs.services.cancel_job import cancel_job
from jobs.services.publish_shipped_templates import publish_shipped_templates
from jobs.services.reconcile_cluster import reconcile_cluster
from jobs.services.run_cycle import run_cycle
from jobs.services.submit_job import submit_job
from jobs.shipped.containers import TEMPLATES
from jobs.states import JobState
from portal.lib.clock import utc_now
from resources.attaching import ConnectionGiven
from resources.drivers.base import DriverUnavailable
from resources.drivers.kubernetes.build import job_of
from resources.drivers.kubernetes.connection import Right
from resources.drivers.kubernetes.driver import KubernetesDriver
from resources.models import Cluster, Node
from resources.services.attach_kubernetes import attach_kubernetes
from resources.services.declare_runtime import declare_runtime
from resources.services.sync_inventory import sync_inventory
from tenants.services.grant_pool import grant_pool
from tests import builders as make
from tests.cast import cast, cast_rows
from tests.cluster.roles import apply_role
from tests.cluster.test_kubernetes_driver import LOOPBACK
from tests.cluster.waiting import until
from tests.cluster.workloads import NAMESPACE, create_pod, pod, pods

__all__ = ["NAMESPACE", "cast", "cast_rows"]


@pytest.fixture
def site(cast, control_plane, server, space, rights, settings, tmp_path):
    """The attached cluster, looked at once; its GPU nodes are a pool that project alpha is granted."""
    settings.STATE_DIR = tmp_path
    settings.CLUSTER_NETWORKS = LOOPBACK
    now = utc_now()
    card = make.make_class("card", "GPU", price=5_000_000, weight=1)
    type(card).objects.filter(pk=card.pk).update(match={"resource_name": "nvidia.com/gpu"})
    pool = make.make_pool("gpus")
    type(pool).objects.filter(pk=pool.pk).update(selector={"cluster": "lab", "nvidia.com/gpu.present": "true"})
    given = ConnectionGiven(
        server=server,
        authority=(control_plane.folder.pki / "ca.crt").read_text(encoding="utf-8"),
        namespace=space,
        tokens=rights,
    )
    cluster = attach_kubernetes(actor=None, key="lab", name="Lab", given=given, now=now)
    assert sync_inventory(cluster=cluster, now=now)
    declare_runtime(
        actor=None, key="tools", name={"en": "Tools"}, driver_kind="kubernetes", kinds=["CPU", "GPU"], framework="",
        version="1", image="registry.invalid/tools:1", now=now,
    )  # fmt: skip
    grant_pool(actor=None, tenant=cast.alpha, pool_key="gpus", now=now, valid_from=now - timedelta(days=1))
    publish_shipped_templates(now=now, templates=TEMPLATES)
    return cluster


@pytest.fixture(scope="module")
def rights(api, space):
    """Tokens of the roles that the portal's own manifests make: exactly what trust.md allows."""
    return {right: apply_role(api, right, space) for right in (Right.OBSERVER, Right.RUNNER)}


def work(site: Cluster, job: Job, until: JobState, *, seconds: float = 20.0, archived: bool = False) -> Job:
    """Passes of the cycle and of reconcile, as the worker makes them, until the job is there."""
    deadline = time.monotonic() + seconds
    while True:
        now = utc_now()
        run_cycle(now=now)
        reconcile_cluster(cluster=site, now=now)
        job.refresh_from_db()
        if job.state == until and (job.archived_at is not None) >= archived:
            return job
        assert time.monotonic() < deadline, (job.state, job.reason, job.facts)
        time.sleep(0.1)


def submit(cast, **fields):
    version = TemplateVersion.objects.get(template__slug="check-container")
    request = JobRequest(
        **({"name": "check", "params": {}, "members": 1, "pool": "gpus", "cpu": "500m", "memory": "512Mi",
            "devices": "2", "device_class": "card"} | fields)
    )  # fmt: skip
    return submit_job(actor=cast.member, project=cast.alpha, version=version, request=request, now=utc_now())


def test_nodes_are_found_as_they_are(site):
    nodes = {node.name: node for node in Node.objects.filter(cluster=site)}
    assert {"gpu-1", "gpu-2", "npu-1", "cpu-1", "cpu-2"} <= nodes.keys()
    (group,) = nodes["gpu-1"].groups.all()
    assert (group.resource_name, group.resource_class.key, group.devices.count()) == ("nvidia.com/gpu", "card", 8)
    assert nodes["gpu-1"].pool.key == "gpus" and nodes["cpu-1"].pool is None
    assert nodes["npu-1"].groups.get().kind == "NPU"


def test_a_job_runs_is_released_and_its_log_is_kept(cast, site, api):
    steer.script_pods(api, NAMESPACE, duration=1.0, log="hello from a pod")
    job = submit(cast)
    work(site, job, JobState.RUNNING)
    (attempt,) = Attempt.objects.filter(job=job)
    assert attempt.placement[0]["node"] in ("gpu-1", "gpu-2")
    work(site, job, JobState.SUCCEEDED, archived=True)
    attempt.refresh_from_db()
    times = [attempt.admitted_at, attempt.bound_at, attempt.started_at, attempt.stopped_at, attempt.released_at]
    assert None not in times and times == sorted(times)
    held = Allocation.objects.get(attempt=attempt)
    record = ReleaseRecord.objects.get(allocation=held)
    assert (held.state, record.device_state) == ("RELEASED", "not_observed")
    assert record.objects_gone_at and record.capacity_free_at and record.device_idle_at is None
    until(lambda: nothing_left(api), seconds=10)


def nothing_left(api):
    """Whether no Job and no pod is there any more."""
    kinds = ("apis/batch/v1/namespaces/{}/jobs", "api/v1/namespaces/{}/pods")
    return not any(api.get("/" + kind.format(NAMESPACE))["items"] for kind in kinds)


def test_a_job_that_is_cancelled_is_stopped_on_the_cluster(cast, site, api):
    steer.script_pods(api, NAMESPACE, duration="inf", log="hello")
    job = work(site, submit(cast), JobState.RUNNING)
    cancel_job(actor=cast.member, job=job, now=utc_now())
    work(site, job, JobState.CANCELLED, archived=True)
    until(lambda: nothing_left(api), seconds=10)


def test_what_others_hold_is_not_given_away(cast, site, api):
    steer.script_pods(api, NAMESPACE, duration=0.5, log="hello")
    create_pod(api, "default", pod("other", steer.annotations(duration="inf"), resources={"nvidia.com/gpu": "8"}))
    deadline = time.monotonic() + 10
    while not any(n.foreign.get("nvidia.com/gpu") for n in Node.objects.filter(cluster=site)):
        sync_inventory(cluster=site, now=utc_now())
        assert time.monotonic() < deadline
    job = submit(cast, devices="8")
    second = submit(cast, devices="8")
    work(site, job, JobState.SUCCEEDED)
    assert second.state == JobState.QUEUED
    api.delete("/api/v1/namespaces/default/pods/other")


def test_a_job_whose_last_words_are_no_text_ends_like_any_other(cast, site, api):
    steer.script_pods(api, NAMESPACE, duration=0.5, log="hello", exit_code=1, message="last\x00words")
    job = work(site, submit(cast), JobState.FAILED)
    assert Attempt.objects.get(job=job).members_seen[0]["message"] == "last\ufffdwords"


def test_a_pod_that_asks_for_more_than_any_number_stops_no_scheduling(cast, site, api):
    """Bound without a scheduler it stays on its node, whatever it asks for."""
    steer.script_pods(api, NAMESPACE, duration=0.5, log="hello", exit_code=0, message="")
    for name in ("hog-1", "hog-2"):
        hog = pod(name, steer.annotations(duration="inf"), nodeName="gpu-2",
                  resources={"nvidia.com/gpu": str(2**62), "memory": "7Ei"})  # fmt: skip
        create_pod(api, "default", hog)
    sync_inventory(cluster=site, now=utc_now())
    assert Node.objects.get(cluster=site, name="gpu-2").foreign["memory"] >= 2**60
    work(site, submit(cast), JobState.SUCCEEDED)
    for name in ("hog-1", "hog-2"):
        api.delete(f"/api/v1/namespaces/default/pods/{name}")


def test_what_arrives_after_its_attempt_was_closed_is_ended_and_forgotten(cast, site, api, monkeypatch):
    """The creation was on its way when its caller was killed; the job was cancelled meanwhile."""
    steer.script_pods(api, NAMESPACE, duration="inf", log="hello")
    job = submit(cast)
    run_cycle(now=utc_now())
    attempt = Attempt.objects.get(job=job)
    with monkeypatch.context() as patch:
        patch.setattr(KubernetesDriver, "apply", under_way)
        reconcile_cluster(cluster=site, now=utc_now())
        job.refresh_from_db()
        cancel_job(actor=cast.member, job=job, now=utc_now())
        work(site, job, JobState.CANCELLED, archived=True)
    body = job_of(workload_of(job, attempt), namespace=NAMESPACE, applied_at=utc_now())
    api.create(f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs", body)
    until(lambda: pods(api, NAMESPACE), seconds=10)

    def cleared():
        reconcile_cluster(cluster=site, now=utc_now())
        return nothing_left(api)

    until(cleared, seconds=10)


def under_way(_driver, _workload):
    raise DriverUnavailable("nobody waits for the answer any more", reason="Unreachable")
