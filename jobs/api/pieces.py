"""A job's parts as the API shows them; selectors read, here they are only put side by side."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.utils.translation import gettext as _

from jobs.models import Attempt, Job, ReleaseRecord
from jobs.reasons import BY_VALUE
from jobs.retry_words import advice, retry_of
from jobs.scheduler.decision import Admit, Verdict
from jobs.selectors.explanations import facts_of
from jobs.selectors.jobs import events_of, last_attempt, releases_of
from jobs.selectors.lineage import inputs_of
from jobs.selectors.proof import levels_of, returned_of
from jobs.selectors.rail import rail_of
from jobs.selectors.results import reports_of
from jobs.selectors.verdict import Preview
from jobs.sentences import sentence
from jobs.states import JobState
from metering.selectors.open_use import open_pieces, sum_of
from metering.selectors.usage import Scope, use_by_class
from metering.selectors.windows import Window
from portal.lib.display import ProofLevel
from portal.lib.localised import listed

_LEVELS = ("objects", "capacity", "devices")
_RETURNED = ("quota", "queue_slot", "temporary_files")


def parts_of(job: Job, now: datetime) -> Mapping[str, Any]:
    """What a job's detail shows beside its own columns."""
    return {
        "size": size_of(job),
        **_retry(job),
        "stages": rail_of(job, last_attempt(job), list(events_of(job))),
        "attempts": list(Attempt.objects.filter(job=job).select_related("cluster").order_by("number")),
        "proofs": [_proof(record) for record in releases_of(job)],
        "usage": _usage(job, now),
        "results": reports_of(job) if job.archived_at else [],
        "inputs": list(inputs_of(job).values()),
    }


def size_of(job: Job) -> dict[str, Any]:
    """Members and what each gets, of the first way to run it."""
    pods = job.alternatives[0]["pod_sets"][0]
    lines = [{"class_key": key, "resource": resource, "amount": amount} for key, resource, amount in pods["lines"]]
    return {"members": pods["count"], "lines": lines}


def _retry(job: Job) -> dict[str, Any]:
    """When a failed job can run again and what to do for that."""
    known = BY_VALUE.get(job.reason)
    if job.state != JobState.FAILED or known is None:
        return {"retry": None, "next_step": ""}
    return {"retry": retry_of(known), "next_step": advice(job.reason, job.generation, job.max_attempts)}


def verdict_of(preview: Preview, now: datetime) -> dict[str, Any]:
    """The decision in one word, with its reason and numbers."""
    decision = preview.decision
    shown = {"size": size_of(preview.job), "price_micro_hour": preview.price_micro_hour, "nodes": preview.nodes}
    if isinstance(decision, Admit):
        nodes = listed(preview.nodes)
        say = _("Starts now in pool {pool} on {nodes}.").format(pool=decision.pool, nodes=nodes)
        return shown | {
            "verdict": Verdict.NOW, "reason": "Admitted", "sentence": say, "facts": {}, "pool_key": decision.pool
        }  # fmt: skip
    facts = facts_of(decision)
    word = Verdict.WAIT if decision.verdict is Verdict.WAIT else Verdict.NEVER
    say = sentence(decision.why.reason, facts, now)
    return shown | {
        "verdict": word, "reason": decision.why.reason, "sentence": say, "facts": facts, "pool_key": decision.why.pool
    }  # fmt: skip


def _proof(record: ReleaseRecord) -> dict[str, Any]:
    return {
        "attempt": record.allocation.attempt.number,
        "stopped_at": record.stopped_at,
        "completed_at": record.completed_at,
        "leaked_at": record.leaked_at,
        "levels": _levels(_LEVELS, levels_of(record)),
        "returned": _levels(_RETURNED, returned_of(record)),
    }


def _levels(keys: Sequence[str], levels: Sequence[ProofLevel]) -> list[dict[str, Any]]:
    return [
        {
            "key": key,
            "label": level.label,
            "observed": level.observed,
            "text": level.text,
            "after_ms": level.after_ms,
            "read_at": level.read_at,
        }
        for key, level in zip(keys, levels, strict=True)
    ]


def _usage(job: Job, now: datetime) -> dict[str, Any]:
    window = Window("all", job.submitted_at, now, job.submitted_at.date(), now.date())
    scope = Scope(jobs=[job.pk])
    return {"entered": use_by_class(scope, window), "open": sum_of(open_pieces(scope, window, now))}
