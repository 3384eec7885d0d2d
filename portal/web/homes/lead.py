"""The lead's home: quota and what is used of it, what waits and why, people, this month's use."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _

from jobs.selectors.cells import cells_on_path
from jobs.selectors.jobs import JobFilter, group_counts
from jobs.selectors.pulse import counts_by_project
from jobs.selectors.standing import waiting_of
from metering.selectors.usage import Scope, use_by_project
from metering.selectors.use import Use, money_of
from metering.selectors.windows import window_of
from metering.shapes import sums_of
from portal.lib import units
from portal.web.homes.parts import Tile, job_rows, listing
from portal.web.homes.quota import cell_shape
from resources.selectors.catalogue import class_looks
from resources.selectors.fleet import pools_visible_to
from tenants.models import Project, User
from tenants.role_words import ROLE_WORDS
from tenants.roles import Role
from tenants.selectors.people import member_counts, members_below, projects_led_by

PROJECTS_SHOWN = 20
MEMBERS_SHOWN = 8
CELLS_SHOWN = 12
JOBS_SHOWN = 8


def lead_home(user: User, now: datetime) -> dict[str, Any]:
    """Fourteen queries, whatever there is."""
    window = window_of("month", now, timezone.get_current_timezone())
    led = projects_led_by(user)
    projects, looks = list(led[:PROJECTS_SHOWN]), class_looks()
    found = use_by_project(Scope(projects=[p.pk for p in projects]), window)
    counts, people = counts_by_project(projects), member_counts(projects)
    all_projects, groups = led.count(), group_counts(user, JobFilter(led=True))
    members, waiting = members_below(user), waiting_of(user, projects)
    cells = cells_on_path(projects)
    pools = set(pools_visible_to(user, now).values_list("key", flat=True))
    return {
        "window": window,
        "tiles": _tiles(groups, members.count(), all_projects),
        "projects": [
            (project, counts.get(project.pk, {}), people.get(project.pk, 0), sums)
            for project, sums in with_sums(projects, found)
        ],
        "project_count": all_projects,
        "total": sums_of(money_of(use for uses in found.values() for use in uses)),
        "cells": [cell_shape(use, looks, pools) for use in cells[:CELLS_SHOWN]],
        "cell_count": len(cells),
        "waiting": job_rows(list(waiting[:JOBS_SHOWN]), looks, now),
        "members": [(row, ROLE_WORDS[Role(row.role)]) for row in members[:MEMBERS_SHOWN]],
        "member_count": members.count(),
    }


def with_sums(projects: Sequence[Project], found: dict[Any, list[Use]]) -> list[tuple[Project, Any]]:
    """Each project with what it used, as it is shown."""
    return [(project, sums_of(money_of(found.get(project.pk, [])))) for project in projects]


def _tiles(groups: dict[str, int], members: int, projects: int) -> list[Tile]:
    return [
        Tile(_("Jobs active"), units.number(groups["active"]), listing("job_list", state="active", led="1")),
        Tile(_("Jobs waiting"), units.number(groups["waiting"]), listing("job_list", state="waiting", led="1")),
        Tile(_("Roles held"), units.number(members), "#members"),
        Tile(_("Projects"), units.number(projects), listing("project_list", led="1")),
        Tile(
            _("Idle while held"),
            _("not measured"),
            note=_("How busy a held device is, is not read yet."),
        ),
    ]
