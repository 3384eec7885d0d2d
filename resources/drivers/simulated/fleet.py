"""What a simulated cluster is made of, and its form as a JSON document.

```json
{
  "name": "gpu-hall", "seed": 7,
  "latency": {"pull": ["2s", "40s"]},
  "durations": {"training": ["4m", "25m"]},
  "failures": {"training": {"Error": 30, "OOMKilled": 10}},
  "nodes": [{"name": "sim-h100-{n}", "count": 6, "cpu": "192", "memory": "2Ti", "devices": [
    {"resource": "nvidia.com/gpu", "vendor": "NVIDIA", "kind": "GPU", "model": "H100", "count": 8}]}],
  "exceptions": {"sim-h100-04": {"cordoned": true, "reason": "FirmwareUpdate"}}
}
```
`nodes` and `name` are required; `failures` are workloads in a thousand that end so, by task type. Devices with
`cards` are slices of so many cards. Pure but for reading.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path

from resources.drivers.base import SeenDevice, SeenNode

from .chance import Span
from .fleet_nodes import build_nodes
from .reading import FleetError, Reader

SHIPPED = Path(__file__).parent / "fleets"
"""Fleets that come with the product: `<name>.json` each."""

THOUSAND = 1_000


@dataclass(frozen=True, slots=True)
class Latency:
    """How long each step of a workload takes, from which the seed draws."""

    bind: Span
    pull: Span
    start: Span
    ready: Span
    """From the start until a service answers."""
    stop: Span
    """From a TERM to the exit."""
    objects: Span
    """From the end until nothing of it is left on the node."""
    devices: Span
    """From the end until its devices are seen idle."""


LATENCY = Latency(
    bind=Span(50, 400),
    pull=Span(1_000, 12_000),
    start=Span(200, 1_500),
    ready=Span(1_000, 8_000),
    stop=Span(300, 4_000),
    objects=Span(500, 3_000),
    devices=Span(500, 5_000),
)
"""What is not said of a fleet."""

DURATIONS: Mapping[str, Span] = {
    "training": Span(240_000, 1_500_000),
    "fine_tuning": Span(120_000, 900_000),
    "evaluation": Span(30_000, 180_000),
    "data_processing": Span(40_000, 300_000),
    "batch": Span(20_000, 240_000),
}
"""How long a task runs whose workload does not say; task types that are not here run until they are stopped."""


@dataclass(frozen=True)
class Fleet:
    """A simulated cluster before anything runs on it. Two fleets of the same document are the same in all they do."""

    name: str
    nodes: tuple[SeenNode, ...]
    seed: int = 0
    latency: Latency = LATENCY
    durations: Mapping[str, Span] = field(default_factory=lambda: DURATIONS)
    failures: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Task type -> word for the end -> workloads in a thousand."""

    @cached_property
    def by_name(self) -> Mapping[str, SeenNode]:
        """Nodes by name."""
        return {node.name: node for node in self.nodes}

    def devices(self, node: str) -> Mapping[str, tuple[str, SeenDevice]]:
        """Uuid -> (resource name, device) of a node's devices; empty for a node that is not there."""
        known = self._devices.get(node)
        if known is None:
            groups = self.by_name[node].groups if node in self.by_name else ()
            known = {d.uuid: (group.resource_name, d) for group in groups for d in group.devices}
            self._devices[node] = known
        return known

    @cached_property
    def _devices(self) -> dict[str, Mapping[str, tuple[str, SeenDevice]]]:
        return {}


def load_fleet(path: Path) -> Fleet:
    """The fleet of a JSON file. Raises FleetError, which says where in the document and why, or OSError."""
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise FleetError(f"{path.name}: not JSON: {error}") from None
    try:
        return read_fleet(document)
    except FleetError as error:
        raise FleetError(f"{path.name}: {error}") from None


def read_fleet(document: object) -> Fleet:
    """The fleet of a document. Raises FleetError."""
    reader = Reader.of(document)
    name = reader.text("name", pattern=r"[a-z0-9][a-z0-9-]{0,62}")
    latency = reader.part("latency")
    durations = reader.part("durations")
    failures = reader.part("failures")
    fleet = Fleet(
        name=name,
        nodes=build_nodes(name, reader.parts("nodes"), reader.part("exceptions")),
        seed=reader.number("seed", default=0),
        latency=replace(LATENCY, **_spans(latency, Latency.__slots__)),
        durations={**DURATIONS, **_spans(durations, durations.names)},
        failures={task: _shares(failures.part(task)) for task in failures.names},
    )
    reader.text("about", default="")
    reader.done()
    return fleet


def _spans(reader: Reader, names: Iterable[str]) -> dict[str, Span]:
    found = {name: reader.span(name) for name in names if name in reader.names}
    reader.done()
    return found


def _shares(reader: Reader) -> dict[str, int]:
    shares = {word: reader.number(word, minimum=0, maximum=THOUSAND) for word in reader.names}
    if sum(shares.values()) > THOUSAND:
        raise reader.error("", f"{sum(shares.values())} in a thousand")
    return shares
