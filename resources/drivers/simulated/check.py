"""Whether a workload may be applied, and whether its nodes have room for it. Pure.

What is not a workload at all is rejected. What a node cannot take is accepted and fails there, as pods do: a portal
that grants one device twice must see it fail, not be saved from it.
"""

import re
from collections.abc import Iterable

from resources.drivers.base import MemberSpec, SeenNode, Workload, WorkloadRejected

from .fleet import Fleet
from .records import Member
from .starting import UNEXPECTED, UNHEALTHY

_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,50}[a-z0-9])?", re.ASCII)
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}", re.ASCII)
_MOST_MEMBERS = 256
_LONGEST_MS = 366 * 86_400_000


def check(fleet: Fleet, workload: Workload) -> None:
    """Raises WorkloadRejected with the reason."""
    _require(_NAME.fullmatch(workload.name), "InvalidName", f"name {workload.name!r}")
    for key in (workload.job_id, workload.attempt_id):
        _require(_ID.fullmatch(key), "InvalidName", f"id {key!r}")
    _require(0 <= workload.generation < 1 << 31, "InvalidNumber", f"generation {workload.generation}")
    limit = workload.time_limit_ms
    _require(limit is None or 0 < limit <= _LONGEST_MS, "InvalidNumber", f"time limit {limit}")
    _require(0 <= workload.grace_ms <= _LONGEST_MS, "InvalidNumber", f"grace {workload.grace_ms}")
    _require(bool(workload.program) != bool(workload.command), "InvalidCommand", "one of program and command")
    indexes = sorted(member.index for member in workload.members)
    _require(0 < len(indexes) <= _MOST_MEMBERS, "InvalidMembers", f"{len(indexes)} members")
    _require(indexes == list(range(len(indexes))), "InvalidMembers", f"indexes {indexes}")
    for member in workload.members:
        _check_member(fleet, member)
    devices = [uuid for member in workload.members for uuid in granted(member)]
    _require(len(devices) == len(set(devices)), "InvalidMembers", "a device granted twice")


def _check_member(fleet: Fleet, member: MemberSpec) -> None:
    _require(member.node in fleet.by_name, "NodeUnknown", f"node {member.node!r}")
    _require(member.cpu_milli > 0 and member.memory_bytes > 0, "InvalidNumber", "no CPU or no memory")
    known = fleet.devices(member.node) if member.devices else {}
    for resource, uuids in member.devices.items():
        for uuid in uuids:
            there = uuid in known and known[uuid][0] == resource
            _require(there, "DeviceUnknown", f"no {resource} {uuid!r} on {member.node}")


def _require(condition: object, reason: str, detail: str) -> None:
    if not condition:
        raise WorkloadRejected(detail, reason=reason)


def granted(member: MemberSpec) -> tuple[str, ...]:
    """Uuids of all devices a member was granted."""
    return tuple(uuid for uuids in member.devices.values() for uuid in uuids)


def admitted(fleet: Fleet, specs: Iterable[MemberSpec], held: Iterable[Member]) -> tuple[Member, ...]:
    """The members as their nodes take them, beside those that hold something there already."""
    taken: dict[str, list[Member]] = {}
    for one in held:
        taken.setdefault(one.node, []).append(one)
    members = []
    for spec in sorted(specs, key=lambda spec: spec.index):
        beside = taken.setdefault(spec.node, [])
        member = _admit(fleet, fleet.by_name[spec.node], spec, beside)
        members.append(member)
        if not member.refused:
            beside.append(member)
    return tuple(members)


def _admit(fleet: Fleet, node: SeenNode, spec: MemberSpec, beside: list[Member]) -> Member:
    uuids = granted(spec)
    refused, message = _refusal(fleet, node, spec, uuids, beside)
    waits = "" if node.ready or refused else node.reason or "NodeNotReady"
    return Member(spec.index, spec.node, spec.cpu_milli, spec.memory_bytes, uuids, refused, message, waits)


def _refusal(
    fleet: Fleet, node: SeenNode, spec: MemberSpec, uuids: tuple[str, ...], beside: list[Member]
) -> tuple[str, str]:
    """A kubelet's word and message, empty when it takes the pod."""
    asked = (
        ("cpu", spec.cpu_milli, sum(one.cpu_milli for one in beside), node.cpu_allocatable_milli),
        ("memory", spec.memory_bytes, sum(one.memory_bytes for one in beside), node.memory_allocatable_bytes),
    )
    for resource, amount, used, capacity in asked:
        if amount + used > capacity:
            counts = f"Requested: {amount}, Used: {used}, Capacity: {capacity}"
            return f"OutOf{resource}", f"simulated: node didn't have enough resource: {resource}. {counts}"
    known = fleet.devices(spec.node) if uuids else {}
    in_use = {uuid for one in beside for uuid in one.devices}.intersection(uuids)
    if in_use:
        resource = known[min(in_use)][0]
        return f"OutOf{resource}", f"simulated: node didn't have enough resource: {resource}. {min(in_use)} is in use"
    sick = [uuid for uuid in uuids if not known[uuid][1].healthy]
    return (UNEXPECTED, f"{UNHEALTHY}: {sick[0]}") if sick else ("", "")
