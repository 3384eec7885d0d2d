"""What a test tells a running cluster: namespaces, scripts for pods, nodes that freeze, users with few rights."""

import base64
import json
import time
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from controlplane.api import MERGE, Api, Json, Refused
from controlplane.kubelet.presets import FROZEN, READY
from controlplane.kubelet.script import PREFIX, SCRIPTS, TYPES
from controlplane.state import token_kubeconfig

POLL_SECONDS = 0.05
SETTLE_SECONDS = 20.0
RBAC = "/apis/rbac.authorization.k8s.io/v1"


def create_namespace(api: Api, name: str, *, enforce: str = "") -> None:
    """A namespace ready for pods; `enforce` is a Pod Security level, e.g. restricted."""
    labels = {"pod-security.kubernetes.io/enforce": enforce} if enforce else {}
    api.create("/api/v1/namespaces", {"metadata": {"name": name, "labels": labels}})
    await_object(api, f"/api/v1/namespaces/{name}/serviceaccounts/default")


def delete_namespace(api: Api, name: str) -> None:
    """Ask for its end, which comes later. Idempotent."""
    try:
        api.delete(f"/api/v1/namespaces/{name}")
    except Refused as refusal:
        if refusal.status not in (404, 409):
            raise


def script_pods(api: Api, namespace: str, **script: Any) -> None:
    """Every pod of the namespace that says nothing itself follows this script; see kubelet/script.py."""
    told = {f"{PREFIX}{key}": value for key, value in _texts(script).items()}
    api.patch(f"/api/v1/namespaces/{namespace}", {"metadata": {"annotations": told}}, MERGE)


def script_matching(api: Api, namespace: str, scripts: Mapping[str, Mapping[str, Any]]) -> None:
    """Pods of the namespace whose name matches a pattern (`train-*`) follow its script; replaces earlier ones."""
    told = {f"{PREFIX}{SCRIPTS}": json.dumps({pattern: _texts(script) for pattern, script in scripts.items()})}
    api.patch(f"/api/v1/namespaces/{namespace}", {"metadata": {"annotations": told}}, MERGE)


def annotations(**script: Any) -> dict[str, str]:
    """The annotations of a pod that follows this script."""
    return {f"{PREFIX}{key}": value for key, value in _texts(script).items()}


def freeze(api: Api, node: str) -> None:
    """The node falls silent, as if its machine lost power: no lease, and its pods stay as they are."""
    _annotate_node(api, node, {FROZEN: "true"})


def thaw(api: Api, node: str) -> None:
    """The node comes back, and what was due on it is done."""
    _annotate_node(api, node, {FROZEN: None})


def set_ready(api: Api, node: str, *, ready: bool) -> None:
    """The node's own word for whether it can run pods; it stays alive."""
    _annotate_node(api, node, {READY: None if ready else "false"})


def create_user(api: Api, namespace: str, name: str, rules: Iterable[Json] = (), *, everywhere: bool = False) -> str:
    """The token of a new service account with these rules in its namespace, or in the whole cluster."""
    account = {"metadata": {"name": name}}
    api.create(f"/api/v1/namespaces/{namespace}/serviceaccounts", account)
    chosen = list(rules)
    if chosen:
        _grant(api, namespace, name, chosen, everywhere=everywhere)
    path = f"/api/v1/namespaces/{namespace}/serviceaccounts/{name}/token"
    token: str = api.create(path, {"spec": {"expirationSeconds": 86_400}})["status"]["token"]
    return token


def kubeconfig_text(server: str, pki: Path, token: str) -> str:
    """A kubeconfig as a person pastes it, for the API server or for a fault proxy before it."""
    return token_kubeconfig(server, base64.b64encode((pki / "ca.crt").read_bytes()).decode(), token)


def await_object(api: Api, path: str, *, seconds: float = SETTLE_SECONDS) -> Json:
    """The object once it is there. Raises the last Refused."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            return api.get(path)
        except Refused as refusal:
            if refusal.status != 404 or time.monotonic() > deadline:
                raise
        time.sleep(POLL_SECONDS)


def _grant(api: Api, namespace: str, name: str, rules: list[Json], *, everywhere: bool) -> None:
    kind = "ClusterRole" if everywhere else "Role"
    base = RBAC if everywhere else f"{RBAC}/namespaces/{namespace}"
    full = f"{namespace}-{name}" if everywhere else name
    api.create(f"{base}/{kind.lower()}s", {"metadata": {"name": full}, "rules": rules})
    binding = {
        "metadata": {"name": full},
        "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": full},
        "subjects": [{"kind": "ServiceAccount", "name": name, "namespace": namespace}],
    }
    api.create(f"{base}/{kind.lower()}bindings", binding)


def _texts(script: Mapping[str, Any]) -> dict[str, str]:
    """The script as annotations write it. Raises ValueError for what the fake kubelet would not know."""
    told = {
        key.replace("_", "-"): str(value).lower() if isinstance(value, bool) else str(value)
        for key, value in script.items()
    }
    unknown = set(told) - set(TYPES)
    if unknown:
        raise ValueError(f"the fake kubelet knows no {min(unknown)}")
    return told


def _annotate_node(api: Api, node: str, told: Mapping[str, str | None]) -> None:
    api.patch(f"/api/v1/nodes/{node}", {"metadata": {"annotations": dict(told)}}, MERGE)
