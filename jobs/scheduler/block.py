"""One thing that stops a job, with its numbers: what the rules hand to the explanation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from jobs.reasons import Reason
from jobs.scheduler.snapshot import Axis, Resource, ResourceClass


@dataclass(frozen=True, slots=True)
class Block:
    """A reason with its facts; `axis` is the one it is about, `tenant` whose quota it is, where there is one."""

    reason: Reason
    facts: dict[str, Any]
    axis: Axis | None = None
    tenant: str | None = None


class Words:
    """Names and units for facts, from the catalogue of resource classes."""

    def __init__(self, classes: tuple[ResourceClass, ...]) -> None:
        self.classes = {kind.key: kind for kind in classes}

    def amounts(self, axis: Axis, **amounts: int) -> dict[str, Any]:
        """Facts about one axis: the amounts in base units, and what is needed to show them."""
        return {"res": self.name(axis), "resource": axis.resource.value, **self.unit(axis), **amounts}

    def shortage(self, axis: Axis, need: int, have: int, **more: int) -> dict[str, Any]:
        """The same, with the three numbers every wait carries."""
        return self.amounts(axis, need=need, have=have, short_by=need - have, **more)

    def name(self, axis: Axis) -> str:
        """What people call the class."""
        kind = self.classes.get(axis.class_key)
        return axis.class_key if kind is None else kind.name

    def unit(self, axis: Axis) -> dict[str, int]:
        """The parts of one device, for device amounts."""
        kind = self.classes.get(axis.class_key)
        return {"whole": kind.whole} if kind is not None and axis.resource is Resource.DEVICE else {}
