"""Lists of jobs and services."""

from datetime import datetime
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from jobs.models import Job
from jobs.selectors.jobs import group_counts, jobs_matching
from jobs.selectors.templates import submittable_projects
from jobs.sentences import sentence
from portal.lib.clock import utc_now
from portal.lib.display import Link
from portal.lib.signin import signed_in
from tenants import access

PER_PAGE = 50


@require_GET
@signed_in
def job_list(request: HttpRequest) -> HttpResponse:
    """Visible jobs, newest first, filtered by state group, text and "mine"."""
    group, text = request.GET.get("state", ""), request.GET.get("q", "").strip()[:200]
    mine = request.GET.get("mine") == "1"
    project = request.GET.get("project", "")[:63]
    rows = jobs_matching(request.user, group=group, text=text, mine=mine, project=project)
    page = Paginator(rows, PER_PAGE).get_page(request.GET.get("page"))
    now = utc_now()
    context = {
        "page": page,
        "rows": [(job, sentence(job.reason, job.facts, now)) for job in page],
        "links": _links(
            group_counts(request.user), {"state": group, "q": text, "mine": mine and "1", "project": project}
        ),
        "filtered": bool(group or text or mine or project),
        "text": text,
        "may_submit": submittable_projects(request.user).exists(),
        "now": now,
    }
    return render(request, "jobs/list.html", context)


@require_GET
@signed_in
def service_list(request: HttpRequest) -> HttpResponse:
    """Inference services: their replicas and addresses, and the projects whose token the reader may renew."""
    rows = jobs_matching(request.user, task_type="inference")
    page = Paginator(rows.prefetch_related("attempts"), PER_PAGE).get_page(request.GET.get("page"))
    now = utc_now()
    projects = access.visible_projects(request.user, "project.change").filter(archived_at__isnull=True)
    context = {"page": page, "rows": [_service(job, now) for job in page], "projects": projects[:PER_PAGE], "now": now}
    return render(request, "jobs/services.html", context)


def _service(job: Job, now: datetime) -> dict[str, object]:
    attempts = sorted(job.attempts.all(), key=lambda a: a.number)
    last = attempts[-1] if attempts else None
    members = last.members_seen if last and not last.ended else []
    ready = sum(1 for m in members if m.get("ready_at") and not m.get("finished_at"))
    return {
        "job": job,
        "sentence": sentence(job.reason, job.facts, now),
        "ready": ready,
        "wanted": len(last.placement) if last else 0,
        "addresses": last.addresses if last and not last.ended else [],
    }


def _links(counts: dict[str, int], given: dict[str, object]) -> list[Link]:
    """Chips that set or take off one filter and keep the others; counts are of all that may be seen."""
    words = {
        "waiting": _("Waiting"),
        "active": _("Active"),
        "succeeded": _("Succeeded"),
        "failed": _("Failed"),
        "cancelled": _("Cancelled"),
    }

    def url(**changes: str) -> str:
        return "?" + urlencode({name: value for name, value in (given | changes).items() if value})

    links = [Link(_("Mine"), url(mine="" if given["mine"] else "1"), current=bool(given["mine"]))]
    for name in ("project", "q"):
        if given[name]:
            links.append(Link(str(given[name]), url(**{name: ""}), current=True))
    return links + [
        Link(word, url(state="" if given["state"] == key else key), count=counts[key], current=given["state"] == key)
        for key, word in words.items()
    ]
