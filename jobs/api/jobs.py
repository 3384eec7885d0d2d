"""Jobs: listed, submitted, previewed, read, cancelled."""

import re
import uuid
from datetime import datetime
from typing import Any, Final

from django.urls import reverse
from django.utils.translation import gettext_lazy as _
from drf_spectacular.utils import OpenApiParameter
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.api.pieces import parts_of, verdict_of
from jobs.api.shapes import JobColumns, JobDetail, JobPage, JobParts, JobRow, JobsQuery, NewJob, VerdictShown
from jobs.models import Job, TemplateVersion
from jobs.request import JobRequest
from jobs.selectors.jobs import JobFilter, jobs_matching
from jobs.selectors.templates import newest_version
from jobs.sentences import sentence
from jobs.services.cancel_job import cancel_job
from jobs.services.preview_job import preview_job
from jobs.services.submit_job import submit_job
from portal.lib.clock import utc_now
from portal.lib.errors import DomainError, Invalid
from portal.lib.rest.view import ApiView, answer, answer_page, endpoint
from tenants import access
from tenants.models import Project

_RELATED = ("project", "submitter", "template_version__template")
_KEY: Final = re.compile(r"[\x21-\x7e]{1,128}", re.ASCII)
_KEY_HEADER = OpenApiParameter(
    "Idempotency-Key",
    {"type": "string", "pattern": r"^[\x21-\x7e]{1,128}$"},
    OpenApiParameter.HEADER,
    description="The same key with the same body gives the same job again, with another body a refusal.",
)


class Jobs(ApiView):
    """Jobs the reader sees."""

    @endpoint("list_jobs", "Jobs you see", query=JobsQuery, gives={200: JobPage})
    def get(self, request: Request, given: dict[str, Any]) -> Response:
        """Newest first."""
        wanted = JobFilter(
            group=given.get("group", ""),
            state=given.get("state", ""),
            text=given.get("q", ""),
            mine=given.get("mine", False),
            task_type=given.get("type", ""),
            template=given.get("template", ""),
            team=given.get("team", ""),
            submitter=given.get("submitter", ""),
            pool=given.get("pool", ""),
            cluster=given.get("cluster", ""),
            reason=given.get("reason", ""),
            uses=str(given.get("uses", "")),
            since=given.get("since"),
            until=given.get("until"),
            led=given.get("led", False),
            never=given.get("never", False),
            ended_since=given.get("ended_since"),
        )
        rows = jobs_matching(self.actor, wanted)
        if "project" in given:
            rows = rows.filter(project=given["project"])
        return answer_page(JobPage, rows, ("-submitted_at", "-id"), given, now=utc_now())

    @endpoint(
        "submit_job",
        "Submit a job",
        body=NewJob,
        headers=[_KEY_HEADER],
        gives={201: JobRow, 200: JobRow},
        refuses=(404, 409),
    )
    def post(self, request: Request, given: dict[str, Any]) -> Response:
        """201 for a new job, 200 for the one that the same Idempotency-Key made before.

        What can never start is not queued: 422 with the reason and its numbers.
        """
        now = utc_now()
        job = _submit(self.actor, given, _idempotency_key(request), now)
        # Only a job made by this very call holds this very moment.
        response = answer(JobRow, job, status=201 if job.submitted_at is now else 200, now=now)
        response["Location"] = reverse("api_job", args=[job.pk])
        return response


class JobPreview(ApiView):
    """A job that is not submitted."""

    @endpoint("preview_job", "Would it start?", body=NewJob, gives={200: VerdictShown}, refuses=(404,))
    def post(self, request: Request, given: dict[str, Any]) -> Response:
        """NOW, WAIT (why, until when) or NEVER (which maximum), by the code that decides. Nothing is stored."""
        now = utc_now()
        project, version, wanted = _wanted(self.actor, given)
        found = preview_job(actor=self.actor, project=project, version=version, request=wanted, now=now)
        return answer(VerdictShown, verdict_of(found, now))


class OneJob(ApiView):
    """A job."""

    @endpoint("read_job", "A job", gives={200: JobDetail}, refuses=(404,))
    def get(self, request: Request, given: dict[str, Any], key: uuid.UUID) -> Response:
        """State, reason, rail, attempts, proof of release and usage so far."""
        job = access.fetch(self.actor, Job, key, "job.see", related=_RELATED)
        now = utc_now()
        context = {"now": now}
        parts = JobParts(parts_of(job, now), context=context)
        return Response({**JobColumns(job, context=context).data, **parts.data})


class JobCancel(ApiView):
    """The end of a job by hand."""

    @endpoint("cancel_job", "Cancel a job", gives={200: JobRow}, refuses=(404, 409))
    def post(self, request: Request, given: dict[str, Any], key: uuid.UUID) -> Response:
        """Cancelled at once when nothing can be on a cluster, else stopping. Again changes nothing."""
        job = access.fetch(self.actor, Job, key, "job.see", related=_RELATED)
        now = utc_now()
        return answer(JobRow, cancel_job(actor=self.actor, job=job, now=now), now=now)


def _wanted(actor: Any, given: dict[str, Any]) -> tuple[Project, TemplateVersion, JobRequest]:
    """Project, template and the raw request. Raises NotFound for what the reader does not see."""
    version = newest_version(actor, given["template"])
    project = access.fetch(actor, Project, given["project"], "project.see", related=("team",))
    names = JobRequest.__slots__
    return project, version, JobRequest(**{name: value for name, value in given.items() if name in names})


def _submit(actor: Any, given: dict[str, Any], key: str, now: datetime) -> Job:
    project, version, wanted = _wanted(actor, given)
    again = access.fetch(actor, Job, given["run_again_of"], "job.see") if "run_again_of" in given else None
    try:
        return submit_job(
            actor=actor,
            project=project,
            version=version,
            request=wanted,
            now=now,
            idempotency_key=key,
            run_again_of=again,
        )
    except Invalid as error:
        raise _in_words(error, now) from error


def _idempotency_key(request: Request) -> str:
    key = request.headers.get("Idempotency-Key", "")
    if key and not _KEY.fullmatch(key):
        message = _("An Idempotency-Key has 1 to {most} visible ASCII characters, without spaces.")
        raise DomainError("BadIdempotencyKey", message, facts={"most": 128})
    return str(key)


def _in_words(error: Invalid, now: datetime) -> Invalid:
    """A NEVER with its numbers in people's units; the sentence is complete, so its braces are only braces."""
    if error.facts.get("verdict") != "never":
        return error
    say = sentence(error.reason, error.facts, now).replace("{", "{{").replace("}", "}}")
    return Invalid(error.reason, say, facts=error.facts)
