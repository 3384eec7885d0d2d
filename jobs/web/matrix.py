"""The validation matrix: what runs have shown, and what none has."""

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponseBase
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET

from jobs.matrix import Cell, Place, Run
from jobs.reason_words import reason_word
from jobs.selectors.jobs import jobs_visible_to
from jobs.selectors.matrix import CPU, Row, matrix
from portal.lib.clock import utc_now
from portal.lib.csv_file import csv_response
from portal.lib.display import Link
from portal.lib.localised import listed
from portal.lib.pages import page_of, word
from portal.lib.signin import signed_in
from resources.task_types import TASK_WORDS

PER_PAGE = 25
FACTS = {
    "driver": gettext_lazy("driver"),
    "container": gettext_lazy("container runtime"),
    "runtime": gettext_lazy("runtime"),
    "place": gettext_lazy("driver and container runtime together"),
}
_STATE_WORDS = {
    "verified": gettext_lazy("Verified"),
    "failed": gettext_lazy("Failed"),
    "simulated": gettext_lazy("Simulated"),
    "not_verified": gettext_lazy("Not verified"),
}
_CSV = (
    "class_key", "runtime", "task_type", "state", "job_id", "ended_at", "driver_version", "container_runtime",
    "runtime_version", "reason", "changed_since", "not_shown_on",
)  # fmt: skip


@require_GET
@signed_in
def validation_matrix(request: HttpRequest) -> HttpResponseBase:
    """A row for each class and runtime, a column for each task type; `?class=`, `?runtime=`, `?state=` narrow it."""
    given = {name: word(request, name, 63) for name in ("class", "runtime", "state")}
    rows = matrix(class_key=given["class"], runtime=given["runtime"], state=given["state"])
    if request.GET.get("format") == "csv":
        return csv_response("validation", _CSV, _csv_rows(rows))
    page = page_of(request, rows, size=PER_PAGE)
    context = {
        "page": page,
        "rows": [(row, [(task, cell, _said(cell, row.class_key)) for task, cell in row.cells]) for row in page],
        "tasks": list(TASK_WORDS.values()),
        "jobs_seen": _seen(request, list(page)),
        "links": list(_links(given)),
        "filtered": any(given.values()),
        "csv": f"?{urlencode({name: value for name, value in given.items() if value} | {'format': 'csv'})}",
        "now": utc_now(),
    }
    return render(request, "jobs/matrix.html", context)


def changed_text(cell: Cell) -> str:
    """What changed since the run that once proved it; "" where nothing did."""
    unseen, unwritten = _("not observed"), _("not written down")
    return "; ".join(
        f"{FACTS[one.fact]}: {unwritten if one.was is None else one.was or unseen}"
        + (f" → {', '.join(now or unseen for now in one.now)}" if one.now else "")
        for one in cell.changed
    )


def place_text(place: Place, class_key: str) -> str:
    """What a node of the class has, in a few words; without devices there is no driver."""
    unseen = _("not observed")
    container = _("container runtime {container}").format(container=place.container or unseen)
    driver = _("driver {driver}").format(driver=place.driver or unseen)
    return container if class_key == CPU else listed([driver, container])


def _said(cell: Cell, class_key: str) -> dict[str, str]:
    run = cell.run
    return {
        "ref": f"j-{run.job.hex[:8]}" if run else "",
        "job": str(run.job) if run else "",
        "place": place_text(run.place, class_key) if run else "",
        "reason": reason_word(run.reason) if run and not run.passed else "",
        "changed": changed_text(cell),
        "unproved": "; ".join(place_text(place, class_key) for place in cell.unproved),
    }


def _seen(request: HttpRequest, rows: list[Row]) -> set[str]:
    runs: list[Run] = [cell.run for row in rows for _task, cell in row.cells if cell.run]
    jobs = jobs_visible_to(request.user).filter(pk__in={run.job for run in runs})
    return {str(pk) for pk in jobs.order_by().values_list("pk", flat=True)}


def _links(given: dict[str, str]) -> Iterator[Link]:
    for state, text in _STATE_WORDS.items():
        on = given["state"] == state
        yield Link(str(text), _address(given | {"state": "" if on else state}), current=on, state=state)
    for name in ("class", "runtime"):
        if given[name]:
            yield Link(given[name], _address(given | {name: ""}), current=True)


def _address(given: dict[str, str]) -> str:
    return f"?{urlencode({name: value for name, value in given.items() if value})}"


def _csv_rows(rows: list[Row]) -> Iterator[list[Any]]:
    for row in rows:
        for task, cell in row.cells:
            run = cell.run
            found = [run.job, run.at, run.place.driver, run.place.container, run.runtime_as, run.reason] if run else []
            said = [changed_text(cell), "; ".join(place_text(place, row.class_key) for place in cell.unproved)]
            yield [row.class_key, row.runtime, task, cell.state, *(found or [None] * 6), *said]
