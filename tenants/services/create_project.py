"""Make a project in a team."""

from datetime import datetime

from django.db import transaction

from portal.lib.locks import hold_until_commit
from tenants import access
from tenants.models import Project, Team, User
from tenants.naming import checked, refuse_lookalike, taken
from tenants.services.record_audit import record_audit


@transaction.atomic
def create_project(
    *,
    actor: User | None,
    team: Team,
    name: str,
    slug: str,
    now: datetime,
    environment: str = "research",
    contact: str = "",
    note: str = "",
) -> Project:
    """The new project. Without an actor (installation) no permission is asked.

    Raises Invalid for a slug that is taken, or a name like that of another project of the team.
    """
    if actor is not None:
        access.require(actor, "team.change", team)
    said = checked(name=name, slug=slug, contact=contact, note=note)
    Team.objects.select_for_update(of=("self",)).get(pk=team.pk)
    refuse_lookalike(said["name"], Project.objects.filter(team=team).values_list("name", flat=True))
    hold_until_commit(f"tenants.project:{said['slug']}")  # two at once: the second sees the first
    if Project.objects.filter(slug=said["slug"]).exists():
        raise taken("slug", said["slug"])
    project = Project.objects.create(
        team=team,
        name=said["name"],
        slug=said["slug"],
        environment=environment,
        contact=said["contact"],
        created_at=now,
    )
    after = {
        "name": project.name,
        "slug": project.slug,
        "team": team.slug,
        "environment": environment,
        "contact": project.contact,
    }
    record_audit(actor=actor, verb="project.created", target=project, after=after, note=said["note"], now=now)
    return project
