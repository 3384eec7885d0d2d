"""New job: one page, with a verdict that follows the form."""

import uuid
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods, require_POST

from jobs.models import Job, TemplateVersion
from jobs.selectors.templates import newest_version, not_isolated, submittable_projects, usual_project
from jobs.services.preview_job import preview_job
from jobs.services.submit_job import submit_job
from jobs.web.forms import NewJobForm
from jobs.web.verdict import card_of_error, card_of_preview
from portal.lib.clock import utc_now
from portal.lib.display import VerdictCard
from portal.lib.errors import DomainError, Invalid, NotFound
from portal.lib.signin import signed_in
from tenants import access
from tenants.models import Project, User

_KEY_LENGTH = 64
MOST_CHIPS = 8
"""Projects that are one click away; all others are in a list below."""
MOST_PROJECTS = 200


@require_http_methods(["GET", "POST"])
@signed_in
def new(request: HttpRequest, slug: str) -> HttpResponse:
    """The form; a POST submits it. What is refused comes back with 422, each refusal beside its field."""
    version = newest_version(request.user, slug)
    again = _run_again(request)
    project = _project(request, again)
    if project is None:
        return render(request, "jobs/no_project.html", {"spec": version.spec})
    if request.method == "GET":
        form = NewJobForm(version, project, now=utc_now(), job=again)
        return _page(request, version, project, form, again)
    form = NewJobForm(version, project, request.POST, now=utc_now())
    if "check" in request.POST:
        return _page(request, version, project, form, again, card=_verdict(request, version, project, form))
    try:
        job = submit_job(
            actor=_user(request),
            project=project,
            version=version,
            request=form.request(),
            now=utc_now(),
            idempotency_key=request.POST.get("key", "")[:_KEY_LENGTH],
            run_again_of=again,
        )
    except Invalid as error:
        form.show(error)
        return _page(request, version, project, form, again, card=card_of_error(error, form), status=422)
    return redirect("job_detail", key=job.pk)


@require_POST
@signed_in
def preview(request: HttpRequest, slug: str) -> HttpResponse:
    """The verdict for the form as it stands: NOW, WAIT why, NEVER which maximum, with the price per hour."""
    version = newest_version(request.user, slug)
    project = _project(request, None)
    if project is None:
        raise NotFound("no project to submit to")
    card = _verdict(request, version, project, NewJobForm(version, project, request.POST, now=utc_now()))
    return render(request, "jobs/verdict.html", {"verdict_card": card})


def _verdict(request: HttpRequest, version: TemplateVersion, project: Project, form: NewJobForm) -> VerdictCard:
    now = utc_now()
    try:
        found = preview_job(
            actor=_user(request),
            project=project,
            version=version,
            request=form.request(),
            now=now,
            offer=form.offer,
        )
    except DomainError as error:
        return card_of_error(error, form)
    return card_of_preview(found, now)


def _page(
    request: HttpRequest,
    version: TemplateVersion,
    project: Project,
    form: NewJobForm,
    again: Job | None,
    *,
    card: VerdictCard | None = None,
    status: int = 200,
) -> HttpResponse:
    projects = list(submittable_projects(request.user)[:MOST_PROJECTS])
    near = projects if len(projects) <= MOST_CHIPS else [project, *(p for p in projects if p != project)][:MOST_CHIPS]
    context = {
        "version": version,
        "spec": version.spec,
        "project": project,
        "projects": [(row, _choice(row, again)) for row in near],
        "more_projects": [row for row in projects if row not in near],
        "size": form.size,
        "params": form.params,
        "again": again,
        "not_isolated": not_isolated(project, utc_now()),
        # One key a form: a second click on the same form gives the same job.
        "key": request.POST.get("key", "")[:_KEY_LENGTH] or uuid.uuid4().hex,
        "verdict_card": card,
    }
    return render(request, "jobs/new.html", context, status=status)


def _project(request: HttpRequest, again: Job | None) -> Project | None:
    """The project named in the form or address, else that of the job to run again, else the user's usual one."""
    raw = request.POST.get("project") or request.GET.get("project")
    if raw:
        project = access.fetch(request.user, Project, raw, "project.see", related=("team",))
        access.require(request.user, "job.ask", project)
        return project
    of_job = submittable_projects(request.user).filter(pk=again.project_id).first() if again else None
    return of_job or usual_project(request.user)


def _choice(project: Project, again: Job | None) -> str:
    """The address of the same page for that project."""
    return "?" + urlencode({"project": str(project.pk)} | ({"from": str(again.pk)} if again else {}))


def _run_again(request: HttpRequest) -> Job | None:
    raw = request.GET.get("from") or request.POST.get("from")
    return access.fetch(request.user, Job, raw, "job.see") if raw else None


def _user(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user
