"""The job page: header, rail, top card, results, proof; below them its tabs."""

import uuid
from hashlib import sha256
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_GET

from jobs.job_access import may_change
from jobs.models import Attempt, Job
from jobs.selectors.job_card import card_of
from jobs.selectors.jobs import events_of, last_attempt, releases_of
from jobs.selectors.proof import levels_of, levels_seen, returned_of
from jobs.selectors.rail import rail_of
from jobs.selectors.results import reports_of
from jobs.sentences import sentence
from jobs.web import tabs
from jobs.web.usage_panel import usage_of
from portal.lib.clock import utc_now
from portal.lib.signin import signed_in
from portal.lib.sse import stream_changes
from tenants import access

_RELATED = ("project__team", "submitter", "template_version__template", "run_again_of", "validates")


@require_GET
@signed_in
def job_detail(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """The whole page; `?tab=` names the tab."""
    job = access.fetch(request.user, Job, key, "job.see", related=_RELATED)
    tab = tabs.name_of(request)
    context = _status(job) | {"tabs": tabs.links(tab)} | tabs.context_of(tab, request, job)
    return render(request, "jobs/detail.html", context | _may(request, job))


@require_GET
@signed_in
def status(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """The part of the page that moves."""
    job = access.fetch(request.user, Job, key, "job.see", related=_RELATED)
    return render(request, "jobs/status.html", _status(job) | _may(request, job))


@require_GET
@signed_in
def part(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """What else of a tab moves with the job: beside the log on the overview, else all of the tab."""
    job = access.fetch(request.user, Job, key, "job.see", related=_RELATED)
    tab = tabs.name_of(request)
    if tab in ("overview", "log"):
        attempt = last_attempt(job)
        found = {"job": job, "attempt": attempt, **tabs.aside_of(request, job, attempt)}
        return render(request, "jobs/overview_aside.html", found)
    return render(request, f"jobs/tab_{tab}.html", _status(job) | tabs.context_of(tab, request, job))


@require_GET
@signed_in
def stream(request: HttpRequest, key: uuid.UUID) -> HttpResponseBase:
    """Server-sent events: `change` when the job moved."""
    job = access.fetch(request.user, Job, key, "job.see")
    user = request.user

    def version() -> str | None:
        # Asked anew each time: rights taken away end the stream.
        row = access.visible(user, Job, "job.see").filter(pk=job.pk).first()
        return None if row is None or _settled(row) else _fingerprint(row)

    return stream_changes(version, seen=request.GET.get("seen", "")[:64])


def _status(job: Job) -> dict[str, Any]:
    now = utc_now()
    attempt = last_attempt(job)
    events = list(events_of(job))
    proofs = [
        {"record": r, "levels": levels_of(r), "returned": returned_of(r), "seen": levels_seen(r)}
        for r in releases_of(job)
    ]
    return {
        "job": job,
        "attempt": attempt,
        "now": now,
        "stages": rail_of(job, attempt, events),
        "card": card_of(job, attempt, now),
        "sentence": sentence(job.reason, job.facts, now),
        "proofs": proofs[::-1],
        "usage": usage_of(job, now),
        "reports": reports_of(job) if job.archived_at else [],
        "settled": _settled(job),
        "stream_url": "" if _settled(job) else f"{reverse('job_stream', args=[job.pk])}?seen={_fingerprint(job)}",
        "events": events,
    }


def _may(request: HttpRequest, job: Job) -> dict[str, bool]:
    serves = job.task_type == "inference"
    return {
        "serves": serves,
        "may_cancel": _may_cancel(request, job),
        "may_submit": access.can(request.user, "job.ask", job),
        "may_renew": serves and not job.is_final and access.can(request.user, "project.change", job.project),
    }


def _may_cancel(request: HttpRequest, job: Job) -> bool:
    if job.is_final or job.state == "STOPPING":
        return False
    return may_change(request.user, job)


def _settled(job: Job) -> bool:
    return job.is_final and job.archived_at is not None


def _fingerprint(job: Job) -> str:
    attempt = Attempt.objects.filter(job=job).order_by("-number").values_list("members_seen", "released_at").first()
    shown = repr((job.state, job.reason, job.facts, job.archived_at, attempt))
    return sha256(shown.encode()).hexdigest()[:16]
