"""Kept files as answers, the same for pages and API."""

import uuid
from pathlib import Path

from django.http import FileResponse, StreamingHttpResponse
from django.utils.http import content_disposition_header

from jobs.models import Artifact, Job
from jobs.selectors.files import kept_file, kept_folder, tar_stream
from portal.lib.errors import NotFound

BYTES = "application/octet-stream"


def download_of(job: Job, artifact: uuid.UUID) -> FileResponse | StreamingHttpResponse:
    """A file byte for byte, a folder as tar. Raises NotFound for what is not kept, Conflict for too large a folder."""
    row = Artifact.objects.filter(job=job, pk=artifact, deleted_at__isnull=True).first()
    if row is None:
        raise NotFound(f"file {artifact}")
    path = kept_file(row)
    if path is not None:
        name = f"{job.ref}-{row.name}{'' if '.' in row.name else Path(row.location).suffix}"
        return FileResponse(path.open("rb"), as_attachment=True, filename=name, content_type=BYTES)
    folder = kept_folder(row)
    if folder is None:
        raise NotFound(f"file {artifact}")
    response = StreamingHttpResponse(tar_stream(row, folder), content_type=BYTES)
    response["Content-Disposition"] = content_disposition_header(True, f"{job.ref}-{row.name}.tar")
    return response
