"""The servers of one cluster as supervised children: what each is told, and how one sees that it is ready."""

import http.client
import json
import ssl
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path

from controlplane.state import LOOPBACK, ClusterFolder, Ports, write_kubeconfig
from portal.embedded.paths import write_private
from portal.embedded.process import Spec

# What a portal's test would otherwise measure is the clients' own limit: 20 requests a second.
CLIENT_QPS = 1000
NODE_MONITOR_SECONDS = 1
SERVICE_ADDRESSES = "10.0.0.0/24"
# Enough for jobs, deployments, quotas, disruption budgets, node failure and clean ends; the others cost start time.
CONTROLLERS = (
    "daemonset-controller",
    "deployment-controller",
    "disruption-controller",
    "garbage-collector-controller",
    "job-controller",
    "namespace-controller",
    "node-lifecycle-controller",
    "persistentvolume-binder-controller",
    "pod-garbage-collector-controller",
    "replicaset-controller",
    "resourcequota-controller",
    "root-ca-certificate-publisher-controller",
    "serviceaccount-controller",
    "taint-eviction-controller",
    "ttl-after-finished-controller",
)


@dataclass(frozen=True, slots=True)
class Options:
    """What a cluster shall be like; `node_grace_seconds` is how long a silent node stays Ready."""

    nodes: str = "small"
    all_controllers: bool = False
    kueue: bool = False
    node_grace_seconds: int = 20
    heartbeat_seconds: float = 5.0


class Components:
    """The children of one cluster. `programs` maps a program's name to its file."""

    def __init__(
        self, folder: ClusterFolder, ports: Ports, programs: Mapping[str, Path], env: Mapping[str, str]
    ) -> None:
        self.folder = folder
        self.ports = ports
        self.programs = programs
        self.env = dict(env)
        self.trust = ssl.create_default_context(cafile=str(folder.pki / "ca.crt"))

    def etcd(self) -> Spec:
        """The store. Not durable: the cluster is a throwaway, and every sync to disk costs a start second."""
        client, peer = f"http://{LOOPBACK}:{self.ports.etcd}", f"http://{LOOPBACK}:{self.ports.etcd_peer}"
        flags = (
            *("--name=test", f"--data-dir={self.folder.etcd}", "--unsafe-no-fsync=true", "--logger=zap"),
            *(f"--listen-client-urls={client}", f"--advertise-client-urls={client}", f"--listen-peer-urls={peer}"),
            *(f"--initial-advertise-peer-urls={peer}", f"--initial-cluster=test={peer}", "--log-level=warn"),
        )
        return self._spec("etcd", "etcd", flags, lambda _pid: answers(self.ports.etcd, "/health", None))

    def apiserver(self) -> Spec:
        """The API server; whoever has no role in it is refused, as on a real cluster."""
        pki = self.folder.pki
        flags = (
            f"--etcd-servers=http://{LOOPBACK}:{self.ports.etcd}",
            *(f"--bind-address={LOOPBACK}", f"--advertise-address={LOOPBACK}", f"--secure-port={self.ports.apiserver}"),
            *("--endpoint-reconciler-type=none", f"--service-cluster-ip-range={SERVICE_ADDRESSES}"),
            *("--authorization-mode=Node,RBAC", f"--client-ca-file={pki}/ca.crt", "--allow-privileged=true"),
            *(f"--tls-cert-file={pki}/serving.crt", f"--tls-private-key-file={pki}/serving.key"),
            *(
                f"--service-account-issuer={self.ports.server}",
                f"--service-account-key-file={pki}/service-accounts.pub",
            ),
            f"--service-account-signing-key-file={pki}/service-accounts.key",
            *(
                f"--kubelet-client-certificate={pki}/kubelet-client.crt",
                f"--kubelet-client-key={pki}/kubelet-client.key",
            ),
            *(f"--kubelet-certificate-authority={pki}/ca.crt", "--kubelet-preferred-address-types=InternalIP"),
        )
        return self._spec("kube-apiserver", "The API server", flags, self._https("apiserver", "/readyz"))

    def controller_manager(self, options: Options) -> Spec:
        """The controllers, with each controller a service account of its own, as kubeadm runs them."""
        pki, config = self.folder.pki, self._config("controller-manager")
        chosen = "*" if options.all_controllers else ",".join(CONTROLLERS)
        flags = (
            *(
                f"--kubeconfig={config}",
                f"--authentication-kubeconfig={config}",
                f"--authorization-kubeconfig={config}",
            ),
            *("--leader-elect=false", f"--bind-address={LOOPBACK}", f"--secure-port={self.ports.controller_manager}"),
            *(f"--tls-cert-file={pki}/serving.crt", f"--tls-private-key-file={pki}/serving.key"),
            *(f"--service-account-private-key-file={pki}/service-accounts.key", f"--root-ca-file={pki}/ca.crt"),
            *("--use-service-account-credentials=true", f"--controllers={chosen}", "--profiling=false"),
            *(f"--kube-api-qps={CLIENT_QPS}", f"--kube-api-burst={CLIENT_QPS}"),
            *(f"--node-monitor-grace-period={options.node_grace_seconds}s", "--concurrent-job-syncs=20"),
            f"--node-monitor-period={NODE_MONITOR_SECONDS}s",
        )
        ready = self._https("controller_manager", "/healthz")
        return self._spec("kube-controller-manager", "The controllers", flags, ready)

    def scheduler(self) -> Spec:
        """The scheduler with its usual plugins."""
        pki, config = self.folder.pki, self._config("scheduler")
        settings = {
            "apiVersion": "kubescheduler.config.k8s.io/v1",
            "kind": "KubeSchedulerConfiguration",
            "leaderElection": {"leaderElect": False},
            "clientConnection": {"kubeconfig": str(config), "qps": CLIENT_QPS, "burst": CLIENT_QPS},
        }
        file = self.folder.root / "scheduler.json"
        write_private(file, json.dumps(settings))
        flags = (
            *(f"--config={file}", f"--bind-address={LOOPBACK}", f"--secure-port={self.ports.scheduler}"),
            *(f"--authentication-kubeconfig={config}", f"--authorization-kubeconfig={config}"),
            *(f"--tls-cert-file={pki}/serving.crt", f"--tls-private-key-file={pki}/serving.key"),
        )
        return self._spec("kube-scheduler", "The scheduler", flags, self._https("scheduler", "/healthz"))

    def kubelet(self, options: Options) -> Spec:
        """The fake kubelet of every fake node."""
        flags = (
            *("--kubeconfig", str(self.folder.kubeconfig), "--pki", str(self.folder.pki)),
            *("--port", str(self.ports.kubelet), "--heartbeat", str(options.heartbeat_seconds)),
            *("--nodes", options.nodes),
        )
        return Spec(
            name="kubelet",
            title="The fake kubelet",
            argv=(sys.executable, "-m", "controlplane.kubelet", *flags),
            env=self.env,
            is_ready=self._https("kubelet", "/healthz"),
        )

    def _config(self, client: str) -> Path:
        file = self.folder.root / f"{client}.kubeconfig"
        write_kubeconfig(file, self.ports.server, self.folder.pki, client)
        return file

    def _spec(self, program: str, title: str, flags: tuple[str, ...], ready: Callable[[int], bool]) -> Spec:
        argv = (str(self.programs[program]), *flags)
        return Spec(name=program, title=title, argv=argv, env=self.env, is_ready=ready)

    def _https(self, port: str, path: str) -> Callable[[int], bool]:
        return lambda _pid: answers(getattr(self.ports, port), path, self.trust)


def answers(port: int, path: str, trust: ssl.SSLContext | None = None) -> bool:
    """Whether the server on that port says 200 there."""
    connection = (
        http.client.HTTPSConnection(LOOPBACK, port, timeout=5, context=trust)
        if trust
        else http.client.HTTPConnection(LOOPBACK, port, timeout=5)
    )
    try:
        connection.request("GET", path)
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()
