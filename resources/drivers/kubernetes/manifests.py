"""The three roles as manifests for `kubectl apply`, written from the table of rights. Pure."""

from collections.abc import Iterable
from typing import Any, Final

import yaml

from resources.drivers.kubernetes.connection import NAMESPACE, Right
from resources.drivers.kubernetes.names import HOME, PREFIX
from resources.drivers.kubernetes.rights import (
    PLUGIN_NAMESPACE,
    PLUGINS_ROLE,
    RULES,
    RUNNER_ROLE,
    Place,
    Rule,
)

MANAGED: Final = PREFIX + "managed"
LIFETIME: Final = "2160h"
_RBAC: Final = "rbac.authorization.k8s.io"
Object = dict[str, Any]


def manifest(right: Right, namespace: str = NAMESPACE) -> str:
    """The YAML documents of one role, and above them how to apply them and get a token."""
    account = f"armillary-{right}"
    head = (
        f"# Armillary: the role {right}. Apply it as an administrator of the cluster, then make a token:\n"
        f"#   kubectl apply -f {right}.yaml\n"
        f"#   kubectl -n {HOME} create token {account} --duration={LIFETIME}\n"
        "# The cluster may shorten the duration; the portal warns before the token ends.\n"
    )
    return head + "".join(f"---\n{yaml.safe_dump(one, sort_keys=False)}" for one in objects(right, namespace))


def objects(right: Right, namespace: str = NAMESPACE) -> list[Object]:
    """The objects of one role. Applying them twice changes nothing."""
    account = f"armillary-{right}"
    front = [_namespace(HOME), _account(account)]
    if right == Right.RUNNER:
        # Whoever writes pods must not be able to start privileged ones.
        restricted = {"pod-security.kubernetes.io/enforce": "restricted"}
        role = _cluster_role(RUNNER_ROLE, RULES[right])
        return [*front, _namespace(namespace, restricted), role, _binding(RUNNER_ROLE, account, namespace)]
    wide = [rule for rule in RULES[right] if rule.place == Place.CLUSTER]
    found = [*front, _cluster_role(account, wide), _binding(account, account)]
    plugins = [rule for rule in RULES[right] if rule.place == Place.PLUGINS]
    if plugins:
        found += [_cluster_role(PLUGINS_ROLE, plugins), _binding(PLUGINS_ROLE, account, PLUGIN_NAMESPACE)]
    return found


def _namespace(name: str, labels: dict[str, str] | None = None) -> Object:
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": _labels(labels)}}


def _account(name: str) -> Object:
    return {
        "apiVersion": "v1",
        "kind": "ServiceAccount",
        "metadata": {"name": name, "namespace": HOME, "labels": _labels()},
        "automountServiceAccountToken": False,
    }


def _cluster_role(name: str, rules: Iterable[Rule]) -> Object:
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "ClusterRole",
        "metadata": {"name": name, "labels": _labels()},
        "rules": [_rule(rule) for rule in rules],
    }


def _rule(rule: Rule) -> Object:
    found: Object = {"apiGroups": [rule.group], "resources": list(rule.resources), "verbs": list(rule.verbs)}
    return found | ({"resourceNames": list(rule.names)} if rule.names else {})


def _binding(role: str, account: str, namespace: str = "") -> Object:
    """Of the role to the account: in one namespace, or in the whole cluster."""
    place = {"namespace": namespace} if namespace else {}
    return {
        "apiVersion": f"{_RBAC}/v1",
        "kind": "RoleBinding" if namespace else "ClusterRoleBinding",
        "metadata": {"name": role, **place, "labels": _labels()},
        "roleRef": {"apiGroup": _RBAC, "kind": "ClusterRole", "name": role},
        "subjects": [{"kind": "ServiceAccount", "name": account, "namespace": HOME}],
    }


def _labels(more: dict[str, str] | None = None) -> dict[str, str]:
    return {MANAGED: "true", **(more or {})}
