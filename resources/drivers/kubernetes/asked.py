"""What pods ask for on their nodes, and which of them belong to the cluster's own machinery. Pure.

Of a pod no more is kept than what is summed: a cluster has ten thousands of them.
"""

import re
import sys
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final

from resources.drivers.kubernetes import names
from resources.drivers.kubernetes.connection import NAMESPACE
from resources.drivers.kubernetes.seen import is_copy
from resources.normalize.amounts import MAX_DEVICES, BadAmount, milli, whole
from resources.normalize.documents import plain

Json = Mapping[str, Any]
DEFAULT_SCHEDULER: Final = "default-scheduler"
MOST_HELD: Final = 1 << 60
"""More than any node has. A pod that was bound without a scheduler may ask for any amount, and waits with it."""
_ENDED = ("Succeeded", "Failed")
_PLUGIN, _SCHEDULER = re.compile(r"device-?plugin"), re.compile(r"scheduler")
_IMAGE = re.compile(r"(?:.*/)?(?P<name>[^/:@]+)(?::(?P<tag>[^/:@]+))?(?:@(?P<digest>.+))?")


@dataclass(frozen=True, slots=True)
class Program:
    """An image of the cluster's machinery; its version is the tag, or the start of the digest."""

    name: str
    version: str


@dataclass(frozen=True, slots=True)
class PodUse:
    """One pod that holds something or waits for it: cpu in milli, memory in bytes, other resources in their units.

    `node` is "" while it waits. `plugin` is a device plugin it runs for its node, `scheduler_program` a scheduler.
    """

    node: str
    ours: bool
    amounts: Mapping[str, int]
    scheduler: str
    plugin: Program | None = None
    scheduler_program: Program | None = None


@dataclass(slots=True)
class Use:
    """What pods on a node ask for, `pods` being how many, and the device plugins among them."""

    ours: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    others: dict[str, int] = field(default_factory=lambda: defaultdict(int))
    plugins: set[Program] = field(default_factory=set)


def pod_use(pod: Json, *, namespace: str = NAMESPACE) -> PodUse | None:
    """What is kept of a pod; None for one that has ended. Ours are in our namespace: another portal's carry our labels
    too, and so does a copy in a namespace of somebody's own.
    """
    about, spec, status = (_map(pod.get(part)) for part in ("metadata", "spec", "status"))
    if status.get("phase") in _ENDED:
        return None
    owners = {str(_map(one).get("kind")) for one in about.get("ownerReferences") or []}
    return PodUse(
        node=sys.intern(str(spec.get("nodeName") or "")),
        ours=about.get("namespace") == namespace and names.ATTEMPT in _map(about.get("labels")) and not is_copy(pod),
        amounts={sys.intern(resource): amount for resource, amount in requests_of(spec).items()},
        scheduler=sys.intern(plain(spec.get("schedulerName")) or DEFAULT_SCHEDULER),
        plugin=next(_programs(spec, _PLUGIN, by_container=True), None) if "DaemonSet" in owners else None,
        scheduler_program=next(_programs(spec, _SCHEDULER), None),
    )


def uses_of(pods: Iterable[PodUse | None]) -> dict[str, Use]:
    """Requests of every pod on a node, by node: ours, and everybody else's (DaemonSets too)."""
    found: dict[str, Use] = defaultdict(Use)
    for pod in pods:
        if pod is None or not pod.node:
            continue
        use = found[pod.node]
        amounts = use.ours if pod.ours else use.others
        amounts["pods"] += 1
        for resource, amount in pod.amounts.items():
            most = MAX_DEVICES if "/" in resource else MOST_HELD
            amounts[resource] = min(most, amounts[resource] + amount)
        if pod.plugin is not None:
            use.plugins.add(pod.plugin)
    return dict(found)


def requests_of(spec: Json) -> dict[str, int]:
    """What a pod holds: the sum of its containers, or its largest start-up step, and its overhead.

    Sidecars (init containers that are always restarted) count with the containers, and under every later step.
    """
    running = _sum(container for container in spec.get("containers") or [])
    largest: dict[str, int] = {}
    sidecars: dict[str, int] = defaultdict(int)
    for step in spec.get("initContainers") or []:
        own = _of(step)
        if step.get("restartPolicy") == "Always":
            for resource, amount in own.items():
                sidecars[resource] += amount
            own = {}
        for resource in own.keys() | sidecars.keys():
            largest[resource] = max(largest.get(resource, 0), own.get(resource, 0) + sidecars[resource])
    total = {
        resource: max(running.get(resource, 0) + sidecars.get(resource, 0), largest.get(resource, 0))
        for resource in running.keys() | largest.keys() | sidecars.keys()
    }
    for resource, amount in amounts_of(spec.get("overhead")).items():
        total[resource] = total.get(resource, 0) + amount
    return {resource: amount for resource, amount in total.items() if amount}


def amounts_of(block: object) -> dict[str, int]:
    """cpu in milli, all else in its own unit, rounded up; what cannot be read is left out."""
    found = {}
    for resource, text in block.items() if isinstance(block, Mapping) else ():
        try:
            found[str(resource)] = milli(text) if resource == "cpu" else whole(text)
        except BadAmount:
            continue
    return found


def _sum(containers: Iterable[Json]) -> dict[str, int]:
    total: dict[str, int] = defaultdict(int)
    for container in containers:
        for resource, amount in _of(container).items():
            total[resource] += amount
    return dict(total)


def _of(container: Json) -> dict[str, int]:
    """Requests; a limit without one is a request too."""
    asked = container.get("resources") or {}
    return amounts_of(asked.get("limits")) | amounts_of(asked.get("requests"))


def _programs(spec: Json, pattern: re.Pattern[str], *, by_container: bool = False) -> Iterator[Program]:
    """Images with such a name; with `by_container` those too whose container has it."""
    for container in spec.get("containers") or []:
        match = _IMAGE.fullmatch(plain(_map(container).get("image")) or "")
        if match is None:
            continue
        called = f"{match['name']} {container.get('name')}" if by_container else match["name"]
        if pattern.search(called):
            yield Program(sys.intern(match["name"]), sys.intern(match["tag"] or (match["digest"] or "latest")[:19]))


def _map(value: object) -> Json:
    return value if isinstance(value, Mapping) else {}
