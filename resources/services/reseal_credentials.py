"""Seal every stored credential with the newest key."""

from datetime import datetime

from django.db import transaction

from resources.models import ClusterCredential
from resources.vault import reseal
from tenants.services.record_audit import record_audit


@transaction.atomic
def reseal_credentials(*, now: datetime) -> int:
    """How many there are. Afterwards the older keys may be taken out of the settings.

    Raises CannotOpen, and changes nothing, when one was sealed with a key that is not among them.
    """
    rows = list(ClusterCredential.objects.select_for_update().order_by("pk"))
    for row in rows:
        row.ciphertext = reseal(row.ciphertext)
    ClusterCredential.objects.bulk_update(rows, ["ciphertext"])
    record_audit(actor=None, verb="vault.resealed", after={"facts": len(rows)}, now=now)
    return len(rows)
