"""Inference services: where they answer, how many replicas are ready, and who may call them."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from jobs.models import Attempt, Job
from jobs.selectors.jobs import jobs_visible_to
from jobs.sentences import sentence
from jobs.states import FINAL
from tenants.access import Actor

_FINAL = [state.value for state in FINAL]


@dataclass(frozen=True, slots=True)
class Service:
    """A service as its list shows it. `token_at` is None without a token: then every call is refused.

    `token_newer` says that the project's token was made after the service started, which still takes the one before.
    """

    job: Job
    sentence: str
    ready: int
    wanted: int
    addresses: Sequence[str]
    token_at: datetime | None
    token_newer: bool
    attempt: Attempt | None


def running_services(user: Actor) -> QuerySet[Job]:
    """Visible services that have not ended, newest first."""
    return _services(user).exclude(state__in=_FINAL)


def ended_services(user: Actor) -> QuerySet[Job]:
    """Visible services that have ended, newest first."""
    return _services(user).filter(state__in=_FINAL)


def service_of(job: Job, now: datetime) -> Service:
    """A job of `running_services` or `ended_services` with what its newest attempt says."""
    last = max(job.attempts.all(), key=lambda attempt: attempt.number, default=None)
    live = last if last is not None and not last.ended else None
    members = live.members_seen if live else []
    made = job.project.service_token_at if job.project.service_token_sha256 else None
    return Service(
        job=job,
        sentence=sentence(job.reason, job.facts, now),
        ready=sum(1 for m in members if m.get("ready_at") and not m.get("finished_at")),
        wanted=len(live.placement) if live else sum(pods["count"] for pods in job.alternatives[0]["pod_sets"]),
        addresses=live.addresses if live else [],
        token_at=made,
        token_newer=bool(live and made and live.admitted_at < made),
        attempt=last,
    )


def _services(user: Actor) -> QuerySet[Job]:
    return jobs_visible_to(user).filter(task_type="inference").prefetch_related("attempts")
