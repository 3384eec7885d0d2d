"""The viewer's home: jobs one may follow, and what their projects used this month."""

from datetime import datetime
from typing import Any

from django.utils import timezone

from jobs.selectors.pulse import others_jobs
from metering.selectors.usage import Scope, use_by_project
from metering.selectors.use import money_of
from metering.selectors.windows import window_of
from metering.shapes import sums_of
from portal.web.homes.parts import job_rows
from portal.web.stages import Stage, is_on
from resources.selectors.catalogue import class_looks
from tenants import access
from tenants.models import User

JOBS_SHOWN = 12
PROJECTS_SHOWN = 12


def viewer_home(user: User, now: datetime) -> dict[str, Any]:
    """Seven queries."""
    window = window_of("month", now, timezone.get_current_timezone())
    projects = list(access.visible_projects(user, "usage.see").select_related("team")[:PROJECTS_SHOWN])
    found = use_by_project(Scope(projects=[p.pk for p in projects]), window) if is_on(Stage.SHARE) else {}
    return {
        "window": window,
        "jobs": job_rows(list(others_jobs(user)[:JOBS_SHOWN]), class_looks(), now),
        "usage": [(p, sums_of(money_of(found.get(p.pk, [])))) for p in projects] if is_on(Stage.SHARE) else None,
    }
