"""The shipped roles on a real API server: it grants exactly what is asked, and refuses what no role may (T06)."""

from ipaddress import ip_network

import pytest

from controlplane.api import Api as Plain
from controlplane.cluster import Cluster as ControlPlane
from resources.drivers.kubernetes.api import Api, Refused
from resources.drivers.kubernetes.connection import Connection, Credential, Right
from resources.drivers.kubernetes.review import asker
from resources.drivers.kubernetes.rights import ask_all, features_off, needs, too_much
from tests.cluster.roles import apply_role
from tests.cluster.test_portal_on_kubernetes import NAMESPACE

RBAC = "/apis/rbac.authorization.k8s.io/v1"


@pytest.fixture(scope="module")
def as_roles(control_plane: ControlPlane, api: Plain) -> Api:
    """The API server, as each of the three roles."""
    tokens = {right: Credential(token=apply_role(api, right, NAMESPACE)) for right in Right}
    return Api(connection(control_plane, tokens))


def connection(control_plane: ControlPlane, credentials: dict[Right, Credential]) -> Connection:
    """To the control plane on loopback."""
    return Connection(
        server=control_plane.ports.server,
        authority_pem=(control_plane.folder.pki / "ca.crt").read_text(encoding="utf-8"),
        credentials=credentials,
        namespace=NAMESPACE,
        networks=(ip_network("127.0.0.0/8"),),
    )


@pytest.mark.parametrize("right", Right)
def test_the_review_finds_all_that_is_needed_and_nothing_beyond(as_roles: Api, right: Right) -> None:
    answers = ask_all(right, NAMESPACE, asker(as_roles))
    assert [one.key for one in needs(right, NAMESPACE) if answers[one.key] is not True] == []
    assert features_off(right, NAMESPACE, answers) == [] and too_much(NAMESPACE, answers) == []


def test_an_administrators_token_is_said_to_be_too_much(control_plane: ControlPlane, admin_token: str) -> None:
    strong = Api(connection(control_plane, {Right.OBSERVER: Credential(token=admin_token)}))
    answers = ask_all(Right.OBSERVER, NAMESPACE, asker(strong))
    assert [one.verb for one in too_much(NAMESPACE, answers)] == ["*"]


def test_a_role_that_lost_a_permission_is_found_out(as_roles: Api, api: Plain) -> None:
    role = f"{RBAC}/clusterroles/armillary-runner"
    whole = api.get(role)["rules"]
    api.patch(role, {"rules": [rule for rule in whole if rule["resources"] != ["pods/log"]]})
    try:
        assert features_off(Right.RUNNER, NAMESPACE, ask_all(Right.RUNNER, NAMESPACE, asker(as_roles))) == ["logs"]
    finally:
        api.patch(role, {"rules": whole})


@pytest.mark.parametrize("right", Right)
@pytest.mark.parametrize("place", ["/api/v1/secrets", f"/api/v1/namespaces/{NAMESPACE}/secrets"])
def test_no_role_lists_secrets(as_roles: Api, right: Right, place: str) -> None:
    with pytest.raises(Refused) as refusal:
        as_roles.get(place, right=right)
    assert refusal.value.status == 403


def test_the_observer_creates_nothing_and_the_runner_nothing_elsewhere(as_roles: Api) -> None:
    thing = {"metadata": {"name": "thing"}}
    for right, namespace in (
        (Right.OBSERVER, NAMESPACE),
        (Right.RUNNER, "default"),
        (Right.RUNNER, "armillary-system"),
    ):
        with pytest.raises(Refused) as refusal:
            as_roles.create(f"/api/v1/namespaces/{namespace}/configmaps", thing, right=right)
        assert refusal.value.status == 403


def test_the_steward_binds_the_two_fixed_roles_and_no_other(as_roles: Api, namespace: str) -> None:
    for name, status in (("armillary-runner", 0), ("armillary-device-plugins", 0), ("cluster-admin", 403)):
        binding = {
            "metadata": {"name": name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": name},
            "subjects": [{"kind": "ServiceAccount", "name": "armillary-runner", "namespace": "armillary-system"}],
        }
        try:
            as_roles.create(f"{RBAC}/namespaces/{namespace}/rolebindings", binding, right=Right.STEWARD)
            got = 0
        except Refused as refusal:
            got = refusal.status
        assert got == status, name
    assert as_roles.create(
        f"/api/v1/namespaces/{namespace}/configmaps", {"metadata": {"name": "thing"}}, right=Right.RUNNER
    )
