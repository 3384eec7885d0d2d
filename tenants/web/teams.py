"""Teams and projects, read."""

from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext_lazy
from django.views.decorators.http import require_GET

from portal.lib.clock import utc_now
from portal.lib.display import Link
from portal.lib.pages import page_of, word
from portal.lib.signin import signed_in
from tenants import access
from tenants.models import Team
from tenants.selectors.teams import (
    member_counts_of_teams,
    project_by_slug,
    projects_matching,
    projects_outside,
    team_by_slug,
    team_tree,
    teams_led_by,
)
from tenants.web.parts import (
    ENVIRONMENT_WORDS,
    HELD_WORDS,
    Powers,
    Scope,
    actor_of,
    last_changes,
    member_rows,
    names_above,
    rules_context,
)

PROJECTS_SHOWN = 50
PROJECT_FLAGS = {"archived": gettext_lazy("Archived"), "led": gettext_lazy("Of teams I lead")}


@require_GET
@signed_in
def team_list(request: HttpRequest) -> HttpResponse:
    """The tree of the teams the reader sees, with their projects; and the projects seen without their team."""
    teams = access.visible_teams(request.user).order_by("path")
    page = page_of(request, teams)
    outside = page_of(request, projects_outside(request.user, teams), name="projects")
    context = {
        "page": page,
        "rows": team_tree(request.user, list(page)),
        "outside": outside,
        "may_create": access.visible_teams(request.user, "team.change").exists(),
        "now": utc_now(),
    }
    return render(request, "tenants/team_list.html", context)


@require_GET
@signed_in
def my_team(request: HttpRequest) -> HttpResponse:
    """The team the reader leads; with several, with none, the list."""
    led = list(teams_led_by(request.user)[:2])
    return redirect("team_detail", slug=led[0].slug) if len(led) == 1 else redirect("team_list")


@require_GET
@signed_in
def team_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """About, teams and projects below, members with where their role comes from, grants, quota, last changes."""
    team = team_by_slug(request.user, slug)
    user, now = actor_of(request), utc_now()
    powers = access.powers_at(user, team)
    children = list(access.visible_teams(user).filter(parent=team).order_by("name"))
    people = member_counts_of_teams(children)
    projects = access.visible_projects(user).filter(team=team).order_by("slug")
    context = {
        "team": team,
        "above": names_above(team),
        "children": [(child, people.get(child.pk, 0)) for child in children],
        "projects": page_of(request, projects, size=PROJECTS_SHOWN, name="projects"),
        "may_delete": team.parent is not None and "team.change" in access.powers_at(user, team.parent),
        **_people_context(request, team, powers),
        **rules_context(request, team, now, powers),
        "now": now,
    }
    return render(request, "tenants/team_detail.html", context)


@require_GET
@signed_in
def project_list(request: HttpRequest) -> HttpResponse:
    """Projects the reader sees; archived ones only when they are asked for."""
    asked = {"q": word(request, "q"), **{name: word(request, name, 1) for name in PROJECT_FLAGS}}
    on = {name: asked[name] == "1" for name in PROJECT_FLAGS}
    page = page_of(request, projects_matching(request.user, text=asked["q"], **on))
    links = [
        Link(str(label), _with(asked, **{name: "" if on[name] else "1"}), current=on[name])
        for name, label in PROJECT_FLAGS.items()
        if on[name] or name != "led"
    ]
    if asked["q"]:
        links.append(Link(asked["q"], _with(asked, q=""), current=True))
    kept = [name for name in PROJECT_FLAGS if on[name]]
    context = {"page": page, "links": links, "kept": kept, "filtered": any(asked.values()), "now": utc_now()}
    return render(request, "tenants/project_list.html", context)


def _with(asked: dict[str, str], **changed: str) -> str:
    return f"?{urlencode({name: value for name, value in (asked | changed).items() if value})}"


@require_GET
@signed_in
def project_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """About, members with where their role comes from, grants and quota on the path, last changes."""
    project = project_by_slug(request.user, slug)
    user, now = actor_of(request), utc_now()
    powers = access.powers_at(user, project)
    context = {
        "project": project,
        "above": names_above(project),
        "team_seen": "team.see" in access.powers_at(user, project.team),
        "environment": ENVIRONMENT_WORDS.get(project.environment, project.environment),
        "held": HELD_WORDS.get(project.held_reason, project.held_reason),
        "may_archive": "team.change" in powers,
        "may_see_usage": "usage.see" in powers,
        "may_see_jobs": "job.see" in powers,
        **_people_context(request, project, powers),
        **rules_context(request, project, now, powers),
        "now": now,
    }
    return render(request, "tenants/project_detail.html", context)


def _people_context(request: HttpRequest, scope: Scope, powers: Powers) -> dict[str, Any]:
    """Members and last changes, as far as the reader sees them, and what may be done about the scope."""
    sees = "member.see" in powers
    return {
        "may_see_members": sees,
        "members": page_of(request, member_rows(scope, powers) if sees else [], name="members"),
        "may_add_members": "member.change" in powers,
        "may_change": ("team.change" if isinstance(scope, Team) else "project.change") in powers,
        "changes": last_changes(scope, powers),
    }
