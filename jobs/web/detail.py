"""The job page: header, rail, top card, proof; tabs for log, history, files, usage and workload."""

import uuid
from dataclasses import asdict
from hashlib import sha256
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from jobs.models import Attempt, Job
from jobs.selectors.job_card import card_of
from jobs.selectors.jobs import artifacts_of, events_of, last_attempt, releases_of
from jobs.selectors.logs import LogPart, tail_or_empty
from jobs.selectors.proof import levels_of, levels_seen, returned_of
from jobs.selectors.rail import rail_of
from jobs.selectors.templates import params_of
from jobs.selectors.workload import workload_of
from jobs.sentences import sentence
from jobs.web.logs import place_of
from jobs.web.usage_panel import usage_of
from portal.lib.clock import utc_now
from portal.lib.display import Link
from portal.lib.signin import signed_in
from portal.lib.sse import stream_changes
from tenants import access

_RELATED = ("project__team", "submitter", "template_version__template", "run_again_of")


@require_GET
@signed_in
def job_detail(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """The whole page; `?tab=` names the tab."""
    job = access.fetch(request.user, Job, key, "job.see", related=_RELATED)
    tab = request.GET.get("tab", "overview")
    context = _status(job) | {"tabs": _tabs(tab), "tab": tab} | _may(request, job)
    context |= _TABS.get(tab, _overview)(job, context["attempt"], request)
    return render(request, "jobs/detail.html", context)


@require_GET
@signed_in
def status(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """The part of the page that moves."""
    job = access.fetch(request.user, Job, key, "job.see", related=_RELATED)
    return render(request, "jobs/status.html", _status(job) | _may(request, job))


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
        "settled": _settled(job),
        "stream_url": "" if _settled(job) else f"{reverse('job_stream', args=[job.pk])}?seen={_fingerprint(job)}",
        "events": events,
    }


def _overview(job: Job, attempt: Attempt | None, request: HttpRequest) -> dict[str, Any]:
    pod_sets = job.alternatives[0]["pod_sets"] if job.alternatives else []
    return {
        "pod_sets": pod_sets,
        "params": params_of(job),
        "artifacts": artifacts_of(job)[:20],
        **_log(job, attempt, request),
    }


def _log(job: Job, attempt: Attempt | None, request: HttpRequest) -> dict[str, Any]:
    count = len(attempt.placement) if attempt else sum(pods["count"] for pods in job.alternatives[0]["pod_sets"])
    raw = request.GET.get("member", "0")
    member = int(raw) if raw.isascii() and raw.isdigit() and len(raw) <= 6 and int(raw) < count else 0
    part = tail_or_empty(attempt, member) if attempt else LogPart("", 0, job.is_final)
    query = f"?member={member}"
    return {
        "log": part,
        "log_place": place_of(attempt, part.offset) if attempt else "0",
        "log_ended": part.ended and job.is_final,
        "member": member,
        "members": range(count),
        "log_url": reverse("job_log", args=[job.pk]) + query,
        "log_download": reverse("job_log_download", args=[job.pk]) + query if attempt else "",
    }


def _history(job: Job, attempt: Attempt | None, request: HttpRequest) -> dict[str, Any]:
    now = utc_now()
    rows = [(event, sentence(event.reason, event.facts, now)) for event in events_of(job).reverse()[:200]]
    return {
        "history": rows,
        "attempts": Attempt.objects.filter(job=job).select_related("cluster").order_by("-number"),
    }


def _files(job: Job, attempt: Attempt | None, request: HttpRequest) -> dict[str, Any]:
    return {"artifacts": artifacts_of(job)}


def _workload(job: Job, attempt: Attempt | None, request: HttpRequest) -> dict[str, Any]:
    if attempt is None:
        return {"workload": None}
    plain = asdict(workload_of(job, attempt))
    # Paths of the portal's own machine and the token's digest are nobody's business here.
    for name in ("output_dir", "checkpoint_dir", "token_sha256", "mounts"):
        plain.pop(name)
    return {"workload": plain}


def _usage(job: Job, attempt: Attempt | None, request: HttpRequest) -> dict[str, Any]:
    return {}


_TABS = {
    "overview": _overview,
    "log": _log,
    "history": _history,
    "files": _files,
    "usage": _usage,
    "workload": _workload,
}


def _tabs(current: str) -> list[Link]:
    words = {
        "overview": _("Overview"),
        "log": _("Log"),
        "history": _("History"),
        "files": _("Files"),
        "usage": _("Usage and cost"),
        "workload": _("Workload"),
    }
    current = current if current in words else "overview"
    return [Link(word, f"?tab={key}", current=key == current) for key, word in words.items()]


def _may(request: HttpRequest, job: Job) -> dict[str, bool]:
    serves = job.task_type == "inference" and not job.is_final
    return {
        "may_cancel": _may_cancel(request, job),
        "may_renew": serves and access.can(request.user, "project.change", job.project),
    }


def _may_cancel(request: HttpRequest, job: Job) -> bool:
    if job.is_final or job.state == "STOPPING":
        return False
    own = job.submitter_id == request.user.pk and access.can(request.user, "job.ask", job)
    return own or access.can(request.user, "job.change", job)


def _settled(job: Job) -> bool:
    return job.is_final and job.archived_at is not None


def _fingerprint(job: Job) -> str:
    attempt = Attempt.objects.filter(job=job).order_by("-number").values_list("members_seen", "released_at").first()
    shown = repr((job.state, job.reason, job.facts, job.archived_at, attempt))
    return sha256(shown.encode()).hexdigest()[:16]
