"""What can be done to a job from its page."""

import uuid

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_POST

from jobs.models import Job
from jobs.services.cancel_job import cancel_job
from portal.lib.clock import utc_now
from portal.lib.signin import signed_in
from tenants import access
from tenants.models import Project, User
from tenants.services.renew_service_token import renew_service_token


@require_POST
@signed_in
def cancel(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Cancel and go back to the job."""
    job = access.fetch(request.user, Job, key, "job.see", related=("project",))
    assert isinstance(request.user, User)
    cancel_job(actor=request.user, job=job, now=utc_now())
    messages.success(request, _("Cancel requested."))
    return redirect("job_detail", key=key)


@require_POST
@signed_in
def new_token(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Make a new service token for the project and show it this once."""
    project = access.fetch(request.user, Project, key, "project.see")
    assert isinstance(request.user, User)
    token = renew_service_token(actor=request.user, project=project, now=utc_now())
    response = render(request, "jobs/service_token.html", {"project": project, "token": token})
    response["Cache-Control"] = "no-store"
    return response
