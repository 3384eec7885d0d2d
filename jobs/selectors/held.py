"""What allocations hold now: by node, by device, and which jobs that is."""

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Q, QuerySet, Sum

from jobs.models import Allocation, AllocationLine, DeviceHold, Job
from jobs.selectors.jobs import jobs_visible_to
from jobs.states import HOLDS_CAPACITY, AllocationState
from resources.models import Cluster, Device, Node, Pool
from tenants import access
from tenants.access import Actor

_HOLDING = [state.value for state in HOLDS_CAPACITY]
Axis = tuple[str, str]  # class key, resource


def held_by_node(nodes: Iterable[Node]) -> dict[UUID, dict[Axis, int]]:
    """Base units held on each node by class and resource; what leaked is still held. One query."""
    rows = (
        AllocationLine.objects.filter(node__in=[node.pk for node in nodes], allocation__state__in=_HOLDING)
        .order_by()
        .values_list("node_id", "class_key", "resource")
        .annotate(total=Sum("quantity"))
    )
    held: dict[UUID, dict[Axis, int]] = {}
    for node, class_key, resource, total in rows:
        held.setdefault(node, {})[class_key, resource] = int(total)
    return held


def parts_by_device(node: Node) -> dict[UUID, int]:
    """Device parts held on each device of the node."""
    return _parts(Q(line__node=node))


def parts_of_devices(devices: Iterable[Device]) -> dict[UUID, int]:
    """Device parts held on each of these devices. One query."""
    return _parts(Q(device__in=[device.pk for device in devices]))


def _parts(which: Q) -> dict[UUID, int]:
    rows = DeviceHold.objects.filter(which, released=False, line__allocation__state__in=_HOLDING).order_by()
    return {key: int(parts) for key, parts in rows.values_list("device_id").annotate(total=Sum("parts"))}


@dataclass(frozen=True, slots=True)
class Holder:
    """Who holds parts of a device; `job` None: one that the reader may not see."""

    job: Job | None
    parts: int


def holders_of(devices: Iterable[Device], user: Actor) -> dict[UUID, list[Holder]]:
    """By device, the largest part first; what leaked still holds. Two queries."""
    which = Q(device__in=[device.pk for device in devices], released=False)
    rows = DeviceHold.objects.filter(which, line__allocation__state__in=_HOLDING).order_by("-parts", "id")
    held = list(rows.values_list("device_id", "line__allocation__attempt__job_id", "parts"))
    seen = jobs_visible_to(user).in_bulk({job for _device, job, _parts in held}) if held else {}
    found: dict[UUID, list[Holder]] = {}
    for device, job, parts in held:
        found.setdefault(device, []).append(Holder(seen.get(job), int(parts)))
    return found


def jobs_holding(place: Node | Cluster | Pool) -> int:
    """How many jobs hold something there, whoever may see them; what leaked still holds."""
    here = {"lines__node": place} if isinstance(place, Node) else {"attempt__cluster": place}
    where = {"pool_key": place.key} if isinstance(place, Pool) else here
    held = Allocation.objects.filter(state__in=_HOLDING, **where).order_by()
    return held.values("attempt__job").distinct().count()


def jobs_holding_on(nodes: Iterable[Node]) -> int:
    """How many jobs hold something on any of these nodes, whoever may see them. One query."""
    held = Allocation.objects.filter(state__in=_HOLDING, lines__node__in=[node.pk for node in nodes]).order_by()
    return held.values("attempt__job").distinct().count()


def jobs_on(node: Node, user: Actor, most: int) -> tuple[list[Job], int]:
    """At most `most` of the jobs that hold something on the node and that the user may see, newest first, and
    how many others there are."""
    held = AllocationLine.objects.filter(node=node, allocation__state__in=_HOLDING).order_by()
    # Few, whatever the number of jobs: as keys and not as a subquery, which is planned badly before statistics exist.
    keys = set(held.values_list("allocation__attempt__job_id", flat=True))
    mine = jobs_visible_to(user).filter(pk__in=keys)
    return list(mine[:most]), len(keys) - mine.count()


def leaked(user: Actor) -> QuerySet[Allocation]:
    """Allocations that were not seen free in time, the longest first."""
    rows = access.visible(user, Allocation, "job.see").filter(state=AllocationState.LEAKED)
    return rows.select_related("attempt__job__project", "attempt__cluster").order_by("leaked_at", "id")
