"""The Kubernetes driver against an API server that goes wrong: nothing is concluded from half an answer, nothing made
twice, and no call takes longer than it may."""

import ipaddress
import socket
import time
from collections.abc import Callable, Iterator
from dataclasses import replace

import pytest

from controlplane import faults, steer
from controlplane.api import Api
from controlplane.cluster import Cluster
from controlplane.faultproxy import FaultProxy
from controlplane.faults import Fault
from resources.drivers.base import DriverUnavailable
from resources.drivers.kubernetes import api as api_module
from resources.drivers.kubernetes.connection import Connection, Credential, Right
from resources.drivers.kubernetes.driver import KubernetesDriver
from tests.cluster.driver_harness import KubernetesHarness
from tests.integration.drivers.contract import NOTHING, SLEEPS
from tests.integration.drivers.steps import ended, members, seen, started

LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"),)
QUICK_S = 1.5
# What is said instead of an answer → the reason in which it ends. No list may come of any of these.
NO_ANSWER: list[tuple[str, Callable[[], Fault], str]] = [
    ("hang", lambda: faults.hang(8.0), "Unreachable"),
    ("drip", lambda: faults.drip(0.3), "Unreachable"),
    ("endless", lambda: faults.endless(1 << 30), "Unreachable"),
    ("disconnect", faults.disconnect, "Unreachable"),
    ("html", faults.html, "NotAnApiServer"),
    ("html 404", lambda: faults.html(404), "NotAnApiServer"),
    ("html 401", lambda: faults.html(401), "NotAnApiServer"),
    ("truncated", faults.truncated, "NotAnApiServer"),
    ("not a list", lambda: faults.body(b"[]"), "NotAnApiServer"),
    ("429", faults.too_many_requests, "TooManyRequests"),
    ("429 with time", lambda: faults.too_many_requests(7), "TooManyRequests"),
    ("500", faults.internal_error, "ServerError"),
    ("503", faults.unavailable, "ServerError"),
    ("410", faults.gone, "ListExpired"),
]


@pytest.fixture(scope="module")
def room(control_plane: Cluster, api: Api, admin_token: str) -> Iterator[KubernetesHarness]:
    steer.create_namespace(api, "faulty", enforce="restricted")
    credential = Credential(token=admin_token)
    authority = (control_plane.folder.pki / "ca.crt").read_text(encoding="utf-8")
    rights = {Right.OBSERVER: credential, Right.RUNNER: credential}
    yield KubernetesHarness(
        control_plane, Connection(control_plane.ports.server, authority, rights, namespace="faulty", networks=LOOPBACK)
    )
    steer.delete_namespace(api, "faulty")


@pytest.fixture
def driver(room: KubernetesHarness, fault_proxy: FaultProxy, monkeypatch: pytest.MonkeyPatch) -> KubernetesDriver:
    """A driver behind the proxy, with a short time for every answer."""
    monkeypatch.setattr(api_module, "ANSWER_S", QUICK_S)
    return KubernetesDriver(connection=replace(room.connection, server=fault_proxy.url))


@pytest.mark.parametrize("verb", ["observe", "inventory"])
@pytest.mark.parametrize(("fault", "reason"), [row[1:] for row in NO_ANSWER], ids=[row[0] for row in NO_ANSWER])
def test_no_list_comes_of_no_answer(driver, fault_proxy, fault, reason, verb):
    fault_proxy.add(fault(), "/(jobs|nodes)")
    began = time.monotonic()
    with pytest.raises(DriverUnavailable) as failure:
        getattr(driver, verb)()
    assert (failure.value.reason, time.monotonic() - began < QUICK_S + 1.0) == (reason, True), failure.value
    fault_proxy.heal()


@pytest.mark.parametrize("fault", [faults.html, faults.internal_error, faults.disconnect, faults.lose_answer])
def test_a_failed_creation_is_made_good_by_the_next_and_makes_one(driver, room, fault_proxy, fault):
    workload = room.workload(NOTHING)
    fault_proxy.add(fault(), "/jobs", methods="POST", times=1)
    with pytest.raises(DriverUnavailable):
        driver.apply(workload)
    driver.apply(workload)
    ended(driver, workload)
    assert room.starts(workload) == ["0"]
    made = [created for created in fault_proxy.creates("/jobs") if created.name == workload.name]
    assert len(made) == 1


@pytest.mark.parametrize("fault", [faults.internal_error, faults.html, lambda: faults.html(404), faults.truncated])
def test_a_look_that_fails_creates_nothing(driver, room, fault_proxy, fault):
    workload = room.workload(NOTHING)
    fault_proxy.add(fault(), f"/jobs/{workload.name}", methods="GET")
    with pytest.raises(DriverUnavailable):
        driver.apply(workload)
    assert not fault_proxy.creates("/jobs")


def test_a_list_that_is_short_without_a_word_proves_no_absence(driver, room, fault_proxy):
    workloads = [room.workload(SLEEPS) for _ in range(4)]
    for workload in workloads:
        driver.apply(workload)
    assert driver.observe().complete
    fault_proxy.add(faults.items_missing(), "/(jobs|pods|nodes)")
    partial, inventory = driver.observe(), driver.inventory()
    assert not partial.complete
    assert inventory.complete, "nothing was listed before, so nothing is missing"
    assert not driver.inventory().complete or len(driver.inventory().nodes) == len(inventory.nodes)
    fault_proxy.heal()
    assert driver.observe().complete
    for workload in workloads:
        driver.stop(workload.name, attempt_id=workload.attempt_id, grace_ms=0)


def test_a_list_from_long_ago_proves_no_absence(driver, room, fault_proxy):
    driver.observe()
    fault_proxy.add(faults.rewound(), "/(jobs|pods)")
    assert not driver.observe().complete
    fault_proxy.heal()
    assert driver.observe().complete


def test_a_list_that_expires_on_the_way_is_begun_again(driver, room, fault_proxy, monkeypatch):
    monkeypatch.setattr(api_module, "PAGE", 2)
    fault_proxy.add(faults.continue_gone(), "/nodes", times=1)
    inventory = driver.inventory()
    assert inventory.complete and len(inventory.nodes) >= 5
    assert len({node.name for node in inventory.nodes}) == len(inventory.nodes)


def test_after_failures_in_a_row_it_is_left_alone_and_found_again(driver, fault_proxy):
    fault_proxy.add(faults.internal_error())
    for _ in range(3):
        with pytest.raises(DriverUnavailable):
            driver.observe()
    asked = len(fault_proxy.requests)
    with pytest.raises(DriverUnavailable) as failure:
        driver.observe()
    assert (failure.value.reason, len(fault_proxy.requests)) == ("CircuitOpen", asked)


def test_a_deletion_by_somebody_else_loses_no_evidence(driver, room, api):
    workload = room.workload(SLEEPS)
    driver.apply(workload)
    started(driver, workload)
    api.delete(f"/apis/batch/v1/namespaces/faulty/jobs/{workload.name}", {"propagationPolicy": "Background"})
    (member,) = ended(driver, workload)
    assert (member.reason, member.signal) == ("Killed", 15)
    driver.forget(workload.name, attempt_id=workload.attempt_id)
    assert seen(driver, workload) is None


def test_an_eviction_is_told_in_the_clusters_words(driver, room):
    evicted = room.workload(SLEEPS)
    room.also(evicted, evict_after=0.3)
    driver.apply(evicted)
    (member,) = ended(driver, evicted)
    assert member.reason == "Evicted" and "low on resource" in member.message
    assert members(driver, evicted) == (member,)


def test_of_the_addresses_of_a_name_one_that_is_down_does_not_count(room, monkeypatch):
    """Control planes of several machines are one name; nothing listens on the first address here."""
    resolved = socket.getaddrinfo

    def two(host, port, *more, **named):
        rows = resolved("127.0.0.1", port, *more, **named)
        return (
            [(*row[:4], ("127.9.9.9", port)) for row in rows] + rows
            if host == "127.0.0.1"
            else resolved(host, port, *more, **named)
        )

    monkeypatch.setattr(socket, "getaddrinfo", two)
    assert room.driver().observe() is not None


def test_a_node_that_gives_no_log_is_left_alone_for_a_while_and_the_cluster_is_not(driver, room, fault_proxy):
    workload = room.workload(NOTHING)
    driver.apply(workload)
    ended(driver, workload)
    fault_proxy.add(faults.hang(8.0), "/log")
    reasons, began = [], time.monotonic()
    for _ in range(6):
        with pytest.raises(DriverUnavailable) as failure:
            driver.logs(workload.name, member=0, offset=0, limit=10)
        reasons.append(failure.value.reason)
    assert reasons == ["Unreachable"] + ["NodeSilent"] * 5 and time.monotonic() - began < 2 * QUICK_S
    assert driver.observe().complete
