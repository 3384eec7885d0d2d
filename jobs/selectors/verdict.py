"""What the next cycle would say about a job that is not saved: the same code, on the same facts."""

import uuid
from dataclasses import dataclass
from datetime import datetime

from jobs.models import Job
from jobs.scheduler.cycle import evaluate_one
from jobs.scheduler.decision import Admit, Decision
from jobs.scheduler.price import price_per_hour
from jobs.scheduler.rules import Rules
from jobs.scheduler.snapshot import Line
from jobs.selectors.reach import load_reach
from jobs.selectors.snapshot import load_snapshot, waiting_job


@dataclass(frozen=True, slots=True)
class Preview:
    """The decision, the price per hour while held (None: unrated), and the pool and nodes it would go to, by name."""

    job: Job
    decision: Decision
    price_micro_hour: int | None
    pool: str = ""
    nodes: tuple[str, ...] = ()


def judge(job: Job, now: datetime, *, alone: bool = False) -> Preview:
    """The decision about an unsaved job behind everyone who waits; writes nothing.

    `alone` leaves the others out: enough to know whether it could ever start, whatever the length of the queue.
    """
    job.pk = job.pk or uuid.uuid4()
    reach = load_reach()
    snapshot = load_snapshot(now=now, waiting=() if alone else None, reach=reach)
    candidate = waiting_job(job, reach, now)
    decision = evaluate_one(snapshot, Rules(), candidate)
    names = {host.key: host.name for host in snapshot.hosts}
    placed = decision.placements if isinstance(decision, Admit) else ()
    pool = next((p.name for p in snapshot.pools if isinstance(decision, Admit) and p.key == decision.pool), "")
    lines = [
        Line(line.axis, line.amount * pods.count) for pods in candidate.alternatives[0].pod_sets for line in pods.lines
    ]
    nodes = tuple(sorted({names[p.host] for p in placed}))
    return Preview(job, decision, price_per_hour(lines, snapshot.rates), pool, nodes)
