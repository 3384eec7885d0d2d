"""Faults F15 to F24 of an API server, each by its number: nothing is concluded, made twice or lost, and nobody waits.

F18, F22 and F23 are about watches. Full lists are all the driver believes: a watch only says that it is worth looking
earlier, so what it says wrong costs a look, and what it misses is in the next list.
"""

import json
import threading
import time
from collections.abc import Iterator
from dataclasses import replace

import pytest

from controlplane import faults, steer
from controlplane.api import Api
from controlplane.cluster import Cluster
from controlplane.faultproxy import FaultProxy
from resources.drivers.base import DriverUnavailable, Topic, WorkloadRejected
from resources.drivers.kubernetes import api as api_module
from resources.drivers.kubernetes.connection import Connection, Credential, Right
from resources.drivers.kubernetes.driver import KubernetesDriver
from tests.cluster.driver_harness import KubernetesHarness
from tests.cluster.test_kubernetes_faults import LOOPBACK, QUICK_S
from tests.cluster.workloads import JOBS, job
from tests.integration.drivers.contract import NOTHING, SLEEPS
from tests.integration.drivers.steps import ended, seen, started, wait_for

SPACE = "numbered"


@pytest.fixture(scope="module")
def room(control_plane: Cluster, api: Api, admin_token: str) -> Iterator[KubernetesHarness]:
    steer.create_namespace(api, SPACE, enforce="restricted")
    authority = (control_plane.folder.pki / "ca.crt").read_text(encoding="utf-8")
    rights = {right: Credential(token=admin_token) for right in (Right.OBSERVER, Right.RUNNER)}
    yield KubernetesHarness(
        control_plane, Connection(control_plane.ports.server, authority, rights, namespace=SPACE, networks=LOOPBACK)
    )
    steer.delete_namespace(api, SPACE)


@pytest.fixture
def driver(room: KubernetesHarness, fault_proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch) -> KubernetesDriver:
    """A driver behind the proxy, with a short time for every answer."""
    monkeypatch.setattr(api_module, "ANSWER_S", QUICK_S)
    return KubernetesDriver(connection=replace(room.connection, server=fault_proxy.url))


def failing(do) -> str:
    """The reason in which it ends."""
    with pytest.raises(DriverUnavailable) as failure:
        do()
    return failure.value.reason


def empty(kind: str, version: int = 2**40) -> faults.Fault:
    """A well-formed list of nothing, newer than all that was seen."""
    return faults.body(json.dumps({"kind": kind, "metadata": {"resourceVersion": str(version)}, "items": []}).encode())


def test_f15_an_api_server_that_hangs_is_given_up_left_alone_and_holds_up_no_other(driver, room, fault_proxy):
    other = room.driver()
    other.inventory()
    fault_proxy.add(faults.hang(30.0))
    reasons: list[str] = []
    hung = threading.Thread(target=lambda: reasons.append(failing(driver.inventory)))
    hung.start()
    began = time.monotonic()
    assert other.inventory().complete
    assert time.monotonic() - began < QUICK_S, "the other cluster waited"
    hung.join(QUICK_S + 2.0)
    assert reasons == ["Unreachable"]
    reasons += [failing(driver.inventory) for _ in range(3)]
    assert reasons[-1] == "CircuitOpen"


@pytest.mark.parametrize("after", [30, None])
def test_f16_429_is_heeded_and_nothing_is_concluded(driver, room, fault_proxy, after):
    workload = room.workload(SLEEPS)
    driver.apply(workload)
    started(driver, workload)
    fault_proxy.add(faults.too_many_requests(after))
    before, until = len(fault_proxy.requests), time.monotonic() + 2.0
    while time.monotonic() < until:
        assert failing(driver.observe) in ("TooManyRequests", "CircuitOpen")
        time.sleep(0.02)
    asked = len(fault_proxy.requests) - before
    assert asked == 1 if after else asked <= 3, "asked on, though it was told to wait"
    fault_proxy.heal()
    fresh = room.driver()
    assert seen(fresh, workload) is not None
    fresh.stop(workload.name, attempt_id=workload.attempt_id, grace_ms=0)


def test_f17_a_name_that_others_have_is_refused_and_theirs_left_untouched(driver, room, api, fault_proxy):
    workload = room.workload(NOTHING)
    theirs = api.create(JOBS.format(SPACE), job(workload.name, suspend=True))
    for hidden in (False, True):
        if hidden:
            status = {"kind": "Status", "code": 404, "reason": "NotFound", "message": "not found"}
            absent = faults.body(json.dumps(status).encode(), 404)
            fault_proxy.add(absent, f"/jobs/{workload.name}", methods="GET", times=1)
        with pytest.raises(WorkloadRejected) as refusal:
            driver.apply(workload)
        assert refusal.value.reason == "NameTaken"
    now = api.get(f"{JOBS.format(SPACE)}/{workload.name}")
    assert now["metadata"]["uid"] == theirs["metadata"]["uid"]
    assert now["metadata"].get("labels") == theirs["metadata"].get("labels")
    assert not fault_proxy.deletes(workload.name)


def test_f17_a_conflict_on_an_update_is_read_again_and_made_good(driver, room, fault_proxy):
    first, second = room.workload(NOTHING), room.workload(NOTHING)
    for workload in (first, second):
        driver.apply(workload)
        ended(driver, workload)
    driver.forget(first.name, attempt_id=first.attempt_id)
    status = {"kind": "Status", "code": 409, "reason": "Conflict", "message": "the object has been modified"}
    conflict = faults.body(json.dumps(status).encode(), 409)
    rule = fault_proxy.add(conflict, "/configmaps/", methods="PUT", times=1)
    driver.forget(second.name, attempt_id=second.attempt_id)
    assert rule.met == 1
    assert seen(driver, second) is None


def heard(driver: KubernetesDriver, topic: Topic, *, seconds: float = 2.0) -> list[float]:
    """When hints came, in seconds after listening began."""
    began, hints = time.monotonic(), list[float]()
    driver.listen(topic, seconds=seconds, hint=lambda: hints.append(time.monotonic() - began))
    assert time.monotonic() - began < seconds + 1.0
    return hints


def watches(fault_proxy: FaultProxy) -> list[str]:
    return [target for _method, target in fault_proxy.requests if "watch=1" in target]


@pytest.mark.parametrize("how", ["410", "in the stream", "500", "html", "cut"])
def test_f18_a_watch_that_fails_is_no_failure_of_the_cluster_and_waits_for_the_next_list(driver, fault_proxy, how):
    status = {"kind": "Status", "code": 410, "reason": "Expired", "message": "too old resource version"}
    in_stream = faults.body(json.dumps({"type": "ERROR", "object": status}).encode() + b"\n")
    fault = {
        "410": faults.gone(), "in the stream": in_stream, "500": faults.internal_error(), "html": faults.html(),
        "cut": faults.disconnect(),
    }[how]  # fmt: skip
    assert heard(driver, Topic.NODES) == [] and not watches(fault_proxy), "there was no list to begin after"
    driver.inventory()
    fault_proxy.add(fault, "watch=1")
    for _ in range(5):
        assert heard(driver, Topic.NODES) == []
    assert len(watches(fault_proxy)) == 1, "an old version is asked for once"
    assert driver.inventory().complete, "the breaker heard of it"
    fault_proxy.heal()
    heard(driver, Topic.NODES, seconds=0.5)
    assert len(watches(fault_proxy)) == 2


def test_f18_a_list_that_is_always_too_old_is_tried_a_few_times_and_then_given_up(driver, fault_proxy):
    fault_proxy.add(faults.gone(), "/nodes")
    assert failing(driver.inventory) == "ListExpired"
    asked = [target for _method, target in fault_proxy.requests if "/nodes" in target]
    assert len(asked) == 3


def test_f19_410_on_the_third_page_begins_the_list_again(driver, fault_proxy, monkeypatch):
    monkeypatch.setattr(api_module, "PAGE", 2)
    rule = fault_proxy.add(faults.gone(), "/nodes.*continue=", times=1, after=1)
    inventory = driver.inventory()
    assert rule.met == 1
    names = [node.name for node in inventory.nodes]
    assert inventory.complete and len(names) == len(set(names)) >= 5


@pytest.mark.parametrize("half", [True, False])
def test_f20_an_empty_or_half_list_proves_no_absence(driver, room, fault_proxy, half):
    workloads = [room.workload(SLEEPS) for _ in range(3)]
    for workload in workloads:
        driver.apply(workload)
    assert driver.observe().complete and driver.inventory().complete
    if half:
        fault_proxy.add(faults.items_missing(), "/(jobs|pods|nodes)[?]")
    else:
        for kind, path in (("JobList", "/jobs[?]"), ("PodList", "/pods[?]"), ("NodeList", "/nodes[?]")):
            fault_proxy.add(empty(kind), path)
    assert not driver.observe().complete
    assert not driver.inventory().complete
    fault_proxy.heal()
    for workload in workloads:
        room.driver().stop(workload.name, attempt_id=workload.attempt_id, grace_ms=0)


@pytest.mark.parametrize("fault", [faults.internal_error, faults.unavailable, faults.html, faults.truncated])
def test_f21_an_answer_that_is_none_changes_nothing(driver, room, fault_proxy, fault):
    workload = room.workload(SLEEPS)
    driver.apply(workload)
    started(driver, workload)
    fault_proxy.add(fault())
    assert failing(driver.observe) in ("ServerError", "NotAnApiServer")
    assert failing(lambda: driver.release(workload.name, attempt_id=workload.attempt_id))
    fault_proxy.heal()
    assert seen(room.driver(), workload) is not None
    room.driver().stop(workload.name, attempt_id=workload.attempt_id, grace_ms=0)


def test_f21_a_server_whose_certificate_is_not_trusted_is_not_spoken_to(room):
    stranger = KubernetesDriver(connection=replace(room.connection, authority_pem=""))
    assert failing(stranger.observe) in ("Unreachable", "ConnectionUnusable")


@pytest.mark.parametrize("fault", [faults.silent_watch, lambda: faults.hang(60.0)], ids=["silent", "hanging"])
def test_f22_watches_that_are_silent_hide_nothing_and_hold_nobody(driver, room, fault_proxy, fault):
    driver.observe()
    fault_proxy.add(fault(), "watch=1")
    workload = room.workload(NOTHING)
    room.driver().apply(workload)
    assert heard(driver, Topic.WORKLOADS) == [] and len(watches(fault_proxy)) == 1
    assert ended(driver, workload)


def test_f23_a_deletion_nobody_told_of_is_in_the_next_list(driver, room, api, fault_proxy):
    fault_proxy.add(faults.silent_watch(), "watch=1")
    workload = room.workload(SLEEPS)
    driver.apply(workload)
    started(driver, workload)
    driver.observe()
    api.delete(f"{JOBS.format(SPACE)}/{workload.name}", {"propagationPolicy": "Background"})
    (member,) = ended(driver, workload)
    assert member.reason == "Killed"


def test_a_change_is_heard_at_once_and_no_change_is_not(driver, room, api, fault_proxy):
    workload = room.workload(SLEEPS)
    driver.apply(workload)
    started(driver, workload)
    driver.observe()
    assert heard(driver, Topic.WORKLOADS, seconds=1.5) == []
    stop = threading.Timer(0.5, lambda: room.driver().stop(workload.name, attempt_id=workload.attempt_id, grace_ms=0))
    stop.start()
    assert 0.4 < heard(driver, Topic.WORKLOADS, seconds=3.0)[0] < 2.0
    stop.join()
    assert len(watches(fault_proxy)) == 2


def test_a_node_that_only_says_that_it_lives_is_no_news_and_one_that_is_cordoned_is(driver, api):
    driver.inventory()
    heard(driver, Topic.NODES, seconds=14.0)  # every node has said by now that it lives
    assert heard(driver, Topic.NODES, seconds=5.0) == []
    cordon = threading.Timer(0.3, lambda: api.patch("/api/v1/nodes/cpu-2", {"spec": {"unschedulable": True}}))
    cordon.start()
    assert heard(driver, Topic.NODES, seconds=2.0)
    cordon.join()
    api.patch("/api/v1/nodes/cpu-2", {"spec": {"unschedulable": False}})


def test_f24_versions_that_go_backwards_prove_nothing_as_long_as_they_do(driver, room, fault_proxy):
    workload = room.workload(SLEEPS)
    driver.apply(workload)
    started(driver, workload)
    assert driver.observe().complete and driver.inventory().complete
    fault_proxy.add(faults.rewound(), "/(jobs|pods|nodes)")
    for _ in range(3):
        assert not driver.observe().complete
        assert not driver.inventory().complete
    fault_proxy.heal()
    assert wait_for(lambda: driver.observe().complete)
    assert not fault_proxy.deletes()
    driver.stop(workload.name, attempt_id=workload.attempt_id, grace_ms=0)
