"""Home: one section for each role a person holds, in the order of the navigation."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_GET

from jobs.models import Job
from jobs.selectors.cells import CellUse, cells_on_path
from jobs.selectors.held import held_by_node, leaked
from jobs.selectors.jobs import finished_since
from jobs.selectors.pulse import (
    counts_by_project,
    last_cycle,
    median_wait,
    others_jobs,
    own_counts,
    own_events,
    own_unfinished,
    waiting_now,
)
from jobs.selectors.templates import submittable_projects, templates_visible_to
from jobs.sentences import UNIT_OF_RESOURCE, lines_text, sentence
from metering.selectors.usage import Scope, count_other_lanes, use_by_project
from metering.selectors.use import Use, money_of
from metering.selectors.windows import window_of
from metering.shapes import sums_of
from portal.lib.clock import utc_now
from portal.lib.display import Link
from portal.lib.signin import signed_in
from portal.web.states import look
from resources.models import Cluster
from resources.selectors.catalogue import ClassLooks, class_looks, kind_of_resource
from resources.selectors.fleet import nodes_of_pools, pools_looked_after, pools_visible_to, stage_counts
from resources.selectors.freshness import is_stale
from resources.shapes import pool_rows
from tenants import access
from tenants.models import Project, User
from tenants.role_words import ROLE_WORDS
from tenants.roles import Role
from tenants.selectors.audit import audit_visible_to, denials_since
from tenants.selectors.people import member_counts, members_below, projects_led_by, whom_to_ask
from tenants.services.verify_audit import verify_audit

JOBS_SHOWN = 12
EVENTS_SHOWN = 8
PROJECTS_SHOWN = 20
MEMBERS_SHOWN = 20
LEAKS_SHOWN = 5
CELLS_SHOWN = 24
RECORDS_SHOWN = 8
RECORDS_CHECKED = 200
DAY = timedelta(days=1)

Build = Callable[[User, datetime], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page: who gets it, what it is called, its template and what fills that."""

    roles: frozenset[Role]
    title: str | Promise
    template: str
    build: Build


@require_GET
@signed_in
def home(request: HttpRequest) -> HttpResponse:
    """The sections of all the roles held; without a role, whom to ask."""
    user, now = request.user, utc_now()
    assert isinstance(user, User)
    roles = access.permissions_anywhere(user)
    sections = [
        {"title": section.title, "template": section.template, **section.build(user, now)}
        for section in SECTIONS
        if section.roles & roles
    ]
    if not sections:
        return render(request, "portal/home/none.html", {"ask": whom_to_ask(), "now": now})
    return render(request, "portal/home.html", {"sections": sections, "now": now})


def _platform(user: User, now: datetime) -> dict[str, Any]:
    leaks = leaked(user)
    stages = stage_counts(user)
    nodes = reverse("node_list")
    return {
        "clusters": [(cluster, is_stale(cluster.last_seen_at, now)) for cluster in Cluster.objects.all()],
        "stages": [
            Link(str(look(stage).word), f"{nodes}?stage={stage}", count, state=stage)
            for stage, count in sorted(stages.items())
        ],
        "waiting": waiting_now(user),
        "leaks": leaks[:LEAKS_SHOWN],
        "leak_count": leaks.count(),
        "cycle": last_cycle(),
    }


def _pools(user: User, now: datetime) -> dict[str, Any]:
    pools = list(pools_looked_after(user)[:PROJECTS_SHOWN])
    nodes = list(nodes_of_pools(pools))
    return {"pools": pool_rows(pools, nodes, held_by_node(nodes), class_looks(), now)}


def _audit(user: User, now: datetime) -> dict[str, Any]:
    whole = access.at_platform(user, "audit.see")
    return {
        "records": audit_visible_to(user)[:RECORDS_SHOWN],
        "denials": denials_since(user, now, DAY),
        "chain": verify_audit(last=RECORDS_CHECKED) if whole else None,
    }


def _manager(user: User, now: datetime) -> dict[str, Any]:
    window = window_of("month", now, timezone.get_current_timezone())
    projects = list(access.visible_projects(user, "usage.see").select_related("team"))
    found = use_by_project(Scope(projects=[p.pk for p in projects]), window)
    used = sorted((p for p in projects if p.pk in found), key=lambda p: -money_of(found[p.pk]).weight)
    wait, waits = median_wait(user, window.start, window.end)
    return {
        "window": window,
        "projects": _with_sums(used[:PROJECTS_SHOWN], found),
        "used": len(used),
        "total": sums_of(money_of(use for uses in found.values() for use in uses)),
        "unattributed": count_other_lanes(window),
        "wait": wait,
        "waits": waits,
        "waiting": waiting_now(user),
    }


def _lead(user: User, now: datetime) -> dict[str, Any]:
    window = window_of("month", now, timezone.get_current_timezone())
    led = projects_led_by(user)
    projects = list(led[:PROJECTS_SHOWN])
    found = use_by_project(Scope(projects=[p.pk for p in projects]), window)
    counts, people = counts_by_project(projects), member_counts(projects)
    members = members_below(user)
    return {
        "window": window,
        "projects": [
            (project, counts.get(project.pk, {}), people.get(project.pk, 0), sums)
            for project, sums in _with_sums(projects, found)
        ],
        "project_count": led.count(),
        "members": [(row, ROLE_WORDS[Role(row.role)]) for row in members[:MEMBERS_SHOWN]],
        "member_count": members.count(),
    }


def _work(user: User, now: datetime) -> dict[str, Any]:
    looks = class_looks()
    unfinished = list(own_unfinished(user)[:JOBS_SHOWN])
    ended = list(finished_since(user, now - DAY)[: max(0, JOBS_SHOWN - len(unfinished))])
    projects = list(submittable_projects(user)[:PROJECTS_SHOWN])
    pools = set(pools_visible_to(user, now).values_list("key", flat=True))
    cells = cells_on_path(projects)
    events = own_events(user, now - 7 * DAY)[:EVENTS_SHOWN]
    return {
        "links": _own_links(own_counts(user)),
        "jobs": _job_rows([*unfinished, *ended], looks, now),
        "cells": [_cell(use, looks, pools) for use in cells[:CELLS_SHOWN]],
        "cell_count": len(cells),
        "events": [(e, look(e.new or e.reason), sentence(e.reason, e.facts, now)) for e in events],
        "templates": [t for t in templates_visible_to(user)[:8] if t.newest],  # type: ignore[attr-defined]
    }


def _viewer(user: User, now: datetime) -> dict[str, Any]:
    return {"jobs": _job_rows(list(others_jobs(user)[:JOBS_SHOWN]), class_looks(), now)}


def _job_rows(jobs: Sequence[Job], looks: ClassLooks, now: datetime) -> list[tuple[Job, str, str]]:
    """Each job with what it asks for and why it is where it is."""
    return [(job, _asked(job, looks), sentence(job.reason, job.facts, now)) for job in jobs]


def _asked(job: Job, looks: ClassLooks) -> str:
    """The first way to run it, summed over its members."""
    sums: dict[tuple[str, str], int] = {}
    for pod_set in job.alternatives[0]["pod_sets"] if job.alternatives else []:
        for key, resource, amount in pod_set["lines"]:
            sums[key, resource] = sums.get((key, resource), 0) + amount * pod_set["count"]
    return lines_text([(looks[key].name, resource, amount) for (key, resource), amount in sums.items() if amount])


def _cell(use: CellUse, looks: ClassLooks, pools: set[str]) -> dict[str, Any]:
    """A quota cell as a bar; what is used beyond nominal is borrowed."""
    cell = use.cell
    look_of = looks[cell.class_key]
    return {
        "use": use,
        "label": look_of.name,
        "kind": look_of.kind or kind_of_resource(cell.resource),
        "unit": UNIT_OF_RESOURCE.get(cell.resource, "count"),
        "owner": cell.project or cell.team,
        "borrowed": max(0, use.used - cell.nominal) if cell.nominal is not None else 0,
        "url": reverse("pool_detail", args=[cell.pool_key]) if cell.pool_key in pools else "",
    }


def _own_links(counts: dict[str, int]) -> list[Link]:
    """Counts of the reader's own jobs, each leading to just those."""
    words = {"active": _("Active"), "waiting": _("Waiting"), "failed": _("Failed"), "succeeded": _("Succeeded")}
    jobs = reverse("job_list")
    return [Link(str(word), f"{jobs}?state={group}&mine=1", counts[group]) for group, word in words.items()]


def _with_sums(projects: Sequence[Project], found: dict[Any, list[Use]]) -> list[tuple[Project, Any]]:
    return [(project, sums_of(money_of(found.get(project.pk, [])))) for project in projects]


SECTIONS = (
    Section(frozenset({Role.PLATFORM_ADMIN}), _("Platform"), "portal/home/platform.html", _platform),
    Section(frozenset({Role.POOL_ADMIN}), _("My pools"), "portal/home/pools.html", _pools),
    Section(frozenset({Role.AUDITOR}), _("Audit"), "portal/home/audit.html", _audit),
    Section(frozenset({Role.MANAGER}), _("Cost and usage"), "portal/home/manager.html", _manager),
    Section(frozenset({Role.LEAD}), _("My teams"), "portal/home/lead.html", _lead),
    Section(frozenset({Role.OWNER, Role.MEMBER}), _("My work"), "portal/home/work.html", _work),
    Section(frozenset({Role.VIEWER}), _("Jobs I may follow"), "portal/home/viewer.html", _viewer),
)
