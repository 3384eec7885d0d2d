"""A kept file of a job, as it is; a kept folder as a tar file."""

import uuid

from django.http import FileResponse, HttpRequest, StreamingHttpResponse
from django.views.decorators.http import require_GET

from jobs.downloads import download_of
from jobs.models import Job
from portal.lib.signin import signed_in
from tenants import access


@require_GET
@signed_in
def download(request: HttpRequest, key: uuid.UUID, artifact: uuid.UUID) -> FileResponse | StreamingHttpResponse:
    """The bytes, never shown by the browser itself; 404 for what is no longer kept, 409 for a folder too large."""
    return download_of(access.fetch(request.user, Job, key, "job.see"), artifact)
