"""Logs of a real API server: long ones read piece by piece, rotated ones, and those of a node that is gone."""

from collections.abc import Iterator
from dataclasses import replace

import pytest

from controlplane import steer
from controlplane.api import Api
from controlplane.cluster import Cluster
from controlplane.faultproxy import FaultProxy
from controlplane.kubelet.presets import node
from resources.drivers.base import DriverUnavailable, MemberSpec
from resources.drivers.kubernetes.connection import Connection, Credential, Right
from resources.drivers.kubernetes.driver import KubernetesDriver
from tests.cluster.driver_harness import KubernetesHarness
from tests.cluster.test_kubernetes_driver import LOOPBACK
from tests.integration.drivers.contract import NOTHING
from tests.integration.drivers.steps import ended, run_to_end

SPACE = "long-logs"
MIB = 1 << 20


@pytest.fixture(scope="module")
def room(control_plane: Cluster, api: Api, admin_token: str) -> Iterator[KubernetesHarness]:
    steer.create_namespace(api, SPACE, enforce="restricted")
    authority = (control_plane.folder.pki / "ca.crt").read_text(encoding="utf-8")
    rights = {right: Credential(token=admin_token) for right in (Right.OBSERVER, Right.RUNNER)}
    connection = Connection(control_plane.ports.server, authority, rights, namespace=SPACE, networks=LOOPBACK)
    yield KubernetesHarness(control_plane, connection)
    steer.delete_namespace(api, SPACE)


def written(room: KubernetesHarness, driver: KubernetesDriver, **words: object) -> str:
    """The name of a workload that left such a log."""
    workload = room.workload(NOTHING)
    room.also(workload, **words)
    run_to_end(driver, workload)
    return workload.name


def numbers(text: bytes) -> list[int]:
    return [int(line[:9]) for line in text.splitlines()]


def test_a_log_beyond_32_mib_is_read_to_its_end_and_each_piece_once(room, fault_proxy: FaultProxy):
    driver = KubernetesDriver(connection=replace(room.connection, server=fault_proxy.url))
    name = written(room, driver, log_bytes=40 * MIB, log_bytes_a_second=10 * MIB)
    before, offset, found = len(fault_proxy.requests), 0, []
    while True:
        data, following = driver.logs(name, member=0, offset=offset, limit=8 * MIB)
        if not data:
            break
        found.append(data)
        offset = following
    whole = b"".join(found)
    assert numbers(whole) == list(range(40 * MIB // 1_000)) and offset == len(whole)
    asked = [target for _method, target in fault_proxy.requests[before:] if "/log?" in target]
    assert sum("sinceTime" not in target for target in asked) == 1, "the beginning is read once"


def test_the_end_of_a_long_log_is_shown_without_reading_it_all(room):
    driver = room.driver()
    name = written(room, driver, log_bytes=60 * MIB, log_bytes_a_second=10 * MIB)
    tail, offset = driver.logs(name, member=0, offset=-65_536, limit=256 * 1024)
    assert len(tail) == 65_536 and int(tail.splitlines()[-1][:9]) == 60 * MIB // 1_000 - 1
    assert driver.logs(name, member=0, offset=offset, limit=1_000) == (b"", offset)


def test_of_a_log_the_node_has_rotated_what_is_left_is_read(room):
    driver = room.driver()
    name = written(room, driver, log_bytes=20 * MIB, log_bytes_a_second=10 * MIB, log_kept=MIB)
    data, _ = driver.logs(name, member=0, offset=0, limit=8 * MIB)
    first = (20 * MIB) // 1_000 - MIB // 1_000
    assert numbers(data) == list(range(first, 20 * MIB // 1_000))


def test_a_log_on_a_node_that_is_gone_is_not_an_empty_one(room, api):
    api.create("/api/v1/nodes", node("lost-1"))
    driver = room.driver()
    workload = replace(room.workload(NOTHING), members=(MemberSpec(0, "lost-1", 500, 64 * MIB),))
    driver.apply(workload)
    ended(driver, workload)
    api.delete("/api/v1/nodes/lost-1")
    with pytest.raises(DriverUnavailable) as failure:
        driver.logs(workload.name, member=0, offset=0, limit=100)
    assert failure.value.reason == "NodeGone"
    with pytest.raises(DriverUnavailable) as failure:
        driver.logs(workload.name, member=0, offset=0, limit=100)
    assert failure.value.reason == "NodeSilent"
    driver.forget(workload.name, attempt_id=workload.attempt_id)
