"""The process that `bench_discover` measures: the portal's code on a database of its own, told over a pipe what to do.

It is a process by itself so that its memory is its own, and so that neither the fault proxy nor whoever fills the
cluster shares its interpreter.
"""

import importlib
import multiprocessing
import os
import threading
import time
import traceback
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from tests.bench.report import NotRun

SYNC_S, OBSERVE_S = 15.0, 1.0
"""How often the portal's clock asks for each; jobs are observed only while there are some."""


class Discoverer:
    """What the measured process is told. Every call waits for its answer; one that failed is NotRun."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=_serve, args=(theirs, dict(environment)), daemon=True)
        self._process.start()

    def attach(self, key: str, server: str, authority: str, token: str) -> None:
        """A cluster of that key; one token for both roles."""
        self._ask("attach", key, server, authority, token)

    def simulate(self, key: str, nodes: int, cards: int) -> None:
        """A simulated cluster of that key."""
        self._ask("simulate", key, nodes, cards)

    def sync(self, key: str) -> float:
        """Seconds of one whole pass of its inventory."""
        return float(self._ask("sync", key))

    def sync_beside(self, key: str, other: str) -> float:
        """The same while another cluster's pass goes on in a thread of this process, as in the worker."""
        return float(self._ask("sync_beside", key, other))

    def steady(self, key: str, seconds: float) -> float:
        """Requests a second while the inventory passes and jobs are observed as often as the portal's clock asks."""
        return float(self._ask("steady", key, seconds))

    def stored(self, key: str) -> dict[str, int]:
        """How many nodes and devices there are, and how many devices others hold."""
        return dict(self._ask("stored", key))

    def peak_mib(self) -> float:
        """The most memory the process ever had."""
        return float(self._ask("peak_mib"))

    def _ask(self, what: str, *args: object) -> Any:
        try:
            self._pipe.send((what, args))
            done, answer = self._pipe.recv()
        except (EOFError, OSError) as error:
            raise NotRun(f"the measured process ended during {what}") from error
        if not done:
            raise NotRun(f"{what}: {answer}")
        return answer

    def end(self) -> None:
        """Let it go."""
        self._pipe.close()
        self._process.join(10)
        self._process.terminate()


@contextmanager
def discoverer(environment: Mapping[str, str]) -> Iterator[Discoverer]:
    """The process until the end of the block."""
    one = Discoverer(environment)
    try:
        yield one
    finally:
        one.end()


def _serve(pipe: Connection, environment: dict[str, str]) -> None:
    os.environ.update(environment)
    import django
    from django.core.management import call_command

    django.setup()
    call_command("migrate", interactive=False, verbosity=0)
    while True:
        try:
            what, args = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send((True, _VERBS[what](*args)))
        except Exception:
            pipe.send((False, traceback.format_exc(limit=3)))


def _attach(key: str, server: str, authority: str, token: str) -> None:
    import ipaddress

    from django.conf import settings

    from portal.lib.clock import utc_now
    from resources.attaching import ConnectionGiven
    from resources.drivers.kubernetes.connection import Right
    from resources.services.attach_kubernetes import attach_kubernetes

    settings.CLUSTER_NETWORKS = (ipaddress.ip_network("127.0.0.0/8"),)
    given = ConnectionGiven(
        server=server, authority=authority, tokens=dict.fromkeys((Right.OBSERVER, Right.RUNNER), token)
    )
    attach_kubernetes(actor=None, key=key, name=key, given=given, now=utc_now())


def _simulate(key: str, nodes: int, cards: int) -> None:
    import json

    from django.conf import settings

    from portal.lib.clock import utc_now
    from resources.services.register_cluster import register_cluster

    card = {"resource": "nvidia.com/gpu", "vendor": "NVIDIA", "kind": "GPU", "model": "card", "count": cards}
    fleet = {
        "name": key,
        "nodes": [{"name": "sim-n{n}", "count": nodes, "cpu": "128", "memory": "1Ti", "devices": [card]}],
    }
    folder = Path(settings.STATE_DIR) / "simulated"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{key}.json").write_text(json.dumps(fleet), encoding="utf-8")
    register_cluster(actor=None, key=key, name=key, driver="simulated", now=utc_now(), location="", maintainer="")


def _sync(key: str) -> float:
    from portal.lib.clock import utc_now
    from resources.models import Cluster
    from resources.services.sync_inventory import sync_inventory

    cluster = Cluster.objects.get(key=key)
    begun = time.perf_counter()
    answered = sync_inventory(cluster=cluster, now=utc_now())
    took = time.perf_counter() - begun
    if not answered:
        cluster.refresh_from_db()
        raise NotRun(f"{key} did not answer: {cluster.last_error}")
    return took


def _sync_beside(key: str, other: str) -> float:
    beside = threading.Thread(target=_fail, args=(other,))
    beside.start()
    took = _sync(key)
    beside.join()
    return took


def _fail(key: str) -> None:
    """A pass of a cluster that is expected not to answer, on a connection of its own."""
    from django.db import connection

    try:
        _sync(key)
    except NotRun:
        pass
    finally:
        connection.close()


def _steady(key: str, seconds: float) -> float:
    from resources.drivers.kubernetes.transport import Transport
    from resources.models import Cluster
    from resources.selectors.drivers import driver_for

    calls = [0]
    whole = Transport.call

    def counted(self: Transport, *args: Any, **more: Any) -> Any:
        calls[0] += 1
        return whole(self, *args, **more)

    Transport.call = counted  # type: ignore[method-assign]
    cluster, begun, synced = Cluster.objects.get(key=key), time.monotonic(), -SYNC_S
    try:
        while (now := time.monotonic() - begun) < seconds:
            if now - synced >= SYNC_S:
                synced = now
                _sync(key)
            driver_for(cluster).observe()
            time.sleep(max(0.0, OBSERVE_S - (time.monotonic() - begun - now)))
    finally:
        Transport.call = whole  # type: ignore[method-assign]
    return calls[0] / (time.monotonic() - begun)


def _stored(key: str) -> dict[str, int]:
    models = importlib.import_module("resources.models")
    nodes = models.Node.objects.filter(cluster__key=key, ready=True)
    held = sum(foreign.get("nvidia.com/gpu", 0) for foreign in nodes.values_list("foreign", flat=True))
    devices = models.Device.objects.filter(group__node__cluster__key=key, healthy=True)
    return {"nodes": nodes.count(), "devices": devices.count(), "held": held}


def _peak_mib() -> float:
    """The high-water mark of this program; that of getrusage would include whoever started it."""
    lines = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) for line in lines if line.startswith("VmHWM")) / 1024


_VERBS: dict[str, Callable[..., Any]] = {
    "attach": _attach,
    "simulate": _simulate,
    "sync": _sync,
    "sync_beside": _sync_beside,
    "steady": _steady,
    "stored": _stored,
    "peak_mib": _peak_mib,
}
