"""Fake nodes: whole and broken ones, silent ones, and what the control plane makes of them."""

import json

import pytest

from controlplane import steer
from controlplane.api import Refused
from controlplane.kubelet.presets import PRESETS, device_info, gpu_node, node
from tests.cluster.waiting import until
from tests.cluster.workloads import conditions, create_job, create_pod, events, get_job, get_pod, job, pod

LEASE = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases/{}"


def get_node(api, name):
    """The node as it is."""
    return api.get(f"/api/v1/nodes/{name}")


def ready(api, name):
    """Status and reason of the node's Ready condition."""
    found = {c["type"]: c for c in get_node(api, name)["status"].get("conditions", [])}
    return (found["Ready"]["status"], found["Ready"]["reason"]) if "Ready" in found else ("", "")


def taints(api, name):
    """The keys of the node's taints with their effects."""
    return {(taint["key"], taint["effect"]) for taint in get_node(api, name)["spec"].get("taints", [])}


def pinned(name, node_name, **script):
    """A pod that only this node may take."""
    return pod(name, steer.annotations(**script), nodeSelector={"kubernetes.io/hostname": node_name})


def test_the_first_nodes_are_ready_and_lease_their_life(api):
    for name in ("gpu-1", "npu-1", "cpu-1"):
        until(lambda name=name: ready(api, name) == ("True", "KubeletReady") and not taints(api, name))
    assert get_node(api, "gpu-1")["status"]["allocatable"]["nvidia.com/gpu"] == "8"
    assert get_node(api, "npu-1")["status"]["capacity"]["huawei.com/Ascend910"] == "8"
    first = api.get(LEASE.format("gpu-1"))["spec"]["renewTime"]
    until(lambda: api.get(LEASE.format("gpu-1"))["spec"]["renewTime"] != first)
    listed = api.get("/api/v1/namespaces/kube-system/configmaps/mindx-dl-deviceinfo-npu-1")["data"]["DeviceInfoCfg"]
    assert json.loads(listed)["DeviceInfo"]["DeviceList"]["huawei.com/Ascend910"].count("Ascend910-") == 8


def test_each_broken_node_is_broken_in_its_own_way(api, add_node):
    made = {thing["metadata"]["name"]: thing for thing in PRESETS["troubled"]() if thing["kind"] == "Node"}
    for thing in made.values():
        add_node(thing)
    alive = set(made) - {"not-ready"}
    for name in alive:
        until(lambda name=name: ready(api, name)[0] == "True")
    half = get_node(api, "half-broken")["status"]
    assert (half["capacity"]["nvidia.com/gpu"], half["allocatable"]["nvidia.com/gpu"]) == ("8", "5")
    assert not [key for key in get_node(api, "unlabelled")["metadata"]["labels"] if "nvidia" in key]
    assert get_node(api, "mislabelled")["metadata"]["labels"]["nvidia.com/gpu.count"] == "4"
    until(lambda: ("node.kubernetes.io/unschedulable", "NoSchedule") in taints(api, "cordoned"))
    until(lambda: ready(api, "not-ready") == ("False", "KubeletNotReady"))
    until(lambda: ("node.kubernetes.io/not-ready", "NoSchedule") in taints(api, "not-ready"))


def test_no_pod_lands_on_a_cordoned_node(api, namespace, add_node):
    add_node(gpu_node("closed", cordoned=True))
    create_pod(api, namespace, pinned("p", "closed"))
    (event, *_) = until(lambda: events(api, namespace, "FailedScheduling"))
    assert "were unschedulable" in event["message"] or "untolerated taint" in event["message"]


def test_a_silent_node_becomes_unknown_and_comes_back_with_its_pods(api, namespace, add_node):
    name = add_node(node("silent"))
    until(lambda: ready(api, name)[0] == "True")
    create_pod(api, namespace, pinned("p", name, duration=3))
    until(lambda: get_pod(api, namespace, "p")["status"]["phase"] == "Running")
    steer.freeze(api, name)
    until(lambda: ready(api, name) == ("Unknown", "NodeStatusUnknown"), seconds=30)
    until(lambda: ("node.kubernetes.io/unreachable", "NoSchedule") in taints(api, name))
    lost = get_pod(api, namespace, "p")
    # The run should have ended by now: nobody is there to say so.
    assert lost["status"]["phase"] == "Running"
    until(lambda: "Ready" not in conditions(get_pod(api, namespace, "p")))
    steer.thaw(api, name)
    until(lambda: ready(api, name)[0] == "True")
    until(lambda: get_pod(api, namespace, "p")["status"]["phase"] == "Succeeded")


def test_a_pod_deleted_on_a_silent_node_stays_until_the_node_is_back(api, namespace, add_node):
    name = add_node(node("silent-too"))
    until(lambda: ready(api, name)[0] == "True")
    create_pod(api, namespace, pinned("p", name, duration="inf"))
    until(lambda: get_pod(api, namespace, "p")["status"]["phase"] == "Running")
    steer.freeze(api, name)
    until(lambda: get_node(api, name)["metadata"]["annotations"].get("fake-kubelet/frozen") == "true")
    api.delete(f"/api/v1/namespaces/{namespace}/pods/p", {"gracePeriodSeconds": 1})
    with pytest.raises(AssertionError, match="not within"):
        until(lambda: _is_gone(api, namespace), seconds=2.5)
    steer.thaw(api, name)
    until(lambda: _is_gone(api, namespace))


def _is_gone(api, namespace) -> bool:
    try:
        get_pod(api, namespace, "p")
    except Refused as refusal:
        return refusal.status == 404
    return False


def test_a_node_may_say_itself_that_it_is_not_ready(api, add_node):
    name = add_node(node("ill"))
    until(lambda: ready(api, name)[0] == "True")
    steer.set_ready(api, name, ready=False)
    until(lambda: ready(api, name) == ("False", "KubeletNotReady"))
    steer.set_ready(api, name, ready=True)
    until(lambda: ready(api, name)[0] == "True")


def test_a_node_speaks_for_the_pods_on_it(api, namespace, add_node):
    name = add_node(node("bad-luck", annotations=steer.annotations(duration=0.1, exit_code=13)))
    until(lambda: ready(api, name)[0] == "True")
    spec = pod("unused", nodeSelector={"kubernetes.io/hostname": name})["spec"]
    create_job(api, namespace, job("unlucky", spec=spec))
    until(lambda: "Failed" in conditions(get_job(api, namespace, "unlucky")))


def test_ill_chips_are_listed_apart():
    listed = json.loads(device_info("n", healthy=6, ill=2)["data"]["DeviceInfoCfg"])["DeviceInfo"]["DeviceList"]
    assert listed["huawei.com/Ascend910-Unhealthy"] == "Ascend910-6,Ascend910-7"
