"""Write down what is seen of an attempt, in the caller's transaction."""

from jobs.models import Attempt
from jobs.reconcile import Times
from jobs.rows import write_times
from jobs.services.move_allocation import move_allocation
from jobs.states import AllocationState
from resources.drivers.base import SeenWorkload


def write_seen(*, attempt: Attempt, seen: SeenWorkload | None, times: Times) -> bool:
    """Times, members and addresses of the attempt as seen; binds its allocations. True when a row changed."""
    fields = write_times(attempt, seen, times)
    if fields:
        attempt.save(update_fields=fields)
    if "bound_at" in fields and attempt.bound_at is not None:
        for allocation in attempt.allocations.all():
            move_allocation(allocation=allocation, to=AllocationState.BOUND, at=attempt.bound_at, now=attempt.bound_at)
    return bool(fields)
