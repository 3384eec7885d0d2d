"""What jobs left: data sets, checkpoints, models and results, where they come from and who used them."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_GET

from jobs.models import Artifact
from jobs.outputs import KINDS
from jobs.selectors.artifacts import LOG, ArtifactFilter, artifacts_matching, kind_counts, projects_with_artifacts
from jobs.selectors.lineage import used_by
from jobs.web.tags import KINDS as KIND_WORDS
from portal.lib.clock import utc_now
from portal.lib.csv_file import csv_response
from portal.lib.display import Link
from portal.lib.pages import page_of, word
from portal.lib.signin import signed_in

PER_PAGE = 50
_CSV = (
    "artifact_id", "name", "kind", "project", "job_id", "job", "bytes", "sha256", "created_at", "keep_until",
)  # fmt: skip


@require_GET
@signed_in
def artifact_list(request: HttpRequest) -> HttpResponseBase:
    """Newest first; `?kind=`, `?project=` and `?q=` narrow it, `?format=csv` exports what they leave."""
    wanted = ArtifactFilter(word(request, "kind", 20), word(request, "project", 63), word(request, "q"))
    rows = artifacts_matching(request.user, wanted)
    if request.GET.get("format") == "csv":
        return csv_response("artifacts", _CSV, _csv_rows(rows))
    page = page_of(request, rows, size=PER_PAGE)
    users = used_by(request.user, page)
    given = {"kind": wanted.kind, "project": wanted.project, "q": wanted.text}
    context = {
        "page": page,
        "rows": [(row, users.get(row.pk, [])) for row in page],
        "links": list(_links(request, wanted, given)),
        "csv": f"?{urlencode({k: v for k, v in given.items() if v} | {'format': 'csv'})}",
        "wanted": wanted,
        "now": utc_now(),
    }
    return render(request, "jobs/artifacts.html", context)


def _links(request: HttpRequest, wanted: ArtifactFilter, given: dict[str, str]) -> Iterator[Link]:
    counts = kind_counts(request.user, wanted)

    def link(label: str, name: str, value: str, count: int | None = None) -> Link:
        current = given[name] == value
        query = given | {name: "" if current else value}
        return Link(label, "?" + urlencode({k: v for k, v in query.items() if v}), count=count, current=current)

    for kind in (*KINDS, LOG):
        yield link(str(KIND_WORDS[kind]), "kind", kind, counts[kind])
    for _key, slug, name in projects_with_artifacts(request.user):
        yield link(name, "project", slug)
    if wanted.text:
        yield link(wanted.text, "q", wanted.text)


def _csv_rows(rows: QuerySet[Artifact]) -> Iterator[list[Any]]:
    for row in rows.iterator(chunk_size=500):
        yield [
            row.pk, row.name, row.kind, row.project.name, row.job_id, row.job.name, row.bytes, row.sha256,
            row.created_at, row.keep_until,
        ]  # fmt: skip
