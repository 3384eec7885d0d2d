"""The nodes that the fake kubelet keeps alive: leases, conditions, and freezing them."""

import datetime
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from controlplane.api import MERGE, Api, Refused
from controlplane.kubelet.clock import Clock
from controlplane.kubelet.informer import Informer
from controlplane.kubelet.presets import FROZEN, MANAGED, READY
from controlplane.kubelet.status import micro, node_conditions

Json = dict[str, Any]
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kube-node-lease/leases"
# Between these the lease alone says that the node lives, as with a real kubelet.
STATUS_EVERY = 6


class Nodes:
    """Every Node with the annotation that makes it ours; `thawed(name)` is called when a frozen one comes back."""

    def __init__(self, api: Api, clock: Clock, port: int, heartbeat: float, thawed: Callable[[str], None]) -> None:
        self.api = api
        self.clock = clock
        self.port = port
        self.heartbeat = heartbeat
        self.thawed = thawed
        self.ours: dict[str, Json] = {}
        self.frozen: set[str] = set()
        self.leased: set[str] = set()
        self.informer = Informer(api, "/api/v1/nodes", self._seen)

    def start(self) -> None:
        """Watch the nodes and keep them alive."""
        self.informer.start()
        threading.Thread(target=self._beat, daemon=True, name="heartbeat").start()

    def plays(self, name: str | None) -> bool:
        """Whether pods on that node are played now: it is ours and not frozen."""
        return name in self.ours and name not in self.frozen

    def _seen(self, kind: str, node: Json) -> None:
        name = node["metadata"]["name"]
        told = node["metadata"].get("annotations") or {}
        if kind == "DELETED" or told.get(MANAGED) != "true":
            self.ours.pop(name, None)
            self.frozen.discard(name)
            return
        is_new = name not in self.ours
        self.ours[name] = node
        if told.get(FROZEN) == "true":
            self.frozen.add(name)
            return
        was_frozen = name in self.frozen
        self.frozen.discard(name)
        if is_new or was_frozen or not _says(node, ready=told.get(READY) != "false"):
            self.clock.soon(self._report, name)
        if was_frozen or is_new:
            self.thawed(name)

    def _report(self, name: str) -> None:
        """One heartbeat with status and lease."""
        self._status(name)
        self._lease(name)

    def _status(self, name: str) -> None:
        node = self.ours.get(name)
        if node is None or name in self.frozen:
            return
        ready = (node["metadata"].get("annotations") or {}).get(READY) != "false"
        conditions = node_conditions(_now(), ready=ready)
        before = {c["type"]: c for c in node["status"].get("conditions", [])}
        for condition in conditions:
            known = before.get(condition["type"])
            same = known is not None and known["status"] == condition["status"]
            condition["lastTransitionTime"] = known["lastTransitionTime"] if known and same else _short(_now())
        endpoint = {"daemonEndpoints": {"kubeletEndpoint": {"Port": self.port}}}
        self.api.patch(f"/api/v1/nodes/{name}/status", {"status": {"conditions": conditions, **endpoint}})

    def _lease(self, name: str) -> None:
        if name in self.frozen or name not in self.ours:
            return
        spec = {
            "holderIdentity": name,
            "leaseDurationSeconds": max(1, int(self.heartbeat * 4)),
            "renewTime": micro(_now()),
        }
        if name not in self.leased:
            try:
                self.api.create(LEASES, {"metadata": {"name": name}, "spec": spec})
            except Refused as refusal:
                if refusal.status != 409:
                    raise
            self.leased.add(name)
        try:
            self.api.patch(f"{LEASES}/{name}", {"spec": spec}, MERGE)
        except Refused:
            self.leased.discard(name)

    def _beat(self) -> None:
        """Heartbeats spread evenly over their period."""
        for turn in range(sys.maxsize):
            names, begin = sorted(self.ours), time.monotonic()
            for number, name in enumerate(names):
                self.clock.soon(self._report if turn % STATUS_EVERY == number % STATUS_EVERY else self._lease, name)
                _sleep_until(begin + self.heartbeat * (number + 1) / len(names))
            _sleep_until(begin + self.heartbeat)


def _says(node: Json, *, ready: bool) -> bool:
    """Whether the node's own status already says so; the node lifecycle controller may have made it Unknown."""
    conditions = {c["type"]: c["status"] for c in node["status"].get("conditions", [])}
    return conditions.get("Ready") == ("True" if ready else "False")


def _sleep_until(moment: float) -> None:
    if (left := moment - time.monotonic()) > 0.02:
        time.sleep(left)


def _now() -> datetime.datetime:
    return datetime.datetime.now(datetime.UTC)


def _short(now: datetime.datetime) -> str:
    return now.strftime("%Y-%m-%dT%H:%M:%SZ")
