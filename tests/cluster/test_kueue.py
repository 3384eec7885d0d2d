"""Kueue on the real control plane: only where it has been built (`./dev cluster build --kueue`)."""

import os
from collections.abc import Iterator

import pytest

from controlplane import steer
from controlplane.api import Api
from controlplane.build import KUEUE, built
from controlplane.cluster import start_cluster
from controlplane.components import Options
from controlplane.errors import NotBuilt
from tests.cluster.waiting import until
from tests.cluster.workloads import JOBS, get_job, job, pod_spec, pods

KUEUE_API = "/apis/kueue.x-k8s.io/v1beta2"
GPU = "nvidia.com/gpu"


@pytest.fixture(scope="module")
def with_kueue(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Api]:
    """A cluster of its own, with Kueue and a queue of eight GPUs for every namespace."""
    try:
        built(KUEUE, os.environ)
    except NotBuilt as missing:
        pytest.skip(str(missing))
    cluster = start_cluster(tmp_path_factory.mktemp("kueue"), Options(kueue=True), os.environ)
    try:
        api = cluster.api()
        api.create(f"{KUEUE_API}/resourceflavors", {"metadata": {"name": "nv"}, **_kind("ResourceFlavor")})
        quota = {"name": "nv", "resources": [{"name": GPU, "nominalQuota": 8}]}
        spec = {"namespaceSelector": {}, "resourceGroups": [{"coveredResources": [GPU], "flavors": [quota]}]}
        api.create(f"{KUEUE_API}/clusterqueues", {"metadata": {"name": "all"}, "spec": spec, **_kind("ClusterQueue")})
        yield api
    finally:
        cluster.stop()


def _kind(name: str) -> dict[str, str]:
    return {"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": name}


def queued(name: str, gpus: int, **script):
    """A suspended Job in the queue."""
    body = job(name, steer.annotations(**script), spec=pod_spec({GPU: str(gpus)}), suspend=True)
    body["metadata"]["labels"] = {"kueue.x-k8s.io/queue-name": "q"}
    return body


def test_a_job_within_quota_is_admitted_and_one_above_it_waits_with_the_numbers(with_kueue):
    api, namespace = with_kueue, "team-a"
    steer.create_namespace(api, namespace)
    queue = {"metadata": {"name": "q"}, "spec": {"clusterQueue": "all"}, **_kind("LocalQueue")}
    api.create(f"{KUEUE_API}/namespaces/{namespace}/localqueues", queue)
    api.create(JOBS.format(namespace), queued("first", 8, duration="inf"))
    until(lambda: get_job(api, namespace, "first")["status"].get("active") == 1)
    api.create(JOBS.format(namespace), queued("second", 4, duration=0.1))
    message = until(lambda: _why_waiting(api, namespace))
    assert "insufficient unused quota for nvidia.com/gpu in flavor nv" in message
    assert len(pods(api, namespace)) == 1
    api.delete(f"{JOBS.format(namespace)}/first", {"propagationPolicy": "Background"})
    until(lambda: get_job(api, namespace, "second")["status"].get("succeeded") == 1)


def _why_waiting(api, namespace) -> str:
    for workload in api.get(f"{KUEUE_API}/namespaces/{namespace}/workloads")["items"]:
        for condition in workload.get("status", {}).get("conditions", []):
            if condition["type"] == "QuotaReserved" and condition["status"] == "False":
                return condition["message"]
    return ""
