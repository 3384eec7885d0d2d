"""What labels say of a node's network and of its place in it. Pure; the tables are all there is to extend.

Everything here is declared: somebody, or a program of theirs, wrote the label. Nothing of it was measured.
"""

from collections.abc import Mapping
from typing import Final

from resources.drivers.facts import NetworkFact
from resources.drivers.kubernetes.names import PREFIX

LEVELS: Final[tuple[tuple[str, tuple[str, ...]], ...]] = (
    ("region", ("topology.kubernetes.io/region", "failure-domain.beta.kubernetes.io/region")),
    ("zone", ("topology.kubernetes.io/zone", "failure-domain.beta.kubernetes.io/zone")),
    ("datacenter", (PREFIX + "datacenter", "network.topology.nvidia.com/datacenter")),
    ("core", (PREFIX + "core", "network.topology.nvidia.com/core", "topology.k8s.aws/network-node-layer-1")),
    ("spine", (PREFIX + "spine", "network.topology.nvidia.com/spine", "topology.k8s.aws/network-node-layer-2")),
    (
        "block",
        (
            PREFIX + "block",
            "network.topology.nvidia.com/block",
            "cloud.google.com/gce-topology-block",
            "cloud.provider.com/topology-block",
        ),
    ),
    ("leaf", (PREFIX + "leaf", "network.topology.nvidia.com/leaf", "topology.k8s.aws/network-node-layer-3")),
    (
        "rack",
        (
            PREFIX + "rack",
            "topology.kubernetes.io/rack",
            "cloud.google.com/gce-topology-subblock",
            "cloud.provider.com/topology-rack",
        ),
    ),
    ("domain", ("nvidia.com/gpu.clique", "network.topology.nvidia.com/accelerator")),
)
"""Steps of the place of a node, outermost first, and the labels that name each; the first that is there counts."""

FACTS: Final[tuple[tuple[str, str, str], ...]] = (
    ("rdma", PREFIX + "rdma", ""),
    ("rdma", "feature.node.kubernetes.io/rdma.available", "available"),
    ("rdma", "feature.node.kubernetes.io/rdma.capable", "capable"),
    ("bandwidth", PREFIX + "network-bandwidth", ""),
    ("latency", PREFIX + "network-latency", ""),
    ("sriov", "feature.node.kubernetes.io/network-sriov.configured", "configured"),
    ("sriov", "feature.node.kubernetes.io/network-sriov.capable", "capable"),
)
"""Fact, label, and what a label that only says "true" means; "": the label's own text."""


def network_of(labels: Mapping[str, str]) -> tuple[NetworkFact, ...]:
    """Place and facts, each with the label it comes from; of two labels for one fact the first in the table."""
    found: dict[str, NetworkFact] = {}
    for name, keys in LEVELS:
        key = next((key for key in keys if labels.get(key)), "")
        if key:
            found[name] = NetworkFact(name, labels[key], key)
    for name, key, meaning in FACTS:
        said = labels.get(key, "")
        if said and (not meaning or said == "true"):
            found.setdefault(name, NetworkFact(name, meaning or said, key))
    return tuple(found.values())


def topology_of(facts: tuple[NetworkFact, ...]) -> tuple[str, ...]:
    """The place alone, outermost first."""
    levels = [name for name, _keys in LEVELS]
    return tuple(fact.value for fact in facts if fact.name in levels)
