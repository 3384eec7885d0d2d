"""What a validation run says about a node, how long it says it, and when the next one is due. Pure."""

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta
from typing import Any, Final, NamedTuple

AUTOMATIC: Final = 3
"""Runs the installation starts by itself, the first included; after that a person must ask."""
PAUSES: Final = (timedelta(minutes=5), timedelta(minutes=20))
"""After the first failure, after the second."""
NOT_STARTED: Final = timedelta(minutes=5)
"""After a run that could not be asked for: no job was made, and the cause may be gone soon."""


class Change(NamedTuple):
    """A fact that is no longer what it was when the run passed."""

    fact: str
    was: str
    now: str


class GroupFacts(NamedTuple):
    """Of the devices of one resource name, what a run depends on."""

    name: str
    model: str
    driver: str
    devices: int


def ground_of(container_runtime: str, groups: Iterable[GroupFacts]) -> dict[str, Any]:
    """What is true of a node now, as it is kept with a proof; groups without a device are left out."""
    devices = {
        one.name: {"model": one.model, "driver": one.driver, "devices": one.devices}
        for one in sorted(groups)
        if one.devices
    }
    return {"runtime": container_runtime, "devices": devices}


def changes_of(was: Mapping[str, Any], now: Mapping[str, Any]) -> list[Change]:
    """What differs, fact by fact: the container runtime, and of each resource name model, driver and number."""
    found = [Change("runtime", was.get("runtime", ""), now.get("runtime", ""))]
    old, new = was.get("devices", {}), now.get("devices", {})
    for name in sorted(old.keys() | new.keys()):
        before, after = old.get(name, {}), new.get(name, {})
        for part, nothing in (("model", ""), ("driver", ""), ("devices", 0)):
            change = Change(f"{name} {part}", str(before.get(part, nothing)), str(after.get(part, nothing)))
            found.append(change)
    return [one for one in found if one.was != one.now]


def next_run(failures: int, ended: datetime) -> datetime | None:
    """When the installation tries again after so many failures; None: a person must ask."""
    return ended + PAUSES[failures - 1] if failures < AUTOMATIC else None
