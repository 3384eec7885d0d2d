"""Lists of jobs and services."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from django.db.models import OuterRef, QuerySet, Subquery
from django.http import HttpRequest, HttpResponse, HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import pgettext
from django.views.decorators.http import require_GET

from jobs.models import Attempt, Job
from jobs.selectors.jobs import group_counts, jobs_matching, options_for
from jobs.selectors.services import ended_services, running_services, service_of
from jobs.selectors.templates import submittable_projects
from jobs.sentences import sentence
from jobs.web.filters import JobFilterForm, chips
from portal.lib.clock import utc_now
from portal.lib.csv_file import csv_response
from portal.lib.display import Link
from portal.lib.pages import page_of
from portal.lib.signin import signed_in
from tenants import access

PER_PAGE = 50
_CSV = (
    "job_id", "name", "state", "reason", "task_type", "template", "template_version", "team", "project", "submitter",
    "priority_class", "pool", "cluster", "submitted_at", "eligible_at", "started_at", "finished_at", "archived_at",
)  # fmt: skip


@require_GET
@signed_in
def job_list(request: HttpRequest) -> HttpResponseBase:
    """Visible jobs, newest first; every filter is in the address, `?format=csv` exports what it leaves."""
    form = JobFilterForm(request.GET)
    if not form.is_valid():
        form.offer(options_for(request.user))
        return render(request, "jobs/list.html", {"form": form, "filtered": True}, status=422)
    rows = jobs_matching(request.user, form.wanted())
    if request.GET.get("format") == "csv":
        return csv_response("jobs", _CSV, _csv_rows(rows))
    return render(request, "jobs/list.html", _listed(request, form, rows))


def _listed(request: HttpRequest, form: JobFilterForm, rows: QuerySet[Job]) -> dict[str, Any]:
    form.offer(options_for(request.user))
    page = page_of(request, rows, size=PER_PAGE)
    now = utc_now()
    return {
        "form": form,
        "page": page,
        "rows": [(job, sentence(job.reason, job.facts, now)) for job in page],
        "links": chips(form, group_counts(request.user, form.wanted())),
        "csv": f"?{urlencode(form.given() | {'format': 'csv'})}",
        "filtered": form.wanted().is_set,
        "may_submit": submittable_projects(request.user).exists(),
        "now": now,
    }


def _csv_rows(rows: QuerySet[Job]) -> Iterator[list[Any]]:
    last = Attempt.objects.filter(job=OuterRef("pk")).order_by("-number")
    found = rows.select_related("project__team").annotate(
        last_pool=Subquery(last.values("pool_key")[:1]),
        last_cluster=Subquery(last.values("cluster__key")[:1]),
        last_start=Subquery(last.values("started_at")[:1]),
    )
    for job in found.select_related("submitter", "template_version__template").iterator(chunk_size=500):
        version = job.template_version
        yield [
            job.pk, job.name, job.state, job.reason, job.task_type, version.template.slug, version.number,
            job.project.team.name, job.project.name, str(job.submitter), job.priority_class, job.last_pool,
            job.last_cluster, job.submitted_at, job.eligible_at, job.last_start, job.finished_at, job.archived_at,
        ]  # fmt: skip


@require_GET
@signed_in
def service_list(request: HttpRequest) -> HttpResponse:
    """Services that serve or wait, `?ended=1`: those that ended; and the projects whose token one may renew."""
    ended = request.GET.get("ended") == "1"
    running, gone = running_services(request.user), ended_services(request.user)
    page = page_of(request, gone if ended else running, size=PER_PAGE)
    now = utc_now()
    projects = access.visible_projects(request.user, "project.change").filter(archived_at__isnull=True)
    context = {
        "page": page,
        "rows": [service_of(job, now) for job in page],
        "links": _service_links(running.count(), gone.count(), ended=ended),
        "ended": ended,
        "projects": projects[:PER_PAGE],
        "now": now,
    }
    return render(request, "jobs/services.html", context)


def _service_links(running: int, gone: int, *, ended: bool) -> list[Link]:
    return [
        Link(_("Serving or waiting"), "?", count=running, current=not ended),
        Link(pgettext("services", "Ended"), "?ended=1", count=gone, current=ended),
    ]
