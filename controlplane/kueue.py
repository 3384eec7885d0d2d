"""Kueue as one more child of a cluster: its types, its webhooks by address, its configuration.

Its own certificate management stays on (without it the program reads a fixed path in /etc), and finds in its secret
certificates that it has no reason to replace.
"""

import base64
import json
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from controlplane.api import Api, Json, Refused
from controlplane.components import answers
from controlplane.errors import ControlPlaneError
from controlplane.pki import write_webhook_pki
from controlplane.state import LOOPBACK, ClusterFolder, Ports
from portal.embedded.paths import write_private
from portal.embedded.process import Spec

NAMESPACE = "kueue-system"
SERVICE = "kueue-webhook-service"
SECRET = "kueue-webhook-server-cert"  # noqa: S105
AUTHORITY = "kueue-ca"
TYPES = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1"
# The types that exist in two versions and are converted by Kueue itself.
CONVERTED = ("clusterqueues", "cohorts", "localqueues", "multikueueclusters", "workloads")
GROUPS = ("kueue.x-k8s.io", "batch")
ESTABLISHED_SECONDS = 30.0


class Kueue:
    """Kueue in one cluster, for batch Jobs with a queue name."""

    def __init__(self, folder: ClusterFolder, ports: Ports, built: Path, env: Mapping[str, str]) -> None:
        self.kubeconfig = folder.kubeconfig
        self.certificates = folder.root / "kueue"
        self.ports = ports
        self.built = built
        self.env = dict(env)

    def install(self, api: Api) -> None:
        """Put its types, secret and webhooks into the cluster. Idempotent."""
        if not (self.certificates / "ca.key").exists():
            write_webhook_pki(self.certificates, AUTHORITY, f"{SERVICE}.{NAMESPACE}.svc")
        _ensure(api, "/api/v1/namespaces", {"metadata": {"name": NAMESPACE}})
        _ensure(api, f"/api/v1/namespaces/{NAMESPACE}/secrets", self._secret())
        types = list(self._types())
        for thing in types:
            _ensure(api, TYPES, thing)
        for thing in types:
            _await_established(api, thing["metadata"]["name"])
        for thing in self._webhooks():
            _ensure(api, f"{WEBHOOKS}/{thing['kind'].lower()}s", thing)

    def spec(self) -> Spec:
        """The program. Start it once its types are established: without them it ends at once."""
        file = self.certificates / "configuration.json"
        write_private(file, json.dumps(self._configuration()))
        flags = (f"--config={file}", f"--kubeconfig={self.kubeconfig}", "--feature-gates=VisibilityOnDemand=false")
        return Spec(
            name="kueue",
            title="Kueue",
            argv=(str(self.built / "kueue"), *flags),
            env=self.env,
            is_ready=lambda _pid: answers(self.ports.kueue_health, "/readyz"),
        )

    def _configuration(self) -> Json:
        webhook = {"host": LOOPBACK, "port": self.ports.kueue_webhook, "certDir": str(self.certificates)}
        return {
            "apiVersion": "config.kueue.x-k8s.io/v1beta2",
            "kind": "Configuration",
            "namespace": NAMESPACE,
            "health": {"healthProbeBindAddress": f"{LOOPBACK}:{self.ports.kueue_health}"},
            "metrics": {"bindAddress": "0"},
            "webhook": webhook,
            "leaderElection": {"leaderElect": False},
            "clientConnection": {"qps": 300, "burst": 500},
            "internalCertManagement": {
                "enable": True,
                "webhookServiceName": SERVICE,
                "webhookSecretName": SECRET,
            },
            "integrations": {"frameworks": ["batch/job"]},
        }

    def _secret(self) -> Json:
        files = ("ca.crt", "ca.key", "tls.crt", "tls.key")
        return {"metadata": {"name": SECRET}, "data": {name: self._encoded(name) for name in files}}

    def _types(self) -> Iterator[Json]:
        for file in sorted((self.built / "manifests" / "crd").glob("*.yaml")):
            thing: Json = yaml.safe_load(file.read_text(encoding="utf-8"))
            if thing["spec"]["names"]["plural"] in CONVERTED:
                webhook = {"clientConfig": self._client("/convert"), "conversionReviewVersions": ["v1"]}
                thing["spec"]["conversion"] = {"strategy": "Webhook", "webhook": webhook}
            yield thing

    def _webhooks(self) -> Iterator[Json]:
        """Those for its own types and for Jobs, called by address: there is no service network here."""
        text = (self.built / "manifests" / "webhook" / "manifests.yaml").read_text(encoding="utf-8")
        for thing in yaml.safe_load_all(text):
            thing["metadata"]["name"] = f"kueue-{thing['metadata']['name']}"
            thing["webhooks"] = [self._called_by_address(hook) for hook in thing["webhooks"] if _is_wanted(hook)]
            yield thing

    def _called_by_address(self, hook: Json) -> Json:
        outside = {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system", NAMESPACE]}
        changed = {"clientConfig": self._client(hook["clientConfig"]["service"]["path"])}
        if _group(hook) == "batch":
            changed["namespaceSelector"] = {"matchExpressions": [outside]}
        return {**hook, **changed}

    def _client(self, path: str) -> Json:
        address = f"https://{LOOPBACK}:{self.ports.kueue_webhook}{path}"
        return {"url": address, "caBundle": self._encoded("ca.crt")}

    def _encoded(self, name: str) -> str:
        return base64.b64encode((self.certificates / name).read_bytes()).decode()


def _group(hook: Mapping[str, Any]) -> str:
    group: str = hook["rules"][0]["apiGroups"][0]
    return group


def _is_wanted(hook: Mapping[str, Any]) -> bool:
    return _group(hook) in GROUPS


def _ensure(api: Api, collection: str, thing: Json) -> None:
    try:
        api.create(collection, thing)
    except Refused as refusal:
        if refusal.status != 409:
            raise


def _await_established(api: Api, name: str) -> None:
    deadline = time.monotonic() + ESTABLISHED_SECONDS
    while time.monotonic() < deadline:
        conditions = api.get(f"{TYPES}/{name}").get("status", {}).get("conditions") or []
        if any(c["type"] == "Established" and c["status"] == "True" for c in conditions):
            return
        time.sleep(0.05)
    raise ControlPlaneError(f"The API server does not take the type {name}.")
