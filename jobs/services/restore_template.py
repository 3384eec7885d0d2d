"""Bring a retired template back into use."""

from datetime import datetime

from django.db import transaction

from jobs.models import JobTemplate
from jobs.template_access import require_change
from tenants.models import User
from tenants.services.record_audit import record_audit


@transaction.atomic
def restore_template(*, actor: User | None, template: JobTemplate, now: datetime, note: str = "") -> JobTemplate:
    """The template, of which jobs can be made again. Again changes nothing."""
    if actor is not None:
        require_change(actor, template.project)
    row = JobTemplate.objects.select_for_update(of=("self",)).get(pk=template.pk)
    if row.retired_at is not None:
        before = {"retired_at": row.retired_at}
        row.retired_at = None
        row.save(update_fields=["retired_at"])
        record_audit(
            actor=actor,
            verb="template.restored",
            target=row,
            before=before,
            after={"retired_at": None},
            note=note,
            now=now,
        )
    return row
