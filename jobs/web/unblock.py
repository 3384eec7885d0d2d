"""What would let a waiting job start, and the buttons that do it."""

import uuid

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_http_methods

from jobs.job_access import may_change
from jobs.models import Job
from jobs.selectors.unblocking import offers_for
from jobs.sentences import sentence
from jobs.services.unblock_job import unblock_job
from portal.lib.clock import utc_now
from portal.lib.signin import signed_in
from tenants import access
from tenants.models import Request, User


@require_http_methods(["GET", "POST"])
@signed_in
def unblock(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """The offers of one waiting job; a POST makes the one that is named `change`."""
    job = access.fetch(request.user, Job, key, "job.see", related=("project__team",))
    now = utc_now()
    if request.method == "POST":
        assert isinstance(request.user, User)
        made = unblock_job(actor=request.user, job=job, change=request.POST.get("change", ""), now=now)
        done = _("A draft of a request for more quota is kept.") if isinstance(made, Request) else _("Changed.")
        messages.success(request, done)
        return redirect("job_detail", key=key)
    context = {
        "job": job,
        "say": sentence(job.reason, job.facts, now),
        "offers": offers_for(job, now),
        "may_act": may_change(request.user, job),
        "waits": job.state == "QUEUED",
    }
    return render(request, "jobs/unblock.html", context)
