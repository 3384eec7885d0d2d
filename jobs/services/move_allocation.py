"""The one writer of Allocation.state."""

from datetime import datetime

from django.db import transaction

from jobs.models import Allocation, DeviceHold
from jobs.rows import TIME_OF
from jobs.states import AllocationState, may_move_allocation


@transaction.atomic
def move_allocation(*, allocation: Allocation, to: AllocationState, at: datetime, now: datetime) -> bool:
    """True when this call moved it. Idempotent: being there already, or beyond, moves nothing.

    A released allocation frees its devices in the same transaction, and no sooner.
    """
    old = AllocationState(allocation.state)
    if old is to or not may_move_allocation(old, to):
        return False
    moment = max(at, allocation.reserved_at)
    values = {"state": to.value, TIME_OF[to]: moment}
    if not Allocation.objects.filter(pk=allocation.pk, state=old.value).update(**values):
        return False
    if to is AllocationState.RELEASED:
        DeviceHold.objects.filter(line__allocation=allocation).update(released=True)
    for name, value in values.items():
        setattr(allocation, name, value)
    return True
