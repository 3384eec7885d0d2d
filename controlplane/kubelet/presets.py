"""Node objects to begin with: every kind of node that a portal meets, whole and broken.

A fake node is any Node with the annotation `fake-kubelet/managed: "true"`; posting one is all it takes.
"""

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from controlplane.errors import ControlPlaneError

Json = dict[str, Any]
MANAGED = "fake-kubelet/managed"
FROZEN = "fake-kubelet/frozen"
READY = "fake-kubelet/ready"
GIB = 1024 * 1024  # in the Ki in which kubelets give memory
GFD = "nvidia.com/gpu"


def gpu_labels(product: str = "NVIDIA-A100-SXM4-80GB", memory_mib: int = 81_920, count: int = 8) -> dict[str, str]:
    """What GPU feature discovery says of a node with whole devices."""
    facts = {
        f"{GFD}.present": "true",
        f"{GFD}.product": product,
        f"{GFD}.memory": str(memory_mib),
        f"{GFD}.count": str(count),
        f"{GFD}.family": "ampere",
        f"{GFD}.compute.major": "8",
        f"{GFD}.compute.minor": "0",
        f"{GFD}.replicas": "1",
        f"{GFD}.sharing-strategy": "none",
        "nvidia.com/mig.strategy": "single",
        "nvidia.com/mig.capable": "true",
        "nvidia.com/cuda.driver-version.full": "550.54.15",
        "nvidia.com/cuda.runtime-version.full": "12.4",
        "feature.node.kubernetes.io/pci-10de.present": "true",
    }
    return facts


def npu_labels(model: str = "Ascend910B4") -> dict[str, str]:
    """What the Ascend device plugin and the operators of such clusters label."""
    return {
        "accelerator": "huawei-Ascend910",
        "accelerator-type": "module-910b-8",
        "node.kubernetes.io/npu.chip.name": model.removeprefix("Ascend"),
        "servertype": f"{model}-20",
        "masterselector": "dls-master-node",
        "workerselector": "dls-worker-node",
    }


def node(
    name: str,
    *,
    labels: Mapping[str, str] | None = None,
    annotations: Mapping[str, str] | None = None,
    devices: Mapping[str, int] | None = None,
    allocatable: Mapping[str, int] | None = None,
    cpu: int = 64,
    memory_gib: int = 512,
    cordoned: bool = False,
    ready: bool = True,
    architecture: str = "amd64",
) -> Json:
    """A fake Node as a kubelet registers it; `allocatable` names the devices of which fewer can be had."""
    host = {"cpu": str(cpu), "memory": f"{memory_gib * GIB}Ki", "ephemeral-storage": f"{1024 * GIB}Ki", "pods": "110"}
    capacity = host | {key: str(count) for key, count in (devices or {}).items()}
    usable = capacity | {"cpu": f"{cpu * 1000 - 500}m", "memory": f"{(memory_gib - 4) * GIB}Ki"}
    usable |= {key: str(count) for key, count in (allocatable or {}).items()}
    own = {"kubernetes.io/hostname": name, "kubernetes.io/arch": architecture, "kubernetes.io/os": "linux"}
    told = {MANAGED: "true", **(annotations or {})} | ({} if ready else {READY: "false"})
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {"name": name, "labels": own | dict(labels or {}), "annotations": told},
        "spec": {"unschedulable": True} if cordoned else {},
        "status": {
            "capacity": capacity,
            "allocatable": usable,
            "addresses": [{"type": "InternalIP", "address": "127.0.0.1"}, {"type": "Hostname", "address": name}],
            "nodeInfo": _software(name, architecture),
        },
    }


def device_info(node_name: str, chip: str = "Ascend910", healthy: int = 8, ill: int = 0) -> Json:
    """The ConfigMap in which the Ascend device plugin lists the chips of a node, healthy and ill ones."""
    chips = [f"{chip}-{number}" for number in range(healthy + ill)]
    listed = {
        f"huawei.com/{chip}": ",".join(chips[:healthy]),
        f"huawei.com/{chip}-Unhealthy": ",".join(chips[healthy:]),
        f"huawei.com/{chip}-NetworkUnhealthy": "",
        f"huawei.com/{chip}-Fault": "[]",
    }
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {"name": f"mindx-dl-deviceinfo-{node_name}", "namespace": "kube-system"},
        "data": {
            "DeviceInfoCfg": json.dumps({"DeviceInfo": {"DeviceList": listed, "UpdateTime": 1}, "CheckCode": ""}),
            "ManuallySeparateNPU": "",
        },
    }


def gpu_node(name: str, **changes: Any) -> Json:
    """Eight whole GPUs, labelled by feature discovery."""
    return node(name, **{"labels": gpu_labels(), "devices": {GFD: 8}, **changes})


def npu_node(name: str, **changes: Any) -> Json:
    """Eight Ascend chips on an ARM host; its ConfigMap comes from `device_info`."""
    made = {"labels": npu_labels(), "devices": {"huawei.com/Ascend910": 8}, "architecture": "arm64", "cpu": 192}
    return node(name, **{**made, **changes})


def _small() -> list[Json]:
    return [
        gpu_node("gpu-1"),
        gpu_node("gpu-2"),
        npu_node("npu-1"),
        device_info("npu-1"),
        node("cpu-1"),
        node("cpu-2"),
    ]


def _troubled() -> list[Json]:
    """Each trouble on a node named after it."""
    return [
        gpu_node("half-broken", allocatable={GFD: 5}),
        gpu_node("unlabelled", labels={}),
        gpu_node("mislabelled", labels=gpu_labels("NVIDIA-L4", 23_034, 4)),
        gpu_node("cordoned", cordoned=True),
        gpu_node("not-ready", ready=False),
        npu_node("npu-half-broken", allocatable={"huawei.com/Ascend910": 6}),
        device_info("npu-half-broken", healthy=6, ill=2),
    ]


PRESETS: dict[str, Callable[[], list[Json]]] = {
    "none": lambda: [],
    "small": _small,
    "troubled": _troubled,
    "mixed": lambda: _small() + _troubled(),
}


def objects_of(choice: str) -> list[Json]:
    """The objects of a preset, of a preset of so many nodes (`gpu:1000`), or of a JSON file with a list or a List."""
    kind, _, count = choice.partition(":")
    if kind in ("gpu", "npu", "cpu") and count.isdecimal():
        make: Callable[[str], Json] = {"gpu": gpu_node, "npu": npu_node, "cpu": node}[kind]
        return [make(f"{kind}-{number}") for number in range(1, int(count) + 1)]
    if choice in PRESETS:
        return PRESETS[choice]()
    try:
        content = json.loads(Path(choice).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        known = ", ".join(PRESETS)
        raise ControlPlaneError(
            f"{choice} is no preset ({known}, gpu:N, npu:N, cpu:N) and no JSON file: {error}"
        ) from None
    found: list[Json] = content["items"] if isinstance(content, dict) else content
    return found


def _software(name: str, architecture: str) -> Json:
    return {
        "architecture": architecture,
        "bootID": f"boot-{name}",
        "containerRuntimeVersion": "containerd://2.1.4",
        "kernelVersion": "5.15.0-119-generic",
        "kubeProxyVersion": "",
        "kubeletVersion": "v1.36.3",
        "machineID": f"machine-{name}",
        "operatingSystem": "linux",
        "osImage": "Ubuntu 22.04.5 LTS",
        "systemUUID": f"system-{name}",
    }
