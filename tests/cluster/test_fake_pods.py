"""The fake kubelet plays what a pod's script says."""

import time

import pytest
from kubernetes import client
from kubernetes.client.exceptions import ApiException

from controlplane import steer
from controlplane.api import Refused
from tests.cluster.waiting import until
from tests.cluster.workloads import conditions, create_job, create_pod, events, get_job, get_pod, job, pod, pods, state

QUICK = {"duration": 0.1}


def ended(api, namespace, name):
    """The pod once it has ended."""
    return until(lambda: (p := get_pod(api, namespace, name))["status"]["phase"] in ("Succeeded", "Failed") and p)


@pytest.mark.parametrize(
    ("script", "code", "reason"),
    [
        ({}, 0, "Completed"),
        ({"exit_code": 3}, 3, "Error"),
        ({"reason": "OOMKilled"}, 137, "OOMKilled"),
        ({"exit_code": 1, "reason": "ContainerCannotRun", "message": "no such file"}, 1, "ContainerCannotRun"),
    ],
)
def test_a_run_ends_with_the_code_and_reason_of_the_script(api, namespace, script, code, reason):
    create_pod(api, namespace, pod("p", steer.annotations(**QUICK, **script)))
    done = ended(api, namespace, "p")
    terminated = state(done)["terminated"]
    assert (terminated["exitCode"], terminated["reason"]) == (code, reason)
    assert terminated.get("message", "") == script.get("message", "")
    assert done["status"]["phase"] == ("Failed" if code else "Succeeded")


def test_a_failed_pod_fails_a_job_without_tries(api, namespace):
    create_job(api, namespace, job("fails", steer.annotations(**QUICK, exit_code=1)))
    failed = until(lambda: conditions(get_job(api, namespace, "fails")).get("Failed"))
    assert failed["reason"] == "BackoffLimitExceeded"


def test_an_image_that_cannot_be_pulled_waits_with_its_reason(api, namespace):
    create_pod(api, namespace, pod("p", steer.annotations(waiting="ImagePullBackOff")))
    waiting = until(lambda: state(get_pod(api, namespace, "p")).get("waiting"))
    assert waiting["reason"] == "ImagePullBackOff" and "busybox:1" in waiting["message"]
    assert get_pod(api, namespace, "p")["status"]["phase"] == "Pending"


def test_the_stages_before_a_run_are_seen_one_after_the_other(api, namespace):
    init = [{"name": "stage", "image": "busybox:1"}]
    create_pod(api, namespace, pod("p", steer.annotations(**QUICK, pull=0.5, init=0.5), initContainers=init))
    assert until(lambda: state(get_pod(api, namespace, "p")).get("waiting"))["reason"] == "ContainerCreating"
    until(
        lambda: (
            get_pod(api, namespace, "p")["status"]
            .get("initContainerStatuses", [{"state": {}}])[0]["state"]
            .get("running")
        )
    )
    assert state(get_pod(api, namespace, "p"))["waiting"]["reason"] == "PodInitializing"
    done = ended(api, namespace, "p")
    assert done["status"]["initContainerStatuses"][0]["state"]["terminated"]["exitCode"] == 0
    reasons = {reason for reason in ("Scheduled", "Pulling", "Pulled", "Started") if events(api, namespace, reason)}
    assert reasons == {"Scheduled", "Pulling", "Pulled", "Started"}


def test_a_failed_init_container_fails_the_pod_before_it_runs(api, namespace):
    init = [{"name": "stage", "image": "busybox:1"}]
    create_pod(api, namespace, pod("p", steer.annotations(init_exit_code=2), initContainers=init))
    done = ended(api, namespace, "p")
    assert done["status"]["phase"] == "Failed"
    assert done["status"]["initContainerStatuses"][0]["state"]["terminated"]["exitCode"] == 2
    assert "waiting" in state(done)


def test_a_node_may_refuse_a_pod(api, namespace):
    create_pod(api, namespace, pod("p", steer.annotations(reject="UnexpectedAdmissionError")))
    done = ended(api, namespace, "p")
    assert (done["status"]["phase"], done["status"]["reason"]) == ("Failed", "UnexpectedAdmissionError")


def test_a_pod_that_never_gets_ready_runs_unready(api, namespace):
    create_pod(api, namespace, pod("p", steer.annotations(duration="inf", never_ready=True)))
    until(lambda: get_pod(api, namespace, "p")["status"]["phase"] == "Running")
    assert "Ready" not in conditions(get_pod(api, namespace, "p"))


def test_an_evicted_pod_says_so_and_is_marked_as_disrupted(api, namespace):
    create_pod(api, namespace, pod("p", steer.annotations(duration=60, evict_after=0.1)))
    done = ended(api, namespace, "p")
    assert (done["status"]["phase"], done["status"]["reason"]) == ("Failed", "Evicted")
    assert conditions(done)["DisruptionTarget"]["reason"] == "TerminationByKubelet"


def test_a_container_that_is_restarted_counts_up(api, namespace):
    create_pod(api, namespace, pod("p", steer.annotations(**QUICK, exit_code=1), restartPolicy="Always"))
    until(lambda: get_pod(api, namespace, "p")["status"].get("containerStatuses", [{}])[0].get("restartCount", 0) >= 2)


def test_the_pods_own_deadline_ends_it(api, namespace):
    create_pod(api, namespace, pod("p", steer.annotations(duration="inf"), activeDeadlineSeconds=1))
    done = ended(api, namespace, "p")
    assert (done["status"]["phase"], done["status"]["reason"]) == ("Failed", "DeadlineExceeded")


@pytest.mark.parametrize(("stop_after", "grace", "at_least", "code"), [(0.5, 30, 0.5, 143), (60, 1, 1.0, 137)])
def test_a_deleted_pod_ends_within_its_grace(api, namespace, stop_after, grace, at_least, code):
    create_pod(api, namespace, pod("p", steer.annotations(duration="inf", stop_after=stop_after)))
    until(lambda: get_pod(api, namespace, "p")["status"]["phase"] == "Running")
    seen = []
    begin = time.monotonic()
    api.delete(f"/api/v1/namespaces/{namespace}/pods/p", {"gracePeriodSeconds": grace})
    until(lambda: _gone(api, namespace, seen), seconds=10)
    assert at_least <= time.monotonic() - begin < at_least + 5
    assert {p["status"]["phase"] for p in seen} <= {"Running", "Failed"}
    codes = {state(p)["terminated"]["exitCode"] for p in seen if "terminated" in state(p)}
    assert codes <= {code}


def _gone(api, namespace, seen) -> bool:
    found = pods(api, namespace)
    seen += found
    return not found


def test_a_stuck_pod_stays_until_it_is_forced(api, namespace):
    create_pod(api, namespace, pod("p", steer.annotations(duration="inf", stuck=True)))
    until(lambda: get_pod(api, namespace, "p")["status"]["phase"] == "Running")
    path = f"/api/v1/namespaces/{namespace}/pods/p"
    api.delete(path, {"gracePeriodSeconds": 1})
    time.sleep(2.5)
    assert "deletionTimestamp" in get_pod(api, namespace, "p")["metadata"]
    api.delete(path, {"gracePeriodSeconds": 0})
    until(lambda: pods(api, namespace) == [])


def test_a_namespace_speaks_for_pods_that_say_nothing(api, namespace):
    steer.script_pods(api, namespace, duration=0.1)
    steer.script_matching(api, namespace, {"bad-*": {"exit_code": 9}})
    for name in ("bad-1", "good-1"):
        create_pod(api, namespace, pod(name))
    assert state(ended(api, namespace, "bad-1"))["terminated"]["exitCode"] == 9
    assert state(ended(api, namespace, "good-1"))["terminated"]["exitCode"] == 0


def test_a_script_with_an_unknown_word_fails_the_pod_with_that_word(api, namespace):
    create_pod(api, namespace, pod("p", {"fake-kubelet/durration": "1"}))
    done = ended(api, namespace, "p")
    assert done["status"]["reason"] == "BadScript" and "durration" in done["status"]["message"]


def test_logs_are_read_through_the_api_server(api, kube, namespace):
    core = client.CoreV1Api(kube)
    create_pod(api, namespace, pod("p", steer.annotations(duration="inf", log="one\ntwo\nthree")))
    until(lambda: get_pod(api, namespace, "p")["status"]["phase"] == "Running")
    assert core.read_namespaced_pod_log("p", namespace) == "one\ntwo\nthree\n"
    assert core.read_namespaced_pod_log("p", namespace, tail_lines=1) == "three\n"
    assert core.read_namespaced_pod_log("p", namespace, limit_bytes=5) == "one\nt"


def test_a_log_is_followed_until_the_run_ends(api, kube, namespace):
    create_pod(api, namespace, pod("p", steer.annotations(duration=1.5, log="begin")))
    until(lambda: get_pod(api, namespace, "p")["status"]["phase"] == "Running")
    text = client.CoreV1Api(kube).read_namespaced_pod_log("p", namespace, follow=True)
    assert text.startswith("begin\nstill running 1\n")


def test_a_pod_that_has_not_started_has_no_log(api, kube, namespace):
    create_pod(api, namespace, pod("p", steer.annotations(waiting="ErrImagePull")))
    until(lambda: state(get_pod(api, namespace, "p")).get("waiting"))
    with pytest.raises(ApiException) as refused:
        client.CoreV1Api(kube).read_namespaced_pod_log("p", namespace)
    assert refused.value.status == 400 and "waiting to start" in refused.value.body


def test_a_script_cannot_be_written_wrong_from_python():
    with pytest.raises(ValueError, match="durration"):
        steer.annotations(durration=1)


def test_the_pods_kubelet_refuses_to_delete_the_next_pod_of_the_same_name(api, namespace):
    """The uid goes with the deletion: a pod that took the name meanwhile is another one."""
    create_pod(api, namespace, pod("p", steer.annotations(duration="inf", stop_after=0.3)))
    first = until(lambda: (p := get_pod(api, namespace, "p"))["status"]["phase"] == "Running" and p)
    api.delete(f"/api/v1/namespaces/{namespace}/pods/p", {"gracePeriodSeconds": 5})
    api.delete(f"/api/v1/namespaces/{namespace}/pods/p", {"gracePeriodSeconds": 0})
    with pytest.raises(Refused):
        get_pod(api, namespace, "p")
    create_pod(api, namespace, pod("p", steer.annotations(duration="inf")))
    time.sleep(0.6)
    second = get_pod(api, namespace, "p")
    assert second["metadata"]["uid"] != first["metadata"]["uid"]
    assert "deletionTimestamp" not in second["metadata"]
