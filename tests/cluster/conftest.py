"""The real control plane of these tests: one a worker, on loopback, with fake nodes; and a fault proxy before it.

They are asked for by `./dev test --cluster`. A plain run skips them, and fails where PORTAL_REQUIRE_CLUSTER is 1.
"""

import os
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from kubernetes import client, config

from controlplane import steer
from controlplane.api import Api, Json
from controlplane.build import NEEDED, built
from controlplane.cluster import Cluster, start_cluster
from controlplane.components import Options
from controlplane.errors import NotBuilt
from controlplane.faultproxy import FaultProxy
from tests.cluster.workloads import NAMESPACE

HERE = Path(__file__).parent
# Short, so that a test sees a silent node become Unknown: four missed leases.
GRACE_SECONDS, HEARTBEAT_SECONDS = 8, 2.0
ALL_RIGHTS = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]


def pytest_configure(config: pytest.Config) -> None:
    """The marker of tests that need a real control plane."""
    config.addinivalue_line("markers", "cluster: needs a real Kubernetes control plane (./dev test --cluster)")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests of this folder."""
    for item in items:
        if item.path.is_relative_to(HERE):
            item.add_marker(pytest.mark.cluster)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup() -> None:
    """Without a control plane the tests of this folder are skipped, from one place: the summary has one line."""
    reason = "" if os.environ.get("PORTAL_REQUIRE_CLUSTER") == "1" else _reason_to_skip()
    if reason:
        pytest.skip(reason)


def _reason_to_skip() -> str:
    if os.environ.get("PORTAL_CLUSTER") != "1":
        return "needs a real control plane: ./dev test --cluster"
    try:
        for tool in NEEDED:
            built(tool, os.environ)
    except NotBuilt as missing:
        return str(missing)
    return ""


@pytest.fixture(scope="session")
def control_plane(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    """The running cluster with the preset `small`: gpu-1, gpu-2, npu-1, cpu-1, cpu-2."""
    options = Options(node_grace_seconds=GRACE_SECONDS, heartbeat_seconds=HEARTBEAT_SECONDS)
    cluster = start_cluster(tmp_path_factory.mktemp("cluster"), options, os.environ)
    yield cluster
    cluster.stop()


@pytest.fixture
def server(control_plane: Cluster) -> str:
    """Where the portal reaches the cluster."""
    return control_plane.ports.server


@pytest.fixture(scope="module")
def space() -> str:
    """The namespace of the portal's jobs."""
    return NAMESPACE


@pytest.fixture(scope="session")
def api(control_plane: Cluster) -> Api:
    """A plain client with all rights."""
    return control_plane.api()


@pytest.fixture(scope="session")
def kube(control_plane: Cluster) -> client.ApiClient:
    """The official client with all rights."""
    return config.new_client_from_config(str(control_plane.kubeconfig))


@pytest.fixture(scope="session")
def admin_token(api: Api) -> str:
    """The token of a user who may do everything."""
    return steer.create_user(api, "kube-system", "everything", ALL_RIGHTS, everywhere=True)


@pytest.fixture
def new_namespace(api: Api) -> Iterator[Callable[..., str]]:
    """A maker of namespaces of this test; `enforce="restricted"` sets their Pod Security level."""
    made: list[str] = []

    def make(*, enforce: str = "") -> str:
        made.append(f"t-{uuid.uuid4().hex[:10]}")
        steer.create_namespace(api, made[-1], enforce=enforce)
        return made[-1]

    yield make
    for name in made:
        steer.delete_namespace(api, name)


@pytest.fixture
def namespace(new_namespace: Callable[..., str]) -> str:
    """A namespace of this test."""
    return new_namespace()


@pytest.fixture
def add_node(api: Api) -> Iterator[Callable[[Json], str]]:
    """Add a fake node (see kubelet/presets.py), Ready or as it says; removed after the test."""
    made: list[str] = []

    def add(node: Json) -> str:
        name: str = node["metadata"]["name"]
        api.create("/api/v1/nodes", node)
        made.append(name)
        return name

    yield add
    for name in made:
        api.delete(f"/api/v1/nodes/{name}")


@pytest.fixture
def fault_proxy(control_plane: Cluster) -> Iterator[FaultProxy]:
    """A proxy before the API server: `fault_proxy.add(faults.hang(), "/jobs", methods="GET")`; its URL is `.url`."""
    with FaultProxy(control_plane.ports.server, control_plane.folder.pki) as proxy:
        yield proxy


@pytest.fixture
def through_proxy(fault_proxy: FaultProxy, control_plane: Cluster, admin_token: str) -> client.ApiClient:
    """The official client with all rights, through the fault proxy, without retries of its own."""
    settings = client.Configuration(host=fault_proxy.url)
    settings.ssl_ca_cert = str(control_plane.folder.pki / "ca.crt")
    settings.api_key = {"BearerToken": f"Bearer {admin_token}"}
    settings.retries = False
    return client.ApiClient(settings)
