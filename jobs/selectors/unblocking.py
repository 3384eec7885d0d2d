"""What would let a waiting job start, as the scheduler proves it on a copy of the facts, in words."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from jobs.models import Job
from jobs.scheduler import snapshot as s
from jobs.scheduler.rules import Rules
from jobs.scheduler.unblock import Change, Unblocker, unblockers
from jobs.selectors.reach import load_reach
from jobs.selectors.snapshot import load_snapshot, waiting_job
from jobs.sentences import cause_word, lines_text
from jobs.states import JobState
from portal.lib import units
from portal.lib.clock import from_ms
from resources.models import ClassEquivalence
from resources.selectors.declared import in_force
from resources.selectors.names import name_of
from tenants.selectors.tenant_names import tenant_name

BY_OWNER = frozenset({Change.LIMIT, Change.SHRINK, Change.POOL, Change.OTHER})
"""What the owner of a job can change at once."""
ACTS = BY_OWNER | {Change.QUOTA}
"""What can be pressed: quota becomes a draft of a request."""


@dataclass(frozen=True, slots=True)
class Offer:
    """One change that lets the job start: in words, what pressing it does ("" where nobody can), and as facts."""

    change: Change
    say: str
    button: str
    found: Unblocker


def offers_for(job: Job, now: datetime) -> list[Offer]:
    """The changes that let the job start in the next pass; none for a job that does not wait for one."""
    if job.state != JobState.QUEUED:
        return []
    snapshot, waiting = _facts(job, now)
    found = unblockers(snapshot, Rules(), waiting, _equal_ways(job, now))
    return [Offer(one.change, _say(one, now), _BUTTONS.get(one.change, _nothing)(), one) for one in found]


def edited(job: Job, offer: Offer, now: datetime) -> s.WaitingJob:
    """The job as it would wait after the change."""
    snapshot, waiting = _facts(job, now)
    after = offer.found.edit(snapshot.with_job(waiting))
    return next(row for row in after.waiting if row.key == waiting.key)


def _facts(job: Job, now: datetime) -> tuple[s.Snapshot, s.WaitingJob]:
    reach = load_reach()
    return load_snapshot(now=now, reach=reach), waiting_job(job, reach, now)


def _equal_ways(job: Job, now: datetime) -> Iterator[s.Alternative]:
    """The job on every class that was declared as good for its type."""
    rows = ClassEquivalence.objects.filter(task_type=job.task_type, withdrawn_at__isnull=True)
    for row in rows.select_related("of", "by").order_by("of__key", "by__key"):
        if in_force(row, now):
            yield from _on_class(job, row.of.key, row.by.key)


def _on_class(job: Job, of: str, by: str) -> Iterator[s.Alternative]:
    for way in job.alternatives:
        lines = [(key, resource, n) for pods in way["pod_sets"] for key, resource, n in pods["lines"]]
        if any(key == of and resource == s.Resource.DEVICE for key, resource, _n in lines):
            yield s.Alternative(by, tuple(_pods(pods, of, by) for pods in way["pod_sets"]))


def _pods(pods: dict[str, Any], of: str, by: str) -> s.PodSet:
    lines = tuple(
        s.Line(s.Axis(by if key == of else key, s.Resource(resource)), n) for key, resource, n in pods["lines"]
    )
    return s.PodSet(pods["name"], pods["count"], lines)


# -- in words ---------------------------------------------------------------------------------------------------------


def _say(one: Unblocker, now: datetime) -> str:
    return _SAID[one.change](one.facts, now)


def _limit(facts: dict[str, Any], now: datetime) -> str:
    limit = units.duration_text(int(facts["limit"]))
    return _("A run limit of {limit}: it is over before the room is needed.").format(limit=limit)


def _shrink(facts: dict[str, Any], now: datetime) -> str:
    if "replicas" in facts:
        said = ngettext("{n} replica instead of {of}.", "{n} replicas instead of {of}.", facts["replicas"])
        return said.format(n=units.number(facts["replicas"]), of=units.number(facts["of"]))
    said = ngettext("{n} card instead of {of}.", "{n} cards instead of {of}.", facts["devices"])
    return said.format(n=units.number(facts["devices"]), of=units.number(facts["of"]))


def _pool(facts: dict[str, Any], now: datetime) -> str:
    return _("Pool {pool} as well.").format(pool=facts["pool"])


def _other(facts: dict[str, Any], now: datetime) -> str:
    name = name_of("class", facts["alternative"])
    return _("{name} as well, which is declared as good for this type of task.").format(name=name)


def _quota(facts: dict[str, Any], now: datetime) -> str:
    said = [_cell(cell) for cell in facts["cells"]]
    return _("More quota: {cells}.").format(cells="; ".join(said))


def _cell(cell: s.QuotaCell) -> str:
    most = cell.nominal if cell.ceiling is None else cell.ceiling
    amount = lines_text([(cell.axis.class_key, cell.axis.resource.value, most)])
    return _("{amount} for {tenant} in pool {pool}").format(
        amount=amount, tenant=tenant_name(cell.tenant), pool=name_of("pool", cell.pool)
    )


def _end(facts: dict[str, Any], now: datetime) -> str:
    at = units.near_time_text(from_ms(facts["t"]), timezone.get_current_timezone(), now)
    count = len(facts["jobs"])
    said = ngettext("{n} job ends by {t}, by its run limit.", "{n} jobs end by {t}, by their run limits.", count)
    return said.format(n=units.number(count), t=at)


def _node(facts: dict[str, Any], now: datetime) -> str:
    return _("Node {node} back in service ({cause}).").format(node=facts["node"], cause=cause_word(facts["cause"]))


def _more(facts: dict[str, Any], now: datetime) -> str:
    amount = lines_text([(line.axis.class_key, line.axis.resource.value, line.amount) for line in facts["lines"]])
    return _("{amount} more in pool {pool}.").format(amount=amount, pool=name_of("pool", facts["pool_key"]))


_SAID = {
    Change.LIMIT: _limit,
    Change.SHRINK: _shrink,
    Change.POOL: _pool,
    Change.OTHER: _other,
    Change.QUOTA: _quota,
    Change.END: _end,
    Change.NODE: _node,
    Change.MORE: _more,
}


def _nothing() -> str:
    return ""


_BUTTONS = {
    Change.LIMIT: lambda: _("Set this limit"),
    Change.SHRINK: lambda: _("Take this size"),
    Change.POOL: lambda: _("Allow this pool"),
    Change.OTHER: lambda: _("Allow this class"),
    Change.QUOTA: lambda: _("Draft a request"),
}


def as_plain(offers: Sequence[Offer]) -> list[dict[str, Any]]:
    """The offers for the API."""
    return [{"change": o.change.value, "says": o.say, "can_be_done": o.change in ACTS} for o in offers]
