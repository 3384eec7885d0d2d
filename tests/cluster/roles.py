"""What an administrator of a cluster does with the manifests of the portal's roles."""

from controlplane.api import Api, Json, Refused
from resources.drivers.kubernetes.connection import Right
from resources.drivers.kubernetes.manifests import objects
from resources.drivers.kubernetes.names import HOME


def apply_role(api: Api, right: Right, namespace: str) -> str:
    """Apply the manifest of a role, and the token of its account."""
    for one in objects(right, namespace):
        place, group = one["metadata"].get("namespace"), one["apiVersion"]
        prefix = "/api/v1" if group == "v1" else f"/apis/{group}"
        _create(api, f"{prefix}/namespaces/{place}" if place else prefix, one)
    account = f"/api/v1/namespaces/{HOME}/serviceaccounts/armillary-{right}"
    token: str = api.create(f"{account}/token", {"spec": {"expirationSeconds": 3600}})["status"]["token"]
    return token


def _create(api: Api, path: str, one: Json) -> None:
    try:
        api.create(f"{path}/{one['kind'].lower()}s", one)
    except Refused as refusal:
        if refusal.status != 409:
            raise
