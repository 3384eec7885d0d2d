"""Take nodes out of service on which the platform failed several jobs, by rule."""

from datetime import datetime
from uuid import UUID

from django.db.models import Q

from jobs.health import PLATFORM, WINDOW, Failure, to_quarantine
from jobs.models import Attempt
from jobs.reasons import Reason
from resources.models import Node
from resources.services.quarantine_node import quarantine_node


def judge_health(*, now: datetime) -> int:
    """How many nodes were put in quarantine. Idempotent; two queries when nothing failed lately."""
    causes = [reason.value for reason in PLATFORM]
    # An attempt that was followed by another keeps what ended it as the cause.
    failed = Q(end_reason__in=causes) | Q(end_reason=Reason.REQUEUED, end_facts__cause__in=causes)
    ended = Attempt.objects.filter(failed, stopped_at__gt=now - WINDOW, ended=True).order_by("stopped_at", "pk")
    blamed = [(attempt, name) for attempt in ended if (name := _blamed(attempt))]
    if not blamed:
        return 0
    nodes = Node.objects.filter(name__in={name for _, name in blamed}, quarantine={}).exclude(
        held_stage=Node.Stage.RETIRED
    )
    known = {(node.cluster_id, node.name): node for node in nodes}
    failures = [
        Failure(attempt.stopped_at, attempt.job_id, node.pk, _cause(attempt))
        for attempt, name in blamed
        if (node := known.get((attempt.cluster_id, name))) and attempt.stopped_at
    ]
    by_key: dict[UUID, Node] = {node.pk: node for node in known.values()}
    found = to_quarantine(failures, {key: node.health_since for key, node in by_key.items()})
    return sum(
        quarantine_node(
            node=by_key[key], cause=one.cause, jobs=[str(job) for job in one.jobs], since=one.since, now=now
        )
        for key, one in found.items()
    )


def _cause(attempt: Attempt) -> str:
    return str(attempt.end_facts["cause"]) if attempt.end_reason == Reason.REQUEUED else attempt.end_reason


def _blamed(attempt: Attempt) -> str:
    """The node its end can be laid to: the one that is named, else the only one it ran on; "" for none."""
    named = attempt.end_facts.get("node")
    names = {str(member["node"]) for member in attempt.placement}
    if isinstance(named, str) and named in names:
        return named
    return names.pop() if len(names) == 1 else ""
