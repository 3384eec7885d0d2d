"""What each tab of the job page shows; see `detail` for the page around them."""

from collections.abc import Callable
from dataclasses import asdict
from typing import Any

from django.http import HttpRequest
from django.urls import reverse
from django.utils.translation import gettext as _

from jobs.models import Artifact, Attempt, Job
from jobs.selectors.cluster_words import cluster_words
from jobs.selectors.evidence import left_notes, log_notes, time_notes
from jobs.selectors.jobs import artifacts_of, events_of, last_attempt
from jobs.selectors.lineage import used_by
from jobs.selectors.logs import LogPart, tail_or_empty
from jobs.selectors.templates import params_of
from jobs.selectors.workload import workload_of
from jobs.sentences import sentence
from jobs.web.logs import place_of
from portal.lib.clock import utc_now
from portal.lib.display import Link
from portal.lib.pages import page_of
from tenants import access
from tenants.audit_words import changes
from tenants.selectors.audit import records_of

FILES_SHOWN = 20
EVENTS_PER_PAGE = 100
DECISIONS_SHOWN = 100
RECORDS_SHOWN = 100
_DECIDES = ("state", "reason", "attempt")
Context = dict[str, Any]


def name_of(request: HttpRequest) -> str:
    """The tab asked for; an unknown one is the overview."""
    tab = request.GET.get("tab", "")
    return tab if tab in _TABS else "overview"


def context_of(tab: str, request: HttpRequest, job: Job) -> Context:
    """What the tab's template needs."""
    attempt = last_attempt(job)
    template = f"jobs/tab_{tab}.html"
    return {"tab": tab, "tab_template": template, "job": job, "attempt": attempt, **_TABS[tab](job, attempt, request)}


def aside_of(request: HttpRequest, job: Job, attempt: Attempt | None) -> Context:
    """What stands beside the log on the overview, and moves as the job does."""
    artifacts = list(artifacts_of(job)[:FILES_SHOWN])
    return {
        "pod_sets": job.alternatives[0]["pod_sets"] if job.alternatives else [],
        "params": params_of(job),
        "files": _with_users(request, artifacts),
        "words": cluster_words(attempt),
    }


def links(current: str) -> list[Link]:
    """The tabs in order."""
    words = {
        "overview": _("Overview"),
        "log": _("Log"),
        "history": _("Scheduling history"),
        "events": _("Events"),
        "files": _("Files"),
        "metrics": _("Metrics"),
        "usage": _("Usage and cost"),
        "manifest": _("Manifest"),
        "audit": _("Audit"),
    }
    return [Link(word, f"?tab={key}", current=key == current) for key, word in words.items()]


def _overview(job: Job, attempt: Attempt | None, request: HttpRequest) -> Context:
    return {**aside_of(request, job, attempt), **_log(job, attempt, request)}


def _log(job: Job, attempt: Attempt | None, request: HttpRequest) -> Context:
    count = len(attempt.placement) if attempt else sum(pods["count"] for pods in job.alternatives[0]["pod_sets"])
    raw = request.GET.get("member", "0")
    member = int(raw) if raw.isascii() and raw.isdigit() and len(raw) <= 6 and int(raw) < count else 0
    part = tail_or_empty(attempt, member) if attempt else LogPart("", 0, job.is_final)
    query = f"?member={member}"
    return {
        "log": part,
        "log_notes": log_notes(attempt),
        "log_place": place_of(attempt, part.offset) if attempt else "0",
        "log_ended": part.ended and job.is_final,
        "member": member,
        "members": range(count),
        "log_url": reverse("job_log", args=[job.pk]) + query,
        "log_download": reverse("job_log_download", args=[job.pk]) + query if attempt else "",
    }


def _history(job: Job, attempt: Attempt | None, request: HttpRequest) -> Context:
    """Decisions and what they were based on, newest first; the place in the queue where it was one."""
    now = utc_now()
    rows = events_of(job).filter(kind__in=_DECIDES).reverse()[:DECISIONS_SHOWN]
    attempts = list(Attempt.objects.filter(job=job).select_related("cluster").order_by("-number"))
    return {
        "history": [(event, sentence(event.reason, event.facts, now)) for event in rows],
        "attempts": attempts,
        "time_notes": [note for row in attempts for note in time_notes(row)],
    }


def _events(job: Job, attempt: Attempt | None, request: HttpRequest) -> Context:
    now = utc_now()
    page = page_of(request, events_of(job).reverse(), size=EVENTS_PER_PAGE)
    return {"page": page, "history": [(event, sentence(event.reason, event.facts, now)) for event in page]}


def _files(job: Job, attempt: Attempt | None, request: HttpRequest) -> Context:
    return {"files": _with_users(request, list(artifacts_of(job))), "left": left_notes(job)}


def _manifest(job: Job, attempt: Attempt | None, request: HttpRequest) -> Context:
    if attempt is None:
        return {"workload": None}
    plain = asdict(workload_of(job, attempt))
    # Paths of the portal's own machine and the token's digest are nobody's business here.
    for name in ("output_dir", "checkpoint_dir", "token_sha256", "mounts"):
        plain.pop(name)
    return {"workload": plain}


def _audit(job: Job, attempt: Attempt | None, request: HttpRequest) -> Context:
    """Whoever sees the job sees what was done to it; refusals are for those who may read the audit."""
    may_audit = access.can(request.user, "audit.see", job)
    rows = records_of(job) if may_audit else records_of(job).filter(result="done")
    records = [(event, changes(event.before, event.after)) for event in rows[:RECORDS_SHOWN]]
    return {"records": records, "may_audit": may_audit}


def _plain(job: Job, attempt: Attempt | None, request: HttpRequest) -> Context:
    """The part that moves shows all of it."""
    return {}


def _with_users(request: HttpRequest, artifacts: list[Artifact]) -> list[tuple[Artifact, list[Job]]]:
    users = used_by(request.user, artifacts)
    return [(row, users.get(row.pk, [])) for row in artifacts]


_TABS: dict[str, Callable[[Job, Attempt | None, HttpRequest], Context]] = {
    "overview": _overview,
    "log": _log,
    "history": _history,
    "events": _events,
    "files": _files,
    "metrics": _plain,
    "usage": _plain,
    "manifest": _manifest,
    "audit": _audit,
}
