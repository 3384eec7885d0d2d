"""Write down what is seen of an attempt, in the caller's transaction."""

from datetime import datetime
from typing import Any

from jobs.models import Attempt
from jobs.reconcile import Times
from jobs.services.move_allocation import move_allocation
from jobs.states import AllocationState
from resources.drivers.base import SeenMember, SeenWorkload


def write_seen(*, attempt: Attempt, seen: SeenWorkload | None, times: Times) -> bool:
    """Times, members and addresses of the attempt as seen; binds its allocations. True when a row changed."""
    fields: list[str] = []
    for name in ("bound_at", "started_at", "ready_at", "stopped_at"):
        value = getattr(times, name)
        if value is not None and getattr(attempt, name) is None:
            setattr(attempt, name, value)
            fields.append(name)
    members = [_plain(m) for m in seen.members] if seen else attempt.members_seen
    addresses = [m.address for m in seen.members if m.address] if seen else attempt.addresses
    if members != attempt.members_seen:
        attempt.members_seen, attempt.addresses = members, addresses
        fields += ["members_seen", "addresses"]
    if attempt.missing_passes and seen is not None:
        attempt.missing_passes = 0
        fields.append("missing_passes")
    if fields:
        attempt.save(update_fields=fields)
    if "bound_at" in fields and attempt.bound_at is not None:
        for allocation in attempt.allocations.all():
            move_allocation(allocation=allocation, to=AllocationState.BOUND, at=attempt.bound_at, now=attempt.bound_at)
    return bool(fields)


def _plain(member: SeenMember) -> dict[str, Any]:
    return {
        "index": member.index,
        "node": member.node,
        "phase": member.phase.value,
        "started_at": _iso(member.started_at),
        "ready_at": _iso(member.ready_at),
        "finished_at": _iso(member.finished_at),
        "exit_code": member.exit_code,
        "signal": member.signal,
        "reason": member.reason,
        "message": member.message[:500],
        "address": member.address,
    }


def _iso(moment: datetime | None) -> str | None:
    return moment.isoformat() if moment else None
