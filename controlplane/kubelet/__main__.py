"""Run the fake kubelet: `python -m controlplane.kubelet --kubeconfig FILE --pki FOLDER --port N`."""

import argparse
import signal
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from controlplane.api import Api, Refused
from controlplane.errors import ControlPlaneError
from controlplane.kubelet.clock import HANDS, Clock
from controlplane.kubelet.events import Events
from controlplane.kubelet.logs import serve
from controlplane.kubelet.nodes import Nodes
from controlplane.kubelet.pods import Pods
from controlplane.kubelet.presets import Json, objects_of

PATIENCE = 100
COLLECTIONS = {"Node": "/api/v1/nodes", "ConfigMap": "/api/v1/namespaces/{namespace}/configmaps"}


def main() -> int:
    """Play every node that says it is ours, until TERM; 1 with a sentence when it cannot begin."""
    options = _parse()
    api = Api(options.kubeconfig, connections=2 * HANDS)
    try:
        post(api, objects_of(options.nodes))
    except ControlPlaneError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    clock = Clock()
    pods = Pods(api, clock, Events(api, clock))
    nodes = Nodes(api, clock, options.port, options.heartbeat, pods.thawed)
    nodes.start()
    nodes.informer.listed.wait()
    pods.start(nodes)
    pods.informer.listed.wait()
    serve(pods, options.pki, options.port)
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    stopped.wait()
    return 0


def post(api: Api, objects: list[Json]) -> None:
    """Create the objects; those that exist stay as they are."""
    with ThreadPoolExecutor(HANDS) as pool:
        list(pool.map(lambda thing: _post(api, thing), objects))


def _post(api: Api, thing: Json) -> None:
    path = COLLECTIONS[thing["kind"]].format(namespace=thing["metadata"].get("namespace"))
    for patience in range(PATIENCE, -1, -1):
        try:
            api.create(path, thing)
            return
        except Refused as refusal:
            if refusal.status == 409:
                return
            # A new API server makes its own namespaces a moment after it says that it is ready.
            if refusal.status != 404 or not patience:
                raise
            time.sleep(0.1)


def _parse() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="controlplane.kubelet", description=main.__doc__)
    parser.add_argument("--kubeconfig", type=Path, required=True, help="an administrator's, as `up` wrote it")
    parser.add_argument("--pki", type=Path, required=True, help="the cluster's keys and certificates")
    parser.add_argument("--port", type=int, required=True, help="where logs are served, on loopback")
    parser.add_argument("--nodes", default="none", help="a preset, gpu:N, npu:N, cpu:N, or a JSON file of objects")
    parser.add_argument("--heartbeat", type=float, default=5.0, help="seconds between two leases of a node")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
