"""The accelerators of this machine, as the makers' tools tell them now."""

import os
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from resources.drivers.base import WHOLE_DEVICE, Idle, SeenDevice, SeenDeviceGroup

from .vendors import ReadDevice, Vendor

_TIME_OUT_S = 10
_USUAL_FOLDERS = "/usr/bin:/usr/local/bin:/bin:/usr/sbin"


@dataclass(frozen=True, slots=True)
class Reading:
    """What one maker's tool said; `failure` tells why it said nothing, and then `devices` proves nothing."""

    vendor: Vendor
    devices: tuple[ReadDevice, ...]
    failure: str = ""


def read_devices(vendors: Iterable[Vendor]) -> tuple[Reading, ...]:
    """One reading per tool that is installed; a missing tool means no such devices."""
    return tuple(reading for vendor in vendors if (reading := _read(vendor)))


def _read(vendor: Vendor) -> Reading | None:
    tool = shutil.which(vendor.tool, path=os.pathsep.join([_USUAL_FOLDERS, *vendor.folders]))
    if tool is None:
        return None
    try:
        done = subprocess.run(
            [tool, *vendor.arguments],
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIME_OUT_S,
            env={"PATH": _USUAL_FOLDERS, "LANG": "C"},
            check=True,
        )
        return Reading(vendor, vendor.parse(done.stdout.decode(errors="replace")))
    except (OSError, subprocess.SubprocessError, ValueError, KeyError, IndexError) as error:
        return Reading(vendor, (), f"{vendor.tool}: {error}"[:500])


def device_groups(readings: Iterable[Reading]) -> tuple[SeenDeviceGroup, ...]:
    """Devices by resource name and model; an unhealthy one is capacity, but not allocatable."""
    sorted_out: dict[tuple[str, str], tuple[Vendor, list[ReadDevice]]] = {}
    for reading in readings:
        for device in reading.devices:
            key = (reading.vendor.resource_name(device.model), device.model)
            sorted_out.setdefault(key, (reading.vendor, []))[1].append(device)
    return tuple(_group(name, model, *rest) for (name, model), rest in sorted_out.items())


def _group(resource_name: str, model: str, vendor: Vendor, devices: list[ReadDevice]) -> SeenDeviceGroup:
    return SeenDeviceGroup(
        resource_name=resource_name,
        vendor=vendor.name,
        kind=vendor.kind,
        model=model,
        capacity_parts=len(devices) * WHOLE_DEVICE,
        allocatable_parts=sum(device.healthy for device in devices) * WHOLE_DEVICE,
        driver_version=devices[0].driver_version,
        devices=tuple(
            SeenDevice(d.uuid, d.index, d.model, d.memory_bytes, numa_node(d.bus_id), d.healthy, d.detail)
            for d in devices
        ),
    )


def numa_node(bus_id: str) -> int | None:
    """The NUMA node a PCI device hangs on; None when the kernel does not say."""
    try:
        with open(f"/sys/bus/pci/devices/{bus_id}/numa_node", encoding="ascii") as file:
            node = int(file.read())
    except (OSError, ValueError):
        return None
    return node if node >= 0 else None


def idleness(uuids: Iterable[str], readings: Iterable[Reading]) -> dict[str, Idle]:
    """Whether each device was seen idle; not observed when its tool is silent about it."""
    seen = {device.uuid: (reading.vendor, device) for reading in readings for device in reading.devices}
    return {uuid: _idle(*seen[uuid]) if uuid in seen else Idle.NOT_OBSERVED for uuid in uuids}


def _idle(vendor: Vendor, device: ReadDevice) -> Idle:
    if device.processes or device.busy_percent:
        return Idle.BUSY
    if device.used_bytes is None or not device.memory_bytes:
        return Idle.IDLE if device.processes == 0 and device.busy_percent == 0 else Idle.NOT_OBSERVED
    if device.used_bytes * 1000 > device.memory_bytes * vendor.idle_memory_thousandths:
        return Idle.BUSY
    return Idle.NOT_OBSERVED if device.busy_percent is None and device.processes is None else Idle.IDLE


@dataclass(frozen=True, slots=True)
class Exposure:
    """What a member's environment and view of the machine hold for the devices granted to it."""

    environment: Mapping[str, str]
    nodes: tuple[str, ...]
    libraries: tuple[str, ...]


def expose(granted: Iterable[str], vendors: Iterable[Vendor], readings: Iterable[Reading]) -> Exposure:
    """Visibility variables of every maker (empty: none is visible) and the device files of those granted.

    Raises KeyError for a device that is not on this machine.
    """
    wanted = tuple(granted)
    by_uuid = {device.uuid: (reading.vendor, device) for reading in readings for device in reading.devices}
    chosen = [by_uuid[uuid] for uuid in wanted]
    makers = {maker.name: maker for maker, _ in chosen}
    environment = {variable: "" for vendor in vendors for variable, _ in vendor.visibility}
    for maker in makers.values():
        for variable in maker.also_reads:
            environment.pop(variable, None)
    for maker in makers.values():
        own = [device for other, device in chosen if other.name == maker.name]
        for variable, kind in maker.visibility:
            environment[variable] = ",".join(str(getattr(device, kind)) for device in own)
    paths = [node.format(index=device.index) for maker, device in chosen for node in maker.nodes]
    return Exposure(
        environment,
        nodes=tuple(path for path in dict.fromkeys(paths) if os.path.exists(path)),
        libraries=tuple(path for maker in makers.values() for path in maker.libraries),
    )
