"""A job's log: followed by the page, or downloaded whole."""

import uuid

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET

from jobs.models import Attempt, Job
from jobs.selectors.jobs import last_attempt
from jobs.selectors.logs import read_log, whole_log
from portal.lib.errors import NotFound, Unavailable
from resources.drivers.base import DriverUnavailable
from tenants import access


@require_GET
def tail(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Plain text from ?after= on; X-Log-Offset says where to read on, X-Log-Ended that nothing more comes."""
    attempt, member = _attempt(request, key)
    try:
        part = read_log(attempt, member, _number(request.GET.get("after")))
    except DriverUnavailable as error:
        raise _away(attempt, error) from error
    response = HttpResponse(part.text, content_type="text/plain; charset=utf-8")
    response["X-Log-Offset"] = str(part.offset)
    if part.ended:
        response["X-Log-Ended"] = "1"
    return response


@require_GET
def download(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """The whole log as a file, byte for byte."""
    attempt, member = _attempt(request, key)
    try:
        data = whole_log(attempt, member)
    except DriverUnavailable as error:
        raise _away(attempt, error) from error
    response = HttpResponse(data, content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{attempt.workload_name}-{member}.log"'
    return response


def _attempt(request: HttpRequest, key: uuid.UUID) -> tuple[Attempt, int]:
    job = access.fetch(request.user, Job, key, "job.see")
    attempt = last_attempt(job)
    member = _number(request.GET.get("member"))
    if attempt is None or not 0 <= member < len(attempt.placement):
        raise NotFound(f"no log of member {member}")
    return attempt, member


def _number(raw: str | None) -> int:
    return int(raw) if raw and raw.isascii() and raw.isdigit() and len(raw) <= 15 else 0


def _away(attempt: Attempt, error: DriverUnavailable) -> Unavailable:
    message = _("Cluster {cluster} does not answer; the log is not reachable now.")
    return Unavailable("ClusterUnavailable", message, facts={"cluster": attempt.cluster.name}, detail=error.detail)
