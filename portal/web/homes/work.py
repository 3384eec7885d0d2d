"""The researcher's home: own jobs, what needs them, what changed, quota, templates to start from."""

from datetime import datetime, timedelta
from typing import Any

from django.utils.translation import gettext_lazy as _

from jobs.reasons import BY_VALUE, Side
from jobs.selectors.cells import cells_on_path
from jobs.selectors.jobs import finished_since
from jobs.selectors.pulse import own_counts, own_events, own_unfinished
from jobs.selectors.templates import submittable_projects, templates_visible_to
from jobs.sentences import sentence
from portal.lib.display import Link
from portal.web.homes.parts import job_rows, listing
from portal.web.homes.quota import cell_shape
from portal.web.states import look
from resources.selectors.catalogue import class_looks
from resources.selectors.fleet import pools_visible_to
from tenants.models import User

JOBS_SHOWN = 12
EVENTS_SHOWN = 8
NEEDS_SHOWN = 6
TEMPLATES_SHOWN = 8
PROJECTS_SHOWN = 20
CELLS_SHOWN = 24
DAY = timedelta(days=1)
UNFINISHED = {"active": _("Active"), "waiting": _("Waiting")}
ENDED = {"failed": _("Failed in 24 hours"), "succeeded": _("Succeeded in 24 hours")}


def work_home(user: User, now: datetime) -> dict[str, Any]:
    """Thirteen queries, whatever there is."""
    looks = class_looks()
    unfinished = list(own_unfinished(user)[:JOBS_SHOWN])
    ended = list(finished_since(user, now - DAY)[:JOBS_SHOWN])
    projects = list(submittable_projects(user)[:PROJECTS_SHOWN])
    pools = set(pools_visible_to(user, now).values_list("key", flat=True))
    cells = cells_on_path(projects)
    events = list(own_events(user, now - 7 * DAY)[:EVENTS_SHOWN])
    shown = [*unfinished, *ended[: max(0, JOBS_SHOWN - len(unfinished))]]
    return {
        "links": _links(own_counts(user, now - DAY), now - DAY),
        "all_jobs": listing("job_list", mine="1"),
        "jobs": job_rows(shown, looks, now),
        "needs": [
            (job, look(job.state), sentence(job.reason, job.facts, now))
            for job in (*ended, *unfinished)
            if _needs_me(job.state, job.reason)
        ][:NEEDS_SHOWN],
        "cells": [cell_shape(use, looks, pools) for use in cells[:CELLS_SHOWN]],
        "cell_count": len(cells),
        "events": [(e, look(e.new or e.reason), sentence(e.reason, e.facts, now)) for e in events],
        "templates": [t for t in templates_visible_to(user)[:TEMPLATES_SHOWN] if t.newest],  # type: ignore[attr-defined]
    }


def _needs_me(state: str, reason: str) -> bool:
    """Whether the next move is the submitter's: it failed or cannot start, and the reason is on their side."""
    known = BY_VALUE.get(reason)
    stuck = state == "FAILED" or (state == "QUEUED" and known is not None and known.kind == "never")
    return stuck and known is not None and known.side is Side.USER


def _links(counts: dict[str, int], since: datetime) -> list[Link]:
    """Counts of the reader's own jobs, unfinished now and ended since then, each leading to just those."""
    ended = {"ended_since": since.isoformat()}
    return [
        Link(str(word), listing("job_list", state=group, mine="1", **more), counts[group])
        for words, more in ((UNFINISHED, {}), (ENDED, ended))
        for group, word in words.items()
    ]
