"""Turn outbox rows into notices, one for each person meant."""

from datetime import datetime

from django.db import transaction

from tenants.models import Notice, Outbox
from tenants.notify.recipients import read_recipients
from tenants.selectors.recipients import people_meant

BATCH = 200


def fan_out(*, now: datetime) -> int:
    """How many rows this pass fanned out. Exactly once per event and person, whatever is killed or runs beside it.

    Row, notices and mark are one transaction: a kill leaves the row as it was. A row that another worker holds is
    skipped; the unique key of a notice is the last word.
    """
    done = 0
    while done < BATCH and _next(now):
        done += 1
    return done


@transaction.atomic
def _next(now: datetime) -> bool:
    row = Outbox.objects.select_for_update(skip_locked=True).filter(fanned_at__isnull=True).order_by("at", "id").first()
    if row is None:
        return False
    people = people_meant(read_recipients(row.recipients))
    notices = [
        Notice(
            dedupe_key=f"{row.dedupe_key}:{key}",
            recipient_id=key,
            event=row.event,
            subject_type=row.subject_type,
            subject_id=row.subject_id,
            facts=row.facts,
            at=row.at,
        )
        for key in people.values_list("pk", flat=True)
    ]
    Notice.objects.bulk_create(notices, batch_size=500, ignore_conflicts=True)
    row.fanned_at = now
    row.save(update_fields=["fanned_at"])
    return True
