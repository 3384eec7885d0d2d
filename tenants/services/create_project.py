"""Make a project in a team."""

from datetime import datetime

from django.db import transaction

from tenants import access
from tenants.models import Project, Team, User
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
) -> Project:
    """The new project. Without an actor (installation) no permission is asked."""
    if actor is not None:
        access.require(actor, "team.change", team)
    project = Project.objects.create(
        team=team, name=name, slug=slug, environment=environment, contact=contact, created_at=now
    )
    record_audit(
        actor=actor,
        verb="project.created",
        target=project,
        after={"name": name, "slug": slug, "team": team.slug},
        now=now,
    )
    return project
