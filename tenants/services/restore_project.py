"""Take a project out of the archive."""

from datetime import datetime

from django.db import transaction

from tenants import access
from tenants.models import Project, User
from tenants.naming import checked
from tenants.services.archive_project import ARCHIVED
from tenants.services.record_audit import record_audit


@transaction.atomic
def restore_project(*, actor: User | None, project: Project, now: datetime, note: str = "") -> Project:
    """The project, which takes jobs again unless something else holds it back. Idempotent."""
    if actor is not None:
        access.require(actor, "team.change", project)
    said = checked(note=note)
    row = Project.objects.select_for_update(of=("self",)).get(pk=project.pk)
    if row.archived_at is None:
        return row
    before = {"archived_at": row.archived_at, "held_reason": row.held_reason}
    row.archived_at = None
    row.held_reason = "" if row.held_reason == ARCHIVED else row.held_reason
    row.save(update_fields=["archived_at", "held_reason"])
    after = {"archived_at": None, "held_reason": row.held_reason}
    record_audit(
        actor=actor, verb="project.restored", target=row, before=before, after=after, note=said["note"], now=now
    )
    return row
