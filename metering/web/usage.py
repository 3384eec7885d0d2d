"""Usage of a person, of projects, of one job: hours by class and phase, normalised compute, cost."""

import uuid
from typing import Any

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_GET

from jobs.models import Job
from metering.selectors.open_use import open_pieces
from metering.selectors.segments import segments_of, with_rates
from metering.selectors.usage import Scope, use_by_class, use_by_job, use_by_project
from metering.selectors.use import money_of
from metering.selectors.windows import Window, window_of
from metering.shapes import share_decimals, short_uses, sums_of, table_of, totals, use_rows
from metering.web import charts, export
from metering.web.parts import UsedJobs, day_uses, open_context, period_links, segment_rows
from portal.lib.clock import utc_now
from portal.lib.errors import NotFound
from portal.lib.pages import page_of, word
from portal.lib.signin import signed_in
from portal.lib.units import money_places
from resources.selectors.catalogue import class_looks
from tenants import access
from tenants.models import Project

PROJECTS_PER_PAGE = 20
JOBS_PER_PAGE = 50
SEGMENTS_PER_PAGE = 100


@require_GET
@signed_in
def my_usage(request: HttpRequest) -> HttpResponseBase:
    """What the reader's own jobs used; `?period=` chooses when, `?format=csv` exports it."""
    window = _window(request)
    scope = Scope(user=request.user.pk)
    if request.GET.get("format") == "csv":
        return export.jobs_csv("my-usage", scope, window)
    context = _of_jobs(request, scope, window)
    return render(request, "metering/my_usage.html", context | {"elsewhere": _elsewhere(request, context["jobs"])})


@require_GET
@signed_in
def usage_by_project(request: HttpRequest) -> HttpResponseBase:
    """Projects whose usage the reader may see, or with `?project=` the jobs of one of them."""
    window = _window(request)
    projects = access.visible_projects(request.user, "usage.see").select_related("team")
    slug = word(request, "project", 63)
    if slug:
        return _one_project(request, projects.filter(slug=slug).first(), window)
    if request.GET.get("format") == "csv":
        return export.projects_csv("usage-by-project", list(projects), window)
    return render(request, "metering/usage_by_project.html", _of_projects(request, list(projects), window))


@require_GET
@signed_in
def job_usage(request: HttpRequest, key: uuid.UUID) -> HttpResponseBase:
    """Each segment of a job with its rate and cost, and what is not in the ledger yet."""
    job = access.fetch(request.user, Job, key, "usage.see", related=("project", "submitter"))
    segments = segments_of(job.pk)
    if request.GET.get("format") == "csv":
        return export.segments_csv(f"usage-{job.ref}", segments)
    page = page_of(request, segments, size=SEGMENTS_PER_PAGE)
    looks, now = class_looks(), utc_now()
    everything = Window("all", job.submitted_at, now, job.submitted_at.date(), now.date())
    uses = use_by_class(Scope(jobs=[job.pk]), everything)
    pieces = open_pieces(Scope(jobs=[job.pk]), everything, now)
    rows = segment_rows(with_rates(list(page)), looks)
    table, total = table_of(uses, looks)
    context = {
        "job": job,
        "page": page,
        "rows": rows,
        "price_places": money_places(row.price for row in rows),
        "cost_places": money_places(row.cost for row in rows),
        "uses": table,
        "total": total,
        "now": now,
    }
    return render(request, "metering/job_usage.html", context | open_context(pieces, looks))


def _elsewhere(request: HttpRequest, own: list[Any]) -> dict[str, Any] | None:
    """For a reader without use of their own: why there is none, and whose use they may see instead."""
    if own:
        return None
    projects = access.visible_projects(request.user, "usage.see").order_by("name")
    return {
        "may_submit": access.visible_projects(request.user, "job.ask").exists(),
        "projects": projects[:PROJECTS_PER_PAGE],
    }


def _one_project(request: HttpRequest, project: Project | None, window: Window) -> HttpResponseBase:
    if project is None:
        raise NotFound("no such project, or its usage is not visible")
    scope = Scope(projects=[project.pk])
    if request.GET.get("format") == "csv":
        return export.jobs_csv(f"usage-{project.slug}", scope, window)
    context = _of_jobs(request, scope, window, project=project.slug)
    return render(request, "metering/usage_of_project.html", context | {"project": project})


def _of_jobs(request: HttpRequest, scope: Scope, window: Window, **query: str) -> dict[str, Any]:
    """Sums by class and day, then job by job."""
    now, looks = utc_now(), class_looks()
    uses = use_by_class(scope, window)
    page = page_of(request, UsedJobs(scope, window), size=JOBS_PER_PAGE)
    by_job = use_by_job(Scope(scope.user, scope.projects, [job.job_id for job in page]), window)
    visible = access.visible(request.user, Job, "usage.see").filter(pk__in=by_job).values_list("pk", flat=True)
    linked = set(visible)
    days = day_uses(scope, window, now)
    jobs = [
        (job, job.job_id in linked, short_uses(by_job[job.job_id], looks), sums_of(money_of(by_job[job.job_id])))
        for job in page
    ]
    share_decimals(sums for _job, _linked, _used, sums in jobs)
    table, total = table_of(uses, looks)
    return {
        "window": window,
        "links": period_links(window.key, **query),
        "csv": f"?{export.query(period=window.key, format='csv', **query)}",
        "uses": table,
        "total": total,
        "charts": charts.class_charts(days, looks) if uses else [],
        "page": page,
        "jobs": jobs,
        "now": now,
        **open_context(open_pieces(scope, window, now), looks),
    }


def _of_projects(request: HttpRequest, projects: list[Project], window: Window) -> dict[str, Any]:
    """Sums by project and class, with one stack over all of them."""
    now, looks = utc_now(), class_looks()
    scope = Scope(projects=[project.pk for project in projects])
    found = use_by_project(scope, window)
    used = [project for project in projects if project.pk in found]
    page = page_of(request, used, size=PROJECTS_PER_PAGE)
    days = day_uses(scope, window, now)
    names, table = charts.stack_table(days, looks)
    rows = [(p, use_rows(found[p.pk], looks), sums_of(money_of(found[p.pk]))) for p in page]
    total = totals(found)
    share_decimals([total, *(s for _p, uses, whole in rows for s in (whole, *(use.sums for use in uses)))])
    return {
        "window": window,
        "links": period_links(window.key),
        "csv": f"?{export.query(period=window.key, format='csv')}",
        "page": page,
        "rows": rows,
        "projects": len(projects),
        "used": len(used),
        "total": total,
        "figure": charts.stack(days, looks) if names else None,
        "unweighted": charts.unweighted(days, looks),
        "day_names": names,
        "day_rows": table,
        "now": now,
        **open_context(open_pieces(scope, window, now), looks),
    }


def _window(request: HttpRequest) -> Window:
    return window_of(word(request, "period", 20) or "month", utc_now(), timezone.get_current_timezone())
