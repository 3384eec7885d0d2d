"""A kept file of a job, as it is."""

import uuid
from pathlib import Path

from django.http import FileResponse, HttpRequest
from django.views.decorators.http import require_GET

from jobs.models import Artifact, Job
from jobs.selectors.files import kept_file
from portal.lib.errors import NotFound
from portal.lib.signin import signed_in
from tenants import access


@require_GET
@signed_in
def download(request: HttpRequest, key: uuid.UUID, artifact: uuid.UUID) -> FileResponse:
    """The file byte for byte, never shown by the browser itself; 404 for a folder or what is no longer kept."""
    job = access.fetch(request.user, Job, key, "job.see")
    row = Artifact.objects.filter(job=job, pk=artifact, deleted_at__isnull=True).first()
    path = kept_file(row) if row is not None else None
    if row is None or path is None:
        raise NotFound(f"file {artifact}")
    name = f"{job.ref}-{row.name}{'' if '.' in row.name else Path(row.location).suffix}"
    return FileResponse(path.open("rb"), as_attachment=True, filename=name, content_type="application/octet-stream")
