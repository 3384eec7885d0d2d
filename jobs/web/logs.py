"""A job's log: followed by the page, or downloaded whole."""

import uuid

from django.http import HttpRequest, HttpResponse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET

from jobs.models import Attempt, Job
from jobs.selectors.jobs import last_attempt
from jobs.selectors.logs import LogPart, read_log, whole_log
from portal.lib.errors import NotFound, Unavailable
from portal.lib.signin import signed_in
from resources.drivers.base import DriverUnavailable
from tenants import access


@require_GET
@signed_in
def tail(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Plain text from ?after= on; X-Log-Offset says where to read on, X-Log-Ended that nothing more comes.

    An offset is `attempt.bytes`: the log of a requeued job goes on with its next attempt, a line between.
    """
    job = access.fetch(request.user, Job, key, "job.see")
    number, offset = _place(request.GET.get("after"))
    last = last_attempt(job)
    attempt = last if last is None or number in (0, last.number) else _attempt(job, number)
    if attempt is None:
        return _part("", "0", ended=job.is_final)
    part = _read(attempt, _member(request, attempt), offset)
    if part.ended and last is not None and attempt.number < last.number:
        following = _("Attempt {i}").format(i=attempt.number + 1)
        return _part(f"{part.text}--- {following} ---\n", f"{attempt.number + 1}.0", ended=False)
    return _part(part.text, place_of(attempt, part.offset), ended=part.ended and job.is_final)


@require_GET
@signed_in
def download(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """The whole log of the newest attempt as a file, byte for byte."""
    attempt = last_attempt(access.fetch(request.user, Job, key, "job.see"))
    if attempt is None:
        raise NotFound("no attempt yet")
    member = _member(request, attempt)
    try:
        data = whole_log(attempt, member)
    except DriverUnavailable as error:
        raise _away(attempt, error) from error
    response = HttpResponse(data, content_type="text/plain; charset=utf-8")
    response["Content-Disposition"] = f'attachment; filename="{attempt.workload_name}-{member}.log"'
    return response


def place_of(attempt: Attempt, offset: int) -> str:
    """Where a page reads on, as one word."""
    return f"{attempt.number}.{offset}"


def _place(raw: str | None) -> tuple[int, int]:
    """(attempt, bytes); what is no place is the beginning of the newest attempt."""
    number, _dot, offset = (raw or "").partition(".")
    return _number(number), _number(offset)


def _attempt(job: Job, number: int) -> Attempt:
    attempt = Attempt.objects.filter(job=job, number=number).select_related("cluster").first()
    if attempt is None:
        raise NotFound(f"no attempt {number}")
    return attempt


def _member(request: HttpRequest, attempt: Attempt) -> int:
    member = _number(request.GET.get("member"))
    if not 0 <= member < len(attempt.placement):
        raise NotFound(f"no log of member {member}")
    return member


def _read(attempt: Attempt, member: int, offset: int) -> LogPart:
    try:
        return read_log(attempt, member, offset)
    except DriverUnavailable as error:
        raise _away(attempt, error) from error


def _part(text: str, place: str, *, ended: bool) -> HttpResponse:
    response = HttpResponse(text, content_type="text/plain; charset=utf-8")
    response["X-Log-Offset"] = place
    if ended:
        response["X-Log-Ended"] = "1"
    return response


def _number(raw: str | None) -> int:
    return int(raw) if raw and raw.isascii() and raw.isdigit() and len(raw) <= 15 else 0


def _away(attempt: Attempt, error: DriverUnavailable) -> Unavailable:
    message = gettext_lazy("Cluster {cluster} does not answer; the log is not reachable now.")
    return Unavailable("ClusterUnavailable", message, facts={"cluster": attempt.cluster.name}, detail=error.detail)
