"""What others do in our namespace: copies with all our labels, odd values, deletions, rights taken away. Nothing of
theirs is touched, nothing of ours is lost, and nobody is blinded."""

import copy
from collections.abc import Iterator

import pytest

from controlplane import steer
from controlplane.api import Api, Json
from controlplane.cluster import Cluster
from resources.drivers.base import DriverUnavailable, Phase, WorkloadRejected
from resources.drivers.kubernetes import names
from resources.drivers.kubernetes.connection import Connection, Credential, Right
from resources.drivers.kubernetes.driver import KubernetesDriver
from tests.cluster.driver_harness import KubernetesHarness
from tests.cluster.test_kubernetes_driver import LOOPBACK
from tests.cluster.workloads import create_job, create_pod, get_job, get_pod, pod, pods
from tests.integration.drivers.contract import NOTHING, SLEEPS
from tests.integration.drivers.steps import ended, members, seen, started, wait_for

ROOM = "strangers"


@pytest.fixture(scope="module")
def room(control_plane: Cluster, api: Api, admin_token: str) -> Iterator[KubernetesHarness]:
    steer.create_namespace(api, ROOM, enforce="restricted")
    authority = (control_plane.folder.pki / "ca.crt").read_text(encoding="utf-8")
    rights = {right: Credential(token=admin_token) for right in (Right.OBSERVER, Right.RUNNER)}
    connection = Connection(control_plane.ports.server, authority, rights, namespace=ROOM, networks=LOOPBACK)
    yield KubernetesHarness(control_plane, connection)
    steer.delete_namespace(api, ROOM)


@pytest.fixture
def driver(room: KubernetesHarness) -> KubernetesDriver:
    return room.driver()


def copied(api: Api, name: str, new_name: str) -> Json:
    """What somebody makes of `kubectl get job -o yaml` to run it again."""
    found = get_job(api, ROOM, name)
    about, spec = found["metadata"], copy.deepcopy(found["spec"])
    del spec["selector"]
    for key in [key for key in spec["template"]["metadata"]["labels"] if not key.startswith(names.PREFIX)]:
        del spec["template"]["metadata"]["labels"][key]
    kept = {"name": new_name, "labels": about["labels"], "annotations": about["annotations"]}
    return create_job(api, ROOM, {"metadata": kept, "spec": spec})


def test_a_copy_of_our_job_is_not_taken_for_ours_and_only_our_finalizer_is_taken_off_it(driver, room, api):
    workload = room.workload(SLEEPS)
    driver.apply(workload)
    started(driver, workload)
    copied(api, workload.name, f"{workload.name}-zz")
    its_pod = wait_for(
        lambda: next((p for p in pods(api, ROOM) if f"{workload.name}-zz" in p["metadata"]["name"]), None)
    )
    assert seen(driver, workload) is not None
    driver.stop(workload.name, attempt_id=workload.attempt_id, grace_ms=0)
    ended(driver, workload)
    assert driver.release(workload.name, attempt_id=workload.attempt_id).objects_left == 0
    driver.forget(workload.name, attempt_id=workload.attempt_id)
    assert its_pod["metadata"]["name"] not in str(driver.observe().workloads)
    left = get_pod(api, ROOM, its_pod["metadata"]["name"])
    assert "deletionTimestamp" not in left["metadata"] and left["status"]["phase"] == "Running"
    assert names.EVIDENCE not in left["metadata"].get("finalizers", []), "whoever made it could never delete it"
    assert seen(driver, workload) is None and get_job(api, ROOM, f"{workload.name}-zz")["spec"]["parallelism"] == 1
    api.delete(f"/apis/batch/v1/namespaces/{ROOM}/jobs/{workload.name}-zz", {"propagationPolicy": "Background"})
    wait_for(lambda: not [p for p in pods(api, ROOM) if f"{workload.name}-zz" in p["metadata"]["name"]])


def test_what_a_copy_holds_is_held_by_others(driver, room, api):
    """What the portal has no allocation for must not look free."""
    workload = room.workload(SLEEPS)
    driver.apply(workload)
    started(driver, workload)

    def held() -> int:
        return sum(node.foreign.get("cpu", 0) for node in driver.inventory().nodes)

    before = held()
    copied(api, workload.name, f"{workload.name}-yy")
    assert wait_for(lambda: held() - before) == 1_000
    api.delete(f"/apis/batch/v1/namespaces/{ROOM}/jobs/{workload.name}-yy", {"propagationPolicy": "Background"})
    driver.stop(workload.name, attempt_id=workload.attempt_id, grace_ms=0)
    ended(driver, workload)
    driver.observe()


def test_a_pod_with_our_labels_that_nobody_controls_is_neither_a_member_nor_touched(driver, room, api):
    workload = room.workload(SLEEPS)
    driver.apply(workload)
    (before,) = started(driver, workload)
    stranger = pod("stranger", steer.annotations(duration="inf"))
    labels = {names.ATTEMPT: workload.attempt_id, names.JOB: workload.job_id, names.JOB_NAME: workload.name}
    stranger["metadata"]["labels"] = labels
    create_pod(api, ROOM, stranger)
    assert members(driver, workload)[0].uid == before.uid
    driver.stop(workload.name, attempt_id=workload.attempt_id, grace_ms=0)
    ended(driver, workload)
    assert "deletionTimestamp" not in get_pod(api, ROOM, "stranger")["metadata"]
    api.delete(f"/api/v1/namespaces/{ROOM}/pods/stranger")


def test_one_thing_with_absurd_values_blinds_nobody(driver, room, api):
    workload = room.workload(SLEEPS)
    driver.apply(workload)
    started(driver, workload)
    odd = pod("odd", steer.annotations(duration="inf"), terminationGracePeriodSeconds=2**63 - 1)
    odd["metadata"]["labels"] = {names.ATTEMPT: "odd", names.JOB: workload.job_id, names.JOB_NAME: "odd"}
    odd["metadata"]["finalizers"] = [names.EVIDENCE]
    odd["metadata"]["annotations"] |= {
        names.MEMBER_COUNT: "999999999", names.GENERATION: "9" * 5_000, names.INDEX: "9" * 5_000,
        names.APPLIED_AT: "0001-01-01T00:00:00+14:00", names.STOP_ASKED_AT: "9999-12-31T23:59:59-14:00",
    }  # fmt: skip
    create_pod(api, ROOM, odd)
    api.delete(f"/api/v1/namespaces/{ROOM}/pods/odd")
    found = {one.name: one for one in driver.observe().workloads}
    assert found[workload.name].members[0].phase is Phase.RUNNING and len(found["odd"].members) == 1
    assert driver.logs("odd", member=7, offset=0, limit=10) == (b"", 0)
    fence = f"/api/v1/namespaces/{ROOM}/configmaps"
    body = {"metadata": {"name": names.FENCE}, "data": {"x": "9" * 5_000, "y": "", "z": "5 yesterday"}}
    try:
        api.create(fence, body)
    except Exception:
        api.patch(f"{fence}/{names.FENCE}", body, "application/merge-patch+json")
    again = room.workload(NOTHING, job_id="x")
    driver.apply(again)
    ended(driver, again)
    driver.forget(again.name, attempt_id=again.attempt_id)
    driver.stop(workload.name, attempt_id=workload.attempt_id, grace_ms=0)


def test_pods_whose_job_was_deleted_without_them_can_still_be_stopped(driver, room, api):
    workload = room.workload(SLEEPS)
    driver.apply(workload)
    started(driver, workload)
    path = f"/apis/batch/v1/namespaces/{ROOM}/jobs/{workload.name}"
    api.delete(path, {"propagationPolicy": "Orphan"})
    (member,) = wait_for(lambda: members(driver, workload))
    wait_for(lambda: not [j for j in api.get(f"/apis/batch/v1/namespaces/{ROOM}/jobs")["items"]
                          if j["metadata"]["name"] == workload.name])  # fmt: skip
    assert members(driver, workload)[0].phase is Phase.RUNNING
    assert driver.release(workload.name, attempt_id=workload.attempt_id).objects_left == 1
    driver.stop(workload.name, attempt_id=workload.attempt_id, grace_ms=0)
    (member,) = ended(driver, workload)
    assert member.phase is Phase.FAILED
    driver.forget(workload.name, attempt_id=workload.attempt_id)
    assert seen(driver, workload) is None


def test_a_right_that_is_missing_is_no_refusal_of_the_job_and_a_quota_is(room, api):
    verbs = ["get", "list", "patch", "delete"]
    rules = [
        {"apiGroups": ["batch"], "resources": ["jobs"], "verbs": verbs},
        {"apiGroups": [""], "resources": ["pods", "configmaps"], "verbs": verbs},
    ]
    token = steer.create_user(api, ROOM, "half", rules)
    half = Connection(
        room.connection.server, room.connection.authority_pem, {Right.RUNNER: Credential(token=token)},
        namespace=ROOM, networks=LOOPBACK,
    )  # fmt: skip
    with pytest.raises(DriverUnavailable) as unavailable:
        KubernetesDriver(connection=half).apply(room.workload(NOTHING))
    assert unavailable.value.reason == "AccessDenied"
    quota = f"/api/v1/namespaces/{ROOM}/resourcequotas"
    api.create(quota, {"metadata": {"name": "none"}, "spec": {"hard": {"count/jobs.batch": "0"}}})
    wait_for(lambda: api.get(f"{quota}/none").get("status", {}).get("hard"))
    with pytest.raises(WorkloadRejected) as refusal:
        room.driver().apply(room.workload(NOTHING))
    api.delete(f"{quota}/none")
    assert refusal.value.reason == "Forbidden" and "exceeded quota" in refusal.value.detail


def test_a_job_that_gets_no_pods_says_why(driver, room, api):
    quota = f"/api/v1/namespaces/{ROOM}/resourcequotas"
    api.create(quota, {"metadata": {"name": "no-pods"}, "spec": {"hard": {"pods": "0"}}})
    wait_for(lambda: api.get(f"{quota}/no-pods").get("status", {}).get("hard"))
    workload = room.workload(NOTHING)
    driver.apply(workload)
    (member,) = wait_for(lambda: [one for one in members(driver, workload) if one.reason])
    assert (member.phase, member.reason) == (Phase.PENDING, "FailedCreate") and "exceeded quota" in member.message
    api.delete(f"{quota}/no-pods")
    driver.stop(workload.name, attempt_id=workload.attempt_id, grace_ms=0)
    assert members(driver, workload)[0].reason == "Stopped"
