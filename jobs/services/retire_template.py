"""Take a template out of use."""

from datetime import datetime

from django.db import transaction

from jobs.models import JobTemplate
from jobs.template_access import require_change
from portal.lib.clock import to_ms
from tenants.models import User
from tenants.notify.events import Event
from tenants.notify.recipients import Recipients, holders, in_roles
from tenants.roles import Role
from tenants.services.announce import announce
from tenants.services.record_audit import record_audit


@transaction.atomic
def retire_template(*, actor: User | None, template: JobTemplate, now: datetime, note: str = "") -> JobTemplate:
    """The template, of which no new job can be made. Jobs that wait or run go on. Again changes nothing."""
    if actor is not None:
        require_change(actor, template.project)
    row = JobTemplate.objects.select_for_update(of=("self",)).get(pk=template.pk)
    if row.retired_at is None:
        row.retired_at = now
        row.save(update_fields=["retired_at"])
        announce(
            event=Event.TEMPLATE_RETIRED,
            subject=row,
            facts={"template": row.slug},
            recipients=_users_of(row, actor),
            once=str(to_ms(now)),
            now=now,
        )
        record_audit(
            actor=actor,
            verb="template.retired",
            target=row,
            before={"retired_at": None},
            after={"retired_at": now},
            note=note,
            now=now,
        )
    return row


def _users_of(template: JobTemplate, actor: User | None) -> Recipients:
    """Who may start from it; of a template for everyone, those who lead or own what others submit to."""
    but = actor.pk if actor else None
    if template.project_id:
        return holders("job.ask", project=template.project_id, but=but)
    return in_roles([Role.LEAD, Role.OWNER], reach="anywhere", but=but)
