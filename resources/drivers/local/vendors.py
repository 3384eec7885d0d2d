"""Accelerator makers as data: how to ask their tool, read its answer, and show a job its devices and no others.

A new maker is a row here and nothing elsewhere. Parsers are pure and raise ValueError for an answer they do not
understand: an unreadable answer is unknown, not zero devices.
"""

import csv
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class ReadDevice:
    """One device as a tool's answer tells it; None where the answer is silent."""

    index: int
    uuid: str
    model: str
    memory_bytes: int | None
    used_bytes: int | None
    busy_percent: int | None
    processes: int | None
    bus_id: str
    healthy: bool
    detail: str
    driver_version: str


@dataclass(frozen=True, slots=True)
class Vendor:
    """One row. `resources` is matched against the model in order; the last entry should match all."""

    name: str
    kind: str
    tool: str
    folders: tuple[str, ...]
    """Where the tool may be, besides the usual places."""
    arguments: tuple[str, ...]
    parse: Callable[[str], tuple[ReadDevice, ...]]
    resources: tuple[tuple[str, str], ...]
    """(pattern on the model, resource name as the maker's Kubernetes device plugin has it)."""
    visibility: tuple[tuple[str, str], ...]
    """(environment variable, "uuid" or "index"): names the granted devices, empty when none is."""
    also_reads: tuple[str, ...]
    """Variables of other makers that its libraries obey too: left unset for a job with its devices."""
    nodes: tuple[str, ...]
    """Device files every job with such a device needs; `{index}` stands for each granted device."""
    libraries: tuple[str, ...]
    """Folders outside /usr that hold the maker's user-space libraries."""
    idle_memory_thousandths: int
    """What an unused device may hold for itself, in thousandths of its memory."""

    def resource_name(self, model: str) -> str:
        """The resource a device of this model counts as."""
        return next(name for pattern, name in self.resources if re.search(pattern, model))


def parse_nvidia(answer: str) -> tuple[ReadDevice, ...]:
    """Rows of `nvidia-smi --query-gpu=… --format=csv,noheader,nounits`, columns as in the table below."""
    return tuple(_nvidia_row([cell.strip() for cell in row]) for row in csv.reader(answer.splitlines()) if row)


def _nvidia_row(cells: list[str]) -> ReadDevice:
    if len(cells) != len(_NVIDIA_COLUMNS):
        raise ValueError(f"{len(cells)} columns: {cells}")
    row = dict(zip(_NVIDIA_COLUMNS, cells, strict=True))
    total, used = _number(row["memory.total"]), _number(row["memory.used"])
    # A device that fell off the bus shows its error in every cell.
    faulty = "ERR" in row["name"].upper() or "LOST" in row["memory.total"].upper()
    return ReadDevice(
        index=int(row["index"]),
        uuid=_named(row["uuid"]),
        model=row["name"],
        memory_bytes=None if total is None else total * _MIB,
        used_bytes=None if used is None else used * _MIB,
        busy_percent=_number(row["utilization.gpu"]),
        processes=None,
        bus_id=_bus_id(row["pci.bus_id"]),
        healthy=not faulty,
        detail=row["name"] if faulty else "",
        driver_version=row["driver_version"],
    )


_NVIDIA_COLUMNS = (
    "index",
    "uuid",
    "name",
    "driver_version",
    "memory.total",
    "memory.used",
    "utilization.gpu",
    "pci.bus_id",
)


def parse_ascend(answer: str) -> tuple[ReadDevice, ...]:
    """The table of `npu-smi info`: two rows per chip, then one block per NPU with its processes."""
    version = re.search(r"Version:\s*(\S+)", answer)
    lines = [line.strip().strip("|") for line in answer.splitlines() if "|" in line]
    rows = [[cell.strip() for cell in line.split("|")] for line in lines]
    processes = _ascend_processes(rows)
    devices = []
    for upper, lower in pairwise(rows):
        if len(upper) == len(lower) == 3 and re.fullmatch(_BUS_ID, lower[1]):
            devices.append(_ascend_chip(upper, lower, version[1] if version else "", processes))
    if not devices:
        raise ValueError("no chip in the table")
    return tuple(devices)


def _ascend_chip(upper: list[str], lower: list[str], version: str, processes: dict[tuple[int, int], int]) -> ReadDevice:
    npu, _, model = upper[0].partition(" ")
    chip, *physical = (int(word) for word in lower[0].split())
    used, total = re.findall(r"(\d+)\s*/\s*(\d+)", lower[2])[-1]
    busy = lower[2].split()[0]
    healthy = upper[1].upper() == "OK"
    known = any(key[0] == int(npu) for key in processes)
    return ReadDevice(
        index=physical[0] if physical else int(npu),
        uuid=f"pci-{_bus_id(lower[1])}",  # the table has no id of the chip itself; its place on the bus is stable
        model=model.strip(),
        memory_bytes=int(total) * _MIB or None,
        used_bytes=int(used) * _MIB if int(total) else None,
        busy_percent=_number(busy),
        processes=processes.get((int(npu), chip), 0) if known else None,
        bus_id=_bus_id(lower[1]),
        healthy=healthy,
        detail="" if healthy else upper[1],
        driver_version=version,
    )


def _ascend_processes(rows: list[list[str]]) -> dict[tuple[int, int], int]:
    """(NPU, chip) → how many processes; an NPU said to have none has chip 0 at 0."""
    found: dict[tuple[int, int], int] = {}
    for row in rows:
        if none := re.match(r"No running processes found in NPU (\d+)", row[0]):
            found.setdefault((int(none[1]), 0), 0)
        elif len(row) == 4 and row[1].isdigit() and re.fullmatch(r"\d+\s+\d+", row[0]):
            npu, chip = (int(word) for word in row[0].split())
            found[npu, chip] = found.get((npu, chip), 0) + 1
    return found


def parse_rocm(answer: str) -> tuple[ReadDevice, ...]:
    """The JSON of `rocm-smi … --json`; key spelling varies by version only in case."""
    data = json.loads(answer[answer.index("{") :])
    cards = {key: value for key, value in data.items() if re.fullmatch(r"card\d+", key)}
    if not cards:
        raise ValueError("no card in the answer")
    version = _lower(data.get("system", {})).get("driver version", "")
    return tuple(_rocm_card(int(key[4:]), _lower(value), version) for key, value in sorted(cards.items()))


def _rocm_card(index: int, card: dict[str, str], version: str) -> ReadDevice:
    bus_id = _bus_id(card.get("pci bus", ""))
    unique = card.get("unique id", "N/A")
    return ReadDevice(
        index=index,
        uuid=_named(f"GPU-{unique.removeprefix('0x')}" if unique not in ("N/A", "") else f"pci-{bus_id}"),
        model=card.get("card series") or card.get("device name") or card.get("card model", ""),
        memory_bytes=_number(card.get("vram total memory (b)", "")),
        used_bytes=_number(card.get("vram total used memory (b)", "")),
        busy_percent=_number(card.get("gpu use (%)", "")),
        processes=None,
        bus_id=bus_id,
        healthy=True,
        detail="",
        driver_version=version,
    )


_BUS_ID = r"[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-9A-Fa-f]"


def _bus_id(text: str) -> str:
    """A PCI address as the kernel writes it: four digits of domain, lower case."""
    domain, _, rest = text.strip().lower().partition(":")
    return f"{domain[-4:]}:{rest}" if rest else ""


def _number(text: str) -> int | None:
    return int(text) if re.fullmatch(r"[0-9]{1,18}", text.strip(), re.ASCII) else None


def _named(uuid: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9._:/-]{4,128}", uuid) or uuid == "pci-":
        raise ValueError(f"a device without an id: {uuid!r}")
    return uuid


def _lower(mapping: dict[str, Any]) -> dict[str, str]:
    return {key.lower(): str(value) for key, value in mapping.items()}


_ROCM_ARGUMENTS = (
    "--showproductname",
    "--showuniqueid",
    "--showmeminfo",
    "vram",
    "--showuse",
    "--showbus",
    "--showdriverversion",
    "--json",
)

_HIP_VARIABLES = ("CUDA_VISIBLE_DEVICES", "HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "GPU_DEVICE_ORDINAL")

VENDORS: tuple[Vendor, ...] = (
    Vendor(
        name="NVIDIA",
        kind="GPU",
        tool="nvidia-smi",
        folders=(),
        arguments=(f"--query-gpu={','.join(_NVIDIA_COLUMNS)}", "--format=csv,noheader,nounits"),
        parse=parse_nvidia,
        resources=(("", "nvidia.com/gpu"),),
        visibility=(("CUDA_VISIBLE_DEVICES", "uuid"), ("NVIDIA_VISIBLE_DEVICES", "uuid")),
        also_reads=(),
        nodes=("/dev/nvidiactl", "/dev/nvidia-uvm", "/dev/nvidia-uvm-tools", "/dev/nvidia{index}"),
        libraries=(),
        idle_memory_thousandths=20,
    ),
    Vendor(
        name="Huawei Ascend",
        kind="NPU",
        tool="npu-smi",
        folders=("/usr/local/sbin", "/usr/local/Ascend/driver/tools"),
        arguments=("info",),
        parse=parse_ascend,
        resources=(
            ("310P", "huawei.com/Ascend310P"),
            ("310", "huawei.com/Ascend310"),
            ("", "huawei.com/Ascend910"),
        ),
        visibility=(("ASCEND_RT_VISIBLE_DEVICES", "index"), ("ASCEND_VISIBLE_DEVICES", "index")),
        also_reads=(),
        nodes=("/dev/davinci_manager", "/dev/devmm_svm", "/dev/hisi_hdc", "/dev/davinci{index}"),
        libraries=(),
        idle_memory_thousandths=80,
    ),
    Vendor(
        name="AMD",
        kind="GPU",
        tool="rocm-smi",
        folders=("/opt/rocm/bin",),
        arguments=_ROCM_ARGUMENTS,
        parse=parse_rocm,
        resources=(("", "amd.com/gpu"),),
        visibility=(("ROCR_VISIBLE_DEVICES", "index"), ("GPU_DEVICE_ORDINAL", "index")),
        also_reads=_HIP_VARIABLES,
        nodes=("/dev/kfd", "/dev/dri"),
        libraries=("/opt/rocm", "/sys/class/kfd", "/sys/devices/virtual/kfd", "/sys/module/amdgpu"),
        idle_memory_thousandths=20,
    ),
    Vendor(
        name="Hygon",
        kind="GPU",
        tool="hy-smi",
        folders=("/opt/hyhal/bin",),
        arguments=_ROCM_ARGUMENTS,
        parse=parse_rocm,
        resources=(("", "hygon.com/dcu"),),
        visibility=(("HIP_VISIBLE_DEVICES", "index"),),
        also_reads=_HIP_VARIABLES,
        nodes=("/dev/kfd", "/dev/mkfd", "/dev/dri"),
        libraries=("/opt/hyhal", "/opt/dtk", "/sys/class/kfd", "/sys/devices/virtual/kfd"),
        idle_memory_thousandths=20,
    ),
)
