"""Give a project another name, environment or contact."""

from datetime import datetime

from django.db import transaction

from tenants import access
from tenants.models import Project, Team, User
from tenants.naming import changed, checked, refuse_lookalike
from tenants.services.record_audit import record_audit


@transaction.atomic
def change_project(
    *,
    actor: User | None,
    project: Project,
    name: str,
    environment: str,
    contact: str,
    now: datetime,
    note: str = "",
) -> Project:
    """The project as it is now. Its slug and team stay. Unchanged values leave no record."""
    if actor is not None:
        access.require(actor, "project.change", project)
    said = checked(name=name, contact=contact, note=note)
    Team.objects.select_for_update(of=("self",)).get(pk=project.team_id)
    siblings = Project.objects.filter(team=project.team_id).exclude(pk=project.pk)
    refuse_lookalike(said["name"], siblings.values_list("name", flat=True))
    row = Project.objects.select_for_update(of=("self",)).get(pk=project.pk)
    values = {"name": said["name"], "environment": environment, "contact": said["contact"]}
    before, after = changed({name: getattr(row, name) for name in values}, values)
    if after:
        for field, value in values.items():
            setattr(row, field, value)
        row.save(update_fields=list(values))
        record_audit(
            actor=actor, verb="project.changed", target=row, before=before, after=after, note=said["note"], now=now
        )
    return row
