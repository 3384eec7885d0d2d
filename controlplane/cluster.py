"""One cluster from start to end: etcd, API server, controllers, scheduler, fake kubelet, under one supervisor."""

import signal
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

import urllib3

from controlplane.api import Api, Refused
from controlplane.build import KUEUE, NEEDED, Tool, built
from controlplane.components import Components, Options
from controlplane.errors import ControlPlaneError
from controlplane.kueue import Kueue
from controlplane.pki import write_pki
from controlplane.state import ClusterFolder, Ports, choose_ports, write_kubeconfig
from portal.embedded.errors import EmbeddedError
from portal.embedded.process import POLL_SECONDS, Child, Spec, rotate, stop
from portal.embedded.supervisor import Supervisor

START_SECONDS = 60.0
# The supervisor keeps the folder of its sockets in mind; these servers have none.
NO_SOCKETS = Path()


@dataclass(slots=True)
class Cluster:
    """A cluster that ends with the process that holds this object. Start it from the main thread (see `tied`)."""

    folder: ClusterFolder
    options: Options
    ports: Ports
    components: Components
    supervisor: Supervisor
    seconds: dict[str, float] = field(default_factory=dict)

    @property
    def kubeconfig(self) -> Path:
        """The administrator's kubeconfig."""
        return self.folder.kubeconfig

    @property
    def pids(self) -> dict[str, int]:
        """Process numbers of what runs, by program."""
        return {w.child.spec.name: w.child.pid for w in self.supervisor.watched if w.child.pid}

    def api(self) -> Api:
        """A client with the administrator's rights."""
        return Api(self.kubeconfig)

    def stop_component(self, name: str) -> None:
        """Kill one program and leave it dead. Idempotent."""
        watched = self.supervisor.watched
        chosen = [w for w in watched if w.child.spec.name == name]
        watched[:] = [w for w in watched if w not in chosen]
        stop([w.child for w in chosen], within=5)

    def start_component(self, name: str) -> None:
        """Start a program that was stopped, with the same flags, and wait until it answers."""
        self.supervisor.bring_up(self._child(self._specs()[name]), within=START_SECONDS)

    def stop(self) -> None:
        """End everything. The folder stays. Idempotent."""
        self.supervisor.stop()

    def _specs(self) -> dict[str, Spec]:
        made = (
            self.components.etcd(),
            self.components.apiserver(),
            self.components.controller_manager(self.options),
            self.components.scheduler(),
            self.components.kubelet(self.options),
        )
        return {spec.name: spec for spec in made}

    def _child(self, spec: Spec) -> Child:
        log = self.folder.logs / f"{spec.name}.log"
        rotate(log)
        # Nothing here must survive a power cut, so nothing needs a gentle end either; etcd alone writes its tail.
        gentle = (signal.SIGTERM,) if spec.name == "etcd" else (signal.SIGKILL,)
        return Child(replace(spec, stop_signals=gentle), log)

    def _start(self) -> None:
        begin = time.monotonic()
        specs = self._specs()
        for name in ("etcd", "kube-apiserver"):
            self.supervisor.bring_up(self._child(specs[name]), within=START_SECONDS)
            self.seconds[name] = time.monotonic() - begin
        rest = [self._child(specs[name]) for name in ("kube-controller-manager", "kube-scheduler", "kubelet")]
        for child in rest:
            self.supervisor.launch(child)
        for child in rest:
            self.supervisor.await_ready(child, within=START_SECONDS)
            self.seconds[child.spec.name] = time.monotonic() - begin
        self._await_first_pod_possible()
        if self.options.kueue:
            kueue = Kueue(self.folder, self.ports, built(KUEUE, self.components.env), self.components.env)
            kueue.install(self.api())
            self.supervisor.bring_up(self._child(kueue.spec()), within=START_SECONDS)
        self.seconds["all"] = time.monotonic() - begin

    def _await_first_pod_possible(self) -> None:
        """Wait for the default service account: without one every pod is refused."""
        deadline, api = time.monotonic() + START_SECONDS, self.api()
        while time.monotonic() < deadline:
            try:
                api.get("/api/v1/namespaces/default/serviceaccounts/default")
                return
            except (Refused, urllib3.exceptions.HTTPError):
                self.supervisor.heal()
                time.sleep(POLL_SECONDS)
        raise ControlPlaneError(f"The controllers do not work: no default service account. Logs: {self.folder.logs}")


def tools_for(options: Options) -> tuple[Tool, ...]:
    """What must be built for such a cluster."""
    return (*NEEDED, KUEUE) if options.kueue else NEEDED


def start_cluster(
    root: Path, options: Options, environ: Mapping[str, str], say: Callable[[str], None] | None = None
) -> Cluster:
    """A running cluster in the folder `root`, which only this process may use now; what it held before goes on.

    Raises NotBuilt without binaries, ControlPlaneError with the end of a log when a server does not start.
    """
    programs = {name: built(tool, environ) / name for tool in tools_for(options) for name in tool.programs}
    folder = ClusterFolder(root)
    folder.create()
    if not (folder.pki / "service-accounts.pub").exists():
        write_pki(folder.pki)
    ports = choose_ports(folder)
    write_kubeconfig(folder.kubeconfig, ports.server, folder.pki, "admin")
    supervisor = Supervisor(folder, NO_SOCKETS, say)
    cluster = Cluster(folder, options, ports, Components(folder, ports, programs, environ), supervisor)
    try:
        cluster._start()
    except EmbeddedError as error:
        cluster.stop()
        raise ControlPlaneError(str(error)) from error
    except BaseException:
        cluster.stop()
        raise
    return cluster
