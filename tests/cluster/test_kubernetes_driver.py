"""The Kubernetes driver under the contract of all drivers, on a real control plane with least privilege."""

import ipaddress
from collections.abc import Iterator

import pytest

from controlplane import steer
from controlplane.api import Api
from controlplane.cluster import Cluster
from portal.lib.failpoints import FAILPOINTS
from resources.drivers.base import WorkloadRejected
from resources.drivers.kubernetes.connection import Connection, Credential, Right
from tests.cluster.driver_harness import KubernetesHarness
from tests.integration.drivers.contract import NOTHING, SERVICE, SLEEPS, DriverContract
from tests.integration.drivers.steps import Harness, ended, seen, started

LOOPBACK = (ipaddress.ip_network("127.0.0.0/8"),)


@pytest.fixture(scope="module")
def harness(control_plane: Cluster, api: Api, admin_token: str) -> Iterator[KubernetesHarness]:
    """In a namespace that enforces `restricted`."""
    steer.create_namespace(api, "contract", enforce="restricted")
    credential = Credential(token=admin_token)
    connection = Connection(
        server=control_plane.ports.server,
        authority_pem=(control_plane.folder.pki / "ca.crt").read_text(encoding="utf-8"),
        credentials={Right.OBSERVER: credential, Right.RUNNER: credential},
        namespace="contract",
        networks=LOOPBACK,
    )
    yield KubernetesHarness(control_plane, connection)
    steer.delete_namespace(api, "contract")


class TestKubernetesDriver(DriverContract):
    """The contract's tests run here; services do not, and say so."""

    test_a_service_is_ready_when_its_health_path_answers = None  # type: ignore[assignment]
    test_replicas_have_addresses_of_their_own = None  # type: ignore[assignment]

    def test_a_service_is_refused_and_the_capability_says_so(self, harness: Harness) -> None:
        driver = harness.driver()
        assert not driver.capability().services
        with pytest.raises(WorkloadRejected) as refusal:
            driver.apply(harness.workload(SERVICE, serves=True))
        assert refusal.value.reason == "ServicesNotSupported"

    def test_what_the_cluster_refuses_is_rejected_in_its_own_words(self, harness: Harness) -> None:
        with pytest.raises(WorkloadRejected) as refusal:
            harness.driver().apply(harness.workload(NOTHING, runtime_class="Not A Name"))
        assert refusal.value.reason == "Invalid"

    @pytest.mark.parametrize("verb", ["stop", "forget"])
    def test_what_was_killed_half_way_is_made_good_by_the_next(self, harness: KubernetesHarness, verb: str) -> None:
        point = {"stop": "kubernetes.stop.after_mark", "forget": "kubernetes.forget.after_fence"}[verb]
        driver, workload = harness.driver(), harness.workload(SLEEPS if verb == "stop" else NOTHING)
        driver.apply(workload)
        started(driver, workload) if verb == "stop" else ended(driver, workload)
        assert harness.caller(workload, f"{point}=kill", verb).wait(10) == -9, f"{point} did not fire"
        assert harness.caller(workload, "", verb).wait(10) == 0
        if verb == "stop":
            assert ended(driver, workload)[0].reason == "Stopped"
        else:
            assert seen(driver, workload) is None

    def test_every_failpoint_of_this_driver_is_visited(self, harness: KubernetesHarness) -> None:
        visited = {*harness.failpoints, "kubernetes.stop.after_mark", "kubernetes.forget.after_fence"}
        assert {name for name in FAILPOINTS if name.startswith("kubernetes.")} == visited
