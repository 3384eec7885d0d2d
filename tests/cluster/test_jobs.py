"""What a real control plane does with Jobs and pods: the behaviours that the Kubernetes driver builds on."""

import pytest

from controlplane import steer
from controlplane.api import Refused
from tests.cluster.waiting import until
from tests.cluster.workloads import (
    conditions,
    create_job,
    create_pod,
    events,
    get_job,
    get_pod,
    job,
    pod,
    pod_spec,
    pods,
    state,
)

QUOTA = {"metadata": {"name": "gpu"}, "spec": {"hard": {"requests.nvidia.com/gpu": "2"}}}
BUDGET = {
    "metadata": {"name": "keep"},
    "spec": {"minAvailable": 1, "selector": {"matchLabels": {"app": "kept"}}},
}


@pytest.mark.parametrize(
    ("device", "nodes"), [("nvidia.com/gpu", {"gpu-1", "gpu-2"}), ("huawei.com/Ascend910", {"npu-1"})]
)
def test_a_job_is_bound_to_a_node_with_its_devices_and_completes(api, namespace, device, nodes):
    create_job(api, namespace, job("train", steer.annotations(duration=0.5), spec=pod_spec({device: "4"})))
    done = until(lambda: "Complete" in conditions(thing := get_job(api, namespace, "train")) and thing)
    assert done["status"]["succeeded"] == 1
    (ran,) = pods(api, namespace)
    assert ran["spec"]["nodeName"] in nodes
    assert state(ran)["terminated"]["exitCode"] == 0


def test_a_pod_that_fits_nowhere_says_so_with_the_numbers(api, namespace):
    create_pod(api, namespace, pod("huge", resources={"nvidia.com/gpu": "16"}))
    (event, *_) = until(lambda: events(api, namespace, "FailedScheduling"))
    assert "Insufficient nvidia.com/gpu" in event["message"]
    # The scheduler's events are of the newer kind: what the older one counts is missing.
    assert event.get("count") is None and event["eventTime"]
    waiting = get_pod(api, namespace, "huge")
    scheduled = next(c for c in waiting["status"]["conditions"] if c["type"] == "PodScheduled")
    assert (scheduled["status"], scheduled["reason"]) == ("False", "Unschedulable")


def test_a_quota_refuses_the_pod_and_lets_the_job_in(api, namespace):
    api.create(f"/api/v1/namespaces/{namespace}/resourcequotas", QUOTA)
    until(lambda: api.get(f"/api/v1/namespaces/{namespace}/resourcequotas/gpu")["status"].get("used"))
    with pytest.raises(Refused, match=r"exceeded quota: gpu, requested: requests\.nvidia\.com/gpu=3") as refused:
        create_pod(api, namespace, pod("three", resources={"nvidia.com/gpu": "3"}))
    assert refused.value.status == 403
    create_job(api, namespace, job("three", spec=pod_spec({"nvidia.com/gpu": "3"})))
    (event, *_) = until(lambda: events(api, namespace, "FailedCreate"))
    assert "exceeded quota" in event["message"] and event["count"] >= 1
    assert pods(api, namespace) == []


def test_a_disruption_budget_refuses_eviction_and_without_it_the_pod_goes(api, namespace):
    body = pod("kept", steer.annotations(duration="inf"))
    body["metadata"]["labels"] = {"app": "kept"}
    create_pod(api, namespace, body)
    until(lambda: get_pod(api, namespace, "kept")["status"]["phase"] == "Running")
    budgets = f"/apis/policy/v1/namespaces/{namespace}/poddisruptionbudgets"
    api.create(budgets, BUDGET)
    until(lambda: api.get(f"{budgets}/keep").get("status", {}).get("currentHealthy") == 1)
    eviction = {"apiVersion": "policy/v1", "kind": "Eviction", "metadata": {"name": "kept", "namespace": namespace}}
    path = f"/api/v1/namespaces/{namespace}/pods/kept/eviction"
    with pytest.raises(Refused, match="disruption budget") as refused:
        api.create(path, eviction)
    assert refused.value.status == 429
    api.delete(f"{budgets}/keep")
    until(lambda: _accepted(lambda: api.create(path, eviction)))
    until(lambda: pods(api, namespace) == [])


def _accepted(call) -> bool:
    try:
        call()
    except Refused as refusal:
        return refusal.status == 404
    return True


def test_a_suspended_job_has_no_pods_until_it_is_resumed(api, namespace):
    create_job(api, namespace, job("later", steer.annotations(duration="inf"), suspend=True))
    until(lambda: "Suspended" in conditions(get_job(api, namespace, "later")))
    assert pods(api, namespace) == []
    path = f"/apis/batch/v1/namespaces/{namespace}/jobs/later"
    api.patch(path, {"spec": {"suspend": False}})
    until(lambda: get_job(api, namespace, "later")["status"].get("active") == 1)
    api.patch(path, {"spec": {"suspend": True}})
    until(lambda: pods(api, namespace) == [])
    assert get_job(api, namespace, "later")["status"].get("failed") is None


def test_deleting_a_job_in_the_foreground_takes_its_pods_first(api, namespace):
    create_job(api, namespace, job("gone", steer.annotations(duration="inf")))
    until(lambda: [p for p in pods(api, namespace) if p["status"]["phase"] == "Running"])
    path = f"/apis/batch/v1/namespaces/{namespace}/jobs/gone"
    api.delete(path, {"propagationPolicy": "Foreground"})
    until(lambda: _is_gone(api, path))
    assert pods(api, namespace) == []


def _is_gone(api, path) -> bool:
    try:
        api.get(path)
    except Refused as refusal:
        return refusal.status == 404
    return False


def test_a_user_without_a_role_is_refused_and_one_with_a_role_may_do_that_much(api, namespace, control_plane, tmp_path):
    nobody = steer.create_user(api, namespace, "nobody")
    reader = steer.create_user(
        api, namespace, "reader", [{"apiGroups": [""], "resources": ["pods"], "verbs": ["list"]}]
    )
    assert _list_pods(api, namespace, nobody) == 403
    assert until(lambda: _list_pods(api, namespace, reader) == 200)
    assert _list_pods(api, "default", reader) == 403


def _list_pods(api, namespace, token) -> int:
    import urllib3

    pool = urllib3.PoolManager(ca_certs=api.pool.connection_pool_kw["ca_certs"])
    url = f"{api.server}/api/v1/namespaces/{namespace}/pods"
    return pool.request("GET", url, headers={"Authorization": f"Bearer {token}"}).status


def test_a_namespace_that_enforces_restricted_refuses_an_unsafe_pod_and_takes_a_safe_one(api, new_namespace):
    strict = new_namespace(enforce="restricted")
    unsafe = pod("unsafe")
    unsafe["spec"]["containers"][0]["securityContext"] = {"privileged": True}
    path = f"/api/v1/namespaces/{strict}/pods?dryRun=All"
    with pytest.raises(Refused, match="violates PodSecurity") as refused:
        api.create(path, unsafe)
    assert refused.value.status == 403
    assert api.create(path, pod("safe"))["metadata"]["name"] == "safe"
    assert pods(api, strict) == []


def test_a_job_that_exists_already_is_a_conflict(api, namespace):
    create_job(api, namespace, job("once", suspend=True))
    with pytest.raises(Refused) as refused:
        create_job(api, namespace, job("once", suspend=True))
    assert refused.value.status == 409 and refused.value.answer["reason"] == "AlreadyExists"
