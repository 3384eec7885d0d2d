"""Make, change and delete teams; make, change, archive and restore projects."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_http_methods

from portal.lib.change_form import ChangePage, Effect, Preview, run_change
from portal.lib.clock import utc_now
from portal.lib.signin import signed_in
from tenants import access, effects
from tenants.models import Project, Team
from tenants.selectors.teams import contents_of, project_by_slug, team_by_slug
from tenants.services.archive_project import archive_project
from tenants.services.change_project import change_project
from tenants.services.change_team import change_team
from tenants.services.create_project import create_project
from tenants.services.create_team import create_team
from tenants.services.delete_team import delete_team
from tenants.services.restore_project import restore_project
from tenants.web.forms import NewProjectForm, NewTeamForm, ProjectForm, TeamForm
from tenants.web.parts import actor_of, address_of, trail

GET_POST = ["GET", "POST"]


@require_http_methods(GET_POST)
@signed_in
def team_new(request: HttpRequest, slug: str) -> HttpResponse:
    """A team below this one."""
    parent, actor = team_by_slug(request.user, slug, "team.change"), actor_of(request)

    def save(values: dict[str, Any], reason: str) -> str:
        return address_of(create_team(actor=actor, parent=parent, now=utc_now(), note=reason, **values))

    page = _page(request, parent, gettext_lazy("New team"), save, form=NewTeamForm, verb=gettext_lazy("Make the team"))
    return run_change(request, page)


@require_http_methods(GET_POST)
@signed_in
def team_edit(request: HttpRequest, slug: str) -> HttpResponse:
    """Another name or contact."""
    team, actor = team_by_slug(request.user, slug, "team.change"), actor_of(request)

    def save(values: dict[str, Any], reason: str) -> str:
        return address_of(change_team(actor=actor, team=team, now=utc_now(), note=reason, **values))

    page = _page(
        request,
        team,
        gettext_lazy("Change team"),
        save,
        form=TeamForm,
        today=lambda: Team.objects.values("name", "contact").get(pk=team.pk),
        lock=lambda: Team.objects.select_for_update(of=("self",)).get(pk=team.pk),
    )
    return run_change(request, page)


@require_http_methods(GET_POST)
@signed_in
def team_delete(request: HttpRequest, slug: str) -> HttpResponse:
    """Only an empty one; the page says what is in the way."""
    team, actor = team_by_slug(request.user, slug), actor_of(request)
    access.require(actor, "team.change", team.parent or team)

    def save(_values: dict[str, Any], reason: str) -> str:
        delete_team(actor=actor, team=team, now=utc_now(), note=reason)
        return reverse("team_list")

    page = _page(
        request,
        team,
        gettext_lazy("Delete team"),
        save,
        preview=lambda _values: Preview(effects=effects.of_deleted_team(), blockers=_in_the_way(team)),
        verb=gettext_lazy("Delete the team"),
        done=gettext_lazy("The team was deleted."),
        danger=True,
    )
    return run_change(request, page)


@require_http_methods(GET_POST)
@signed_in
def project_new(request: HttpRequest, slug: str) -> HttpResponse:
    """A project of this team."""
    team, actor = team_by_slug(request.user, slug, "team.change"), actor_of(request)

    def save(values: dict[str, Any], reason: str) -> str:
        return address_of(create_project(actor=actor, team=team, now=utc_now(), note=reason, **values))

    page = _page(
        request,
        team,
        gettext_lazy("New project"),
        save,
        form=NewProjectForm,
        preview=lambda _values: Preview(effects=effects.of_new_project(team)),
        verb=gettext_lazy("Make the project"),
    )
    return run_change(request, page)


@require_http_methods(GET_POST)
@signed_in
def project_edit(request: HttpRequest, slug: str) -> HttpResponse:
    """Another name, environment or contact."""
    project, actor = project_by_slug(request.user, slug, "project.change"), actor_of(request)

    def save(values: dict[str, Any], reason: str) -> str:
        return address_of(change_project(actor=actor, project=project, now=utc_now(), note=reason, **values))

    page = _page(
        request,
        project,
        gettext_lazy("Change project"),
        save,
        form=ProjectForm,
        today=lambda: Project.objects.values("name", "environment", "contact").get(pk=project.pk),
        lock=lambda: Project.objects.select_for_update(of=("self",)).get(pk=project.pk),
    )
    return run_change(request, page)


@require_http_methods(GET_POST)
@signed_in
def project_archive(request: HttpRequest, slug: str) -> HttpResponse:
    """No new jobs from now on; nothing that runs is stopped."""
    project, actor = project_by_slug(request.user, slug, "team.change"), actor_of(request)
    jobs = f"{reverse('job_list')}?project={project.slug}"

    def save(_values: dict[str, Any], reason: str) -> str:
        archive_project(actor=actor, project=project, now=utc_now(), note=reason)
        return address_of(project)

    gone = [Effect(_("It is archived already."), "bad")]
    page = _page(
        request,
        project,
        gettext_lazy("Archive project"),
        save,
        preview=lambda _values: Preview(
            effects=effects.of_archived_project(jobs), blockers=gone if _archived(project) else []
        ),
        verb=gettext_lazy("Archive the project"),
        danger=True,
    )
    return run_change(request, page)


@require_http_methods(GET_POST)
@signed_in
def project_restore(request: HttpRequest, slug: str) -> HttpResponse:
    """Out of the archive."""
    project, actor = project_by_slug(request.user, slug, "team.change"), actor_of(request)

    def save(_values: dict[str, Any], reason: str) -> str:
        restore_project(actor=actor, project=project, now=utc_now(), note=reason)
        return address_of(project)

    there = [Effect(_("It is not archived."), "bad")]
    page = _page(
        request,
        project,
        gettext_lazy("Take project out of the archive"),
        save,
        preview=lambda _values: Preview(
            effects=effects.of_restored_project(), blockers=[] if _archived(project) else there
        ),
        verb=gettext_lazy("Take it out"),
    )
    return run_change(request, page)


def _page(request: HttpRequest, scope: Team | Project, title: str | Promise, save: Any, **more: Any) -> ChangePage:
    return ChangePage(
        title=title, back=address_of(scope), crumbs=trail(actor_of(request), scope, title), save=save, **more
    )


def _archived(project: Project) -> bool:
    return Project.objects.filter(pk=project.pk, archived_at__isnull=False).exists()


def _in_the_way(team: Team) -> list[Effect]:
    """What a team holds, each kind with the way to it."""
    if team.parent_id is None:
        return [Effect(_("It is the organisation itself."), "bad")]
    found, page = contents_of(team), address_of(team)
    words = {
        "teams": ngettext("It holds {n} team.", "It holds {n} teams.", found["teams"]),
        "projects": ngettext(
            "It holds {n} project; archived ones count, their usage belongs to the team.",
            "It holds {n} projects; archived ones count, their usage belongs to the team.",
            found["projects"],
        ),
        "members": ngettext("{n} role is held in it.", "{n} roles are held in it.", found["members"]),
        "grants": ngettext("It has {n} grant, ended ones too.", "It has {n} grants, ended ones too.", found["grants"]),
        "cells": ngettext("It has {n} quota cell.", "It has {n} quota cells.", found["cells"]),
    }
    return [Effect(words[kind].format(n=n), "bad", f"{page}#{kind}") for kind, n in found.items() if n]
