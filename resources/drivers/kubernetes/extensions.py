"""How the extensions of a cluster are known: the table, and what of it a cluster shows. Pure.

A row is met by an API group of its own, by pods that ask for its scheduler, or by how devices are shared. A new
extension is a row.
"""

from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Extension:
    """A product, and what gives it away."""

    key: str
    name: str
    groups: tuple[str, ...] = ()
    schedulers: tuple[str, ...] = ()
    sharing: tuple[str, ...] = ()


EXTENSIONS: Final = (
    Extension("kueue", "Kueue", ("kueue.x-k8s.io",)),
    Extension("volcano", "Volcano", ("scheduling.volcano.sh", "batch.volcano.sh"), ("volcano",), ("volcano-vgpu",)),
    Extension("trainer", "Kubeflow Trainer", ("trainer.kubeflow.org",)),
    Extension("training-operator", "Kubeflow Training Operator, Notebooks", ("kubeflow.org",)),
    Extension("kserve", "KServe", ("serving.kserve.io",)),
    Extension("jobset", "JobSet", ("jobset.x-k8s.io",)),
    Extension("leader-worker-set", "LeaderWorkerSet", ("leaderworkerset.x-k8s.io",)),
    Extension("kuberay", "KubeRay", ("ray.io",)),
    Extension("knative-serving", "Knative Serving", ("serving.knative.dev",)),
    Extension("keda", "KEDA", ("keda.sh",)),
    Extension("koordinator", "Koordinator", ("slo.koordinator.sh", "scheduling.koordinator.sh"), ("koord-scheduler",)),
    Extension("hami", "HAMi", (), ("hami-scheduler",), ("hami",)),
    Extension("kai", "KAI Scheduler", ("scheduling.run.ai", "kai.scheduler"), ("kai-scheduler",)),
    Extension("yunikorn", "Apache YuniKorn", (), ("yunikorn",)),
    Extension("scheduler-plugins", "Scheduler Plugins", ("scheduling.x-k8s.io",), ("scheduler-plugins-scheduler",)),
    Extension("gpu-operator", "NVIDIA GPU Operator", ("nvidia.com",)),
    Extension("network-operator", "NVIDIA Network Operator", ("mellanox.com",)),
    Extension("amd-gpu-operator", "AMD GPU Operator", ("amd.com",)),
    Extension("node-feature-discovery", "Node Feature Discovery", ("nfd.k8s-sigs.io", "nfd.kubernetes.io")),
    Extension("prometheus-operator", "Prometheus Operator", ("monitoring.coreos.com",)),
)


@dataclass(frozen=True, slots=True)
class Shown:
    """An extension, and the evidence of it; empty is none."""

    extension: Extension
    evidence: tuple[str, ...]


def shown(groups: Collection[str], schedulers: Collection[str], sharing: Collection[str]) -> Iterator[Shown]:
    """Every row of the table with what of it was seen."""
    for row in EXTENSIONS:
        seen = (*_in(row.groups, groups), *_in(row.schedulers, schedulers), *_in(row.sharing, sharing))
        yield Shown(row, seen)


def _in(wanted: tuple[str, ...], found: Collection[str]) -> tuple[str, ...]:
    return tuple(one for one in wanted if one in found)
