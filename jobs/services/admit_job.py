"""Turn one Admit decision into an attempt that holds what it names."""

import uuid
from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import Sum

from jobs.models import AllocationLine, Attempt, DeviceHold, Job
from jobs.reasons import Reason
from jobs.rows import attempt_row, held_rows
from jobs.scheduler.decision import Admit
from jobs.selectors.ground import runtime_as, write_ground
from jobs.services.transition import transition
from jobs.states import HOLDS_CAPACITY, HOLDS_QUOTA, AllocationState, JobState
from portal.lib.failpoints import failpoint
from resources.models import Cluster, Device, Node
from resources.selectors.pod_rules import pod_rules_of
from tenants.models import Project, QuotaCell


class _Stale(Exception):
    """The snapshot no longer holds; the job stays queued and the next cycle sees the facts."""


def admit_job(*, decision: Admit, now: datetime, cycle_id: uuid.UUID, currency: str) -> bool:
    """True when the job was admitted. False when the facts changed since the snapshot: nothing is written.

    Quota and capacity are checked again under row locks, so that two cycles at once cannot promise one thing
    twice; a whole device held twice is refused by the database.
    """
    try:
        with transaction.atomic():
            return _admit(decision, now, cycle_id, currency)
    except (_Stale, IntegrityError):
        return False


def _admit(decision: Admit, now: datetime, cycle_id: uuid.UUID, currency: str) -> bool:
    job = Job.objects.select_related("project__team").get(pk=decision.job)
    if job.state != JobState.QUEUED or job.generation != decision.attempt:
        raise _Stale
    nodes = _lock_nodes(job, decision)
    _lock_and_check_quota(job.project, decision)
    _check_capacity(decision, nodes)
    attempt = _enter(job, decision, nodes, now, currency)
    failpoint("jobs.admit.before_transition")
    moved = transition(
        job=job,
        to=JobState.ADMITTED,
        reason=Reason.ADMITTED,
        facts={"pool": decision.pool, "nodes": len(nodes)},
        now=now,
        attempt=attempt,
        cycle_id=cycle_id,
    )
    if not moved:
        raise _Stale
    return True


def _lock_nodes(job: Job, decision: Admit) -> dict[str, Node]:
    keys = {p.host for p in decision.placements}
    nodes = Node.objects.select_for_update().filter(pk__in=keys).order_by("pk")
    found = {str(node.pk): node for node in nodes}
    if set(found) != keys or not all(_open_to(job, node) for node in found.values()):
        raise _Stale
    return found


def _open_to(job: Job, node: Node) -> bool:
    """A node on trial takes the job of its trial, and no job that validates a node runs on another."""
    if job.validates_id is None:
        return node.stage == Node.Stage.SCHEDULABLE
    return node.trial_job == job.pk and node.stage == Node.Stage.VALIDATING


def _wanted(decision: Admit) -> dict[tuple[str, str], int]:
    wanted: dict[tuple[str, str], int] = {}
    for placement in decision.placements:
        for line in placement.lines:
            axis = (line.axis.class_key, str(line.axis.resource))
            wanted[axis] = wanted.get(axis, 0) + line.amount
    return wanted


def _lock_and_check_quota(project: Project, decision: Admit) -> None:
    """Lock the cells on the path to the root, then count again what is held below each."""
    keys = project.team.path.rstrip(".").split(".")
    teams = [uuid.UUID(key) for key in keys]
    mine = QuotaCell.objects.filter(project=project) | QuotaCell.objects.filter(team__in=teams)
    cells = mine.filter(pool_key=decision.pool).order_by("pk").select_for_update(of=("self",)).select_related("team")
    for cell in cells:
        amount = _wanted(decision).get((cell.class_key, cell.resource), 0)
        limit = cell.ceiling if cell.ceiling is not None else cell.nominal
        if not amount or limit is None:
            continue
        below: dict[str, object] = (
            {"allocation__project": project}
            if cell.team is None
            else {"allocation__project__team__path__startswith": cell.team.path}
        )
        held = _held(HOLDS_QUOTA, below, cell.class_key, cell.resource, allocation__pool_key=decision.pool)
        if held + amount > limit:
            raise _Stale


def _check_capacity(decision: Admit, nodes: dict[str, Node]) -> None:
    for key, node in nodes.items():
        for class_key, resource, allocatable in (
            ("cpu", "cpu", node.cpu_allocatable_milli),
            ("memory", "memory", node.memory_allocatable_bytes),
        ):
            amount = sum(
                line.amount
                for p in decision.placements
                if p.host == key
                for line in p.lines
                if line.axis == (class_key, resource)
            )
            if amount and _held(HOLDS_CAPACITY, {"node": node}, class_key, resource) + amount > allocatable:
                raise _Stale


def _held(
    states: frozenset[AllocationState],
    where: dict[str, object],
    class_key: str,
    resource: str,
    **more: object,
) -> int:
    rows = AllocationLine.objects.filter(
        allocation__state__in=[s.value for s in states],
        class_key=class_key,
        resource=resource,
        **where,
        **more,
    )
    return int(rows.aggregate(total=Sum("quantity"))["total"] or 0)


def _enter(job: Job, decision: Admit, nodes: dict[str, Node], now: datetime, currency: str) -> Attempt:
    """Save the attempt and all that it holds."""
    cluster = Cluster.objects.get(key=decision.cluster)
    attempt = attempt_row(
        job, decision, cluster=cluster, nodes=nodes, devices=_device_names(decision), now=now, currency=currency
    )
    attempt.pod_rules = pod_rules_of(decision.pool)
    attempt.runtime_as = runtime_as(job.runtime_key)
    attempt.save(force_insert=True)
    held = held_rows(job, attempt, decision, nodes=nodes, now=now)
    held.allocation.save(force_insert=True)
    write_ground(held.lines, nodes)
    AllocationLine.objects.bulk_create(held.lines)
    DeviceHold.objects.bulk_create(held.holds)
    return attempt


def _device_names(decision: Admit) -> dict[str, tuple[str, str]]:
    keys = [share.device for placement in decision.placements for share in placement.devices]
    if not keys:
        return {}
    rows = Device.objects.filter(pk__in=keys).values_list("pk", "group__resource_name", "uuid")
    return {str(key): (resource_name, vendor_id) for key, resource_name, vendor_id in rows}
