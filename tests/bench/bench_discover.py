"""`discover`: the inventory of a real API server with 1,000 nodes of 8 devices and 10,000 pods, and of 10,000
simulated nodes; and how much an API server that goes wrong slows the inventory of another one.

No kubelet plays these nodes: they are Ready as posted, and the pods are bound to them as posted, which is all that an
inventory reads. The portal's code runs in a process of its own on a database of its own; its first pass, which
writes every row, and a later one, which writes next to nothing, are measured both. Beside a faulty neighbour a pass is
compared with passes alone, taken in turns with them; the shortest of each counts, for other work on the machine only
ever lengthens one.
"""

import os
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from controlplane import faults, steer
from controlplane.api import Api, Json
from controlplane.cluster import Cluster, start_cluster
from controlplane.components import Options
from controlplane.errors import ControlPlaneError, NotBuilt
from controlplane.faultproxy import FaultProxy
from controlplane.faults import Fault
from controlplane.kubelet.presets import gpu_node
from portal.embedded.servers import DATABASE_URL, OWNER_URL, REDIS_URL, running_servers
from portal.embedded.temporary import temporary_state
from portal.embedded.terminal import tell
from tests.bench.discovering import Discoverer, discoverer
from tests.bench.report import Figure, NotRun, at_least, at_most, report

HANDS = 16
CARDS = 8
FULL_S, SIMULATED_S, MOST_MIB, REQUESTS, SLOWER = 10.0, 20.0, 300.0, 10.0, 10.0
ALL_RIGHTS = [{"apiGroups": ["*"], "resources": ["*"], "verbs": ["*"]}]
NEIGHBOURS: dict[str, Callable[[], Fault]] = {
    "hangs": lambda: faults.hang(60.0),
    "drips": lambda: faults.drip(0.2),
    "answers with 1 GB": lambda: faults.endless(1 << 30),
    "answers with HTML": faults.html,
    "answers 410": faults.gone,
}


@dataclass(frozen=True, slots=True)
class Size:
    """How much there is to discover, and how long is looked."""

    nodes: int = 1_000
    pods: int = 10_000
    simulated: int = 10_000
    steady_s: float = 45.0
    rounds: int = 5


def main() -> int:
    """Measure and print; the exit code."""
    tell(f"machine: {os.cpu_count()} CPUs, load average {os.getloadavg()[0]:.1f} before the start")
    return report(measure(Size()))


def measure(size: Size) -> list[Figure]:
    """All figures at that size. Raises NotRun."""
    try:
        with _cluster() as cluster, _portal() as portal:
            _fill(cluster.api(), size)
            return [*_real(cluster, portal, size), *_neighbours(cluster, portal, size), *_simulated(portal, size)]
    except (NotBuilt, ControlPlaneError) as reason:
        raise NotRun(str(reason)) from reason


@contextmanager
def _cluster() -> Iterator[Cluster]:
    """Without nodes; those that are posted later stay Ready though nobody plays them."""
    with TemporaryDirectory() as folder:
        cluster = start_cluster(Path(folder), Options(nodes="none", node_grace_seconds=36_000), os.environ)
        try:
            yield cluster
        finally:
            cluster.stop()


@contextmanager
def _portal() -> Iterator[Discoverer]:
    named = (DATABASE_URL, OWNER_URL, REDIS_URL)
    environ = {key: value for key, value in os.environ.items() if key not in named}
    with temporary_state() as state, running_servers(state, environ, durable=False) as environment:
        mode = {"PORTAL_MODE": "test", "DJANGO_SETTINGS_MODULE": "portal.settings"}
        # The owner's role: the measured process makes its own tables.
        mode[DATABASE_URL] = environment[OWNER_URL]
        with discoverer({"PORTAL_SECRET_KEY": "only-for-this-bench" * 4, **environment, **mode}) as portal:
            yield portal


def _fill(api: Api, size: Size) -> None:
    nodes = [_node(number) for number in range(size.nodes)]
    pods = [_pod(number, size) for number in range(size.pods)]
    with ThreadPoolExecutor(HANDS) as hands:
        list(hands.map(lambda node: api.create("/api/v1/nodes", node), nodes))
        list(hands.map(lambda pod: api.create("/api/v1/namespaces/default/pods", pod), pods))
    tell(f"posted {size.nodes:,} nodes and {size.pods:,} pods")


def _node(number: int) -> Json:
    """Ready, of no kubelet, with what a real one lists beside: fifty images, which make most of its size."""
    node: Json = gpu_node(f"n{number:05}")
    node["metadata"]["annotations"] = {}
    image = "registry.invalid/team/some-image-of-a-usual-length"
    node["status"] |= {
        "conditions": [
            {"type": "Ready", "status": "True", "reason": "KubeletReady", "message": "posting ready status"}
        ],
        "images": [{"names": [f"{image}:{tag}"], "sizeBytes": 1 << 30} for tag in range(50)],
    }
    return node


def _pod(number: int, size: Size) -> Json:
    """Bound as posted; eight of ten ask for a card, as many as there are."""
    asked = {"cpu": "500m", "memory": "1Gi"} | ({"nvidia.com/gpu": "1"} if number % 10 < CARDS else {})
    container = {
        "name": "main",
        "image": "registry.invalid/work:1",
        "command": ["python", "train.py"],
        "env": [{"name": f"SETTING_{index}", "value": "x" * 20} for index in range(10)],
        "resources": {"requests": asked, "limits": asked},
    }
    return {
        "metadata": {"name": f"p{number:06}", "labels": {"app": f"work-{number % 100}", "team": "other"}},
        "spec": {"nodeName": f"n{number // 10 % size.nodes:05}", "containers": [container]},
    }


def _real(cluster: Cluster, portal: Discoverer, size: Size) -> list[Figure]:
    portal.attach("real", cluster.ports.server, _authority(cluster), _token(cluster.api()))
    first, later = portal.sync("real"), portal.sync("real")
    requests = portal.steady("real", size.steady_s)
    peak, found = portal.peak_mib(), portal.stored("real")
    what = f"{size.nodes:,} nodes, {size.pods:,} pods"
    held = sum(number % 10 < CARDS for number in range(size.pods))
    return [
        at_most(f"first full sync of {what}", first, "s", FULL_S),
        at_most(f"later full sync of {what}", later, "s", FULL_S),
        at_most("peak memory of the process", peak, "MiB", MOST_MIB),
        at_most("requests to the API server, steady", requests, "1/s", REQUESTS),
        at_least("nodes stored and ready", found["nodes"], "nodes", size.nodes),
        at_least("devices stored", found["devices"], "devices", size.nodes * CARDS),
        at_least("devices that others hold", found["held"], "devices", held),
    ]


def _neighbours(cluster: Cluster, portal: Discoverer, size: Size) -> Iterator[Figure]:
    token, authority = _token(cluster.api(), "neighbour"), _authority(cluster)
    with FaultProxy(cluster.ports.server, cluster.folder.pki) as proxy:
        for number, (words, fault) in enumerate(NEIGHBOURS.items()):
            # A cluster of its own for each fault: its breaker is closed, so it is really asked.
            bad = f"bad-{number}"
            portal.attach(bad, proxy.url, authority, token)
            proxy.add(fault())
            alone, beside = [], []
            for _round in range(size.rounds):
                alone.append(portal.sync("real"))
                beside.append(portal.sync_beside("real", bad))
            proxy.heal()
            slower = max(0.0, (min(beside) / min(alone) - 1) * 100)
            yield at_most(f"a pass beside a neighbour that {words}, slower by", slower, "%", SLOWER)


def _simulated(portal: Discoverer, size: Size) -> list[Figure]:
    portal.simulate("many", size.simulated, CARDS)
    first, later = portal.sync("many"), portal.sync("many")
    found = portal.stored("many")
    return [
        at_most(f"first full sync of {size.simulated:,} simulated nodes", first, "s", SIMULATED_S),
        at_most(f"later full sync of {size.simulated:,} simulated nodes", later, "s", SIMULATED_S),
        at_least("simulated nodes stored and ready", found["nodes"], "nodes", size.simulated),
    ]


def _authority(cluster: Cluster) -> str:
    return (cluster.folder.pki / "ca.crt").read_text(encoding="utf-8")


def _token(api: Api, name: str = "everything") -> str:
    return steer.create_user(api, "kube-system", name, ALL_RIGHTS, everywhere=True)


if __name__ == "__main__":
    raise SystemExit(main())
