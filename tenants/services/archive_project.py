"""End a project: it takes no new jobs, and what waits is held back. What it did stays."""

from datetime import datetime
from typing import Final

from django.db import transaction

from tenants import access
from tenants.models import Project, User
from tenants.naming import checked
from tenants.services.record_audit import record_audit

ARCHIVED: Final = "ProjectArchived"


@transaction.atomic
def archive_project(*, actor: User | None, project: Project, now: datetime, note: str = "") -> Project:
    """The archived project; needs the permission on its team. Running jobs run on. Idempotent.

    The hold is what the scheduling cycle reads; one that was there already keeps its own cause.
    """
    if actor is not None:
        access.require(actor, "team.change", project)
    said = checked(note=note)
    row = Project.objects.select_for_update(of=("self",)).get(pk=project.pk)
    if row.archived_at is not None:
        return row
    before = {"archived_at": None, "held_reason": row.held_reason}
    row.archived_at = now
    row.held_reason = row.held_reason or ARCHIVED
    row.save(update_fields=["archived_at", "held_reason"])
    after = {"archived_at": now, "held_reason": row.held_reason}
    record_audit(
        actor=actor, verb="project.archived", target=row, before=before, after=after, note=said["note"], now=now
    )
    return row
