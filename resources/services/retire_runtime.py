"""Take a runtime out of the catalogue; jobs that were given it keep it."""

from datetime import datetime

from django.db import transaction

from resources.inputs import checked
from resources.models import Runtime
from tenants import access
from tenants.models import User
from tenants.services.record_audit import record_audit


@transaction.atomic
def retire_runtime(*, actor: User | None, runtime: Runtime, now: datetime, note: str) -> None:
    """No new job is given it. Doing it twice is doing it once."""
    if actor is not None:
        access.require_platform(actor, "policy.manage")
    said = checked(note=note)
    row = Runtime.objects.select_for_update().get(pk=runtime.pk)
    if row.retired_at:
        return
    row.retired_at = now
    row.save(update_fields=["retired_at"])
    after = {"retired_at": now}
    record_audit(actor=actor, verb="runtime.retired", target=row, after=after, note=said["note"], now=now)
