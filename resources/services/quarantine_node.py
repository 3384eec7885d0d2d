"""Take a node out of service by rule, because of what happened to jobs there."""

from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from resources.models import Node
from resources.services.restage_nodes import restage_nodes
from tenants.services.record_audit import record_audit


@transaction.atomic
def quarantine_node(*, node: Node, cause: str, jobs: Sequence[str], since: datetime, now: datetime) -> bool:
    """True when this call did it. It holds until a validation run passes there or a person lifts it.

    `jobs` are the ids of those that failed, the newest first; the first of their failures was at `since`.
    """
    row = Node.objects.select_for_update(of=("self",), no_key=True).get(pk=node.pk)
    if row.quarantine or (row.health_since is not None and row.health_since >= since):
        return False
    said = {"cause": cause, "jobs": list(jobs), "count": len(jobs), "since": since.isoformat()}
    row.quarantine, row.trial = {**said, "at": now.isoformat()}, row.trial if row.trial_job else {}
    row.save(update_fields=["quarantine", "trial"])
    restage_nodes(nodes=[row.pk], now=now, facts=said)
    record_audit(actor=None, verb="node.quarantined", target=row, after=said, reason=cause, now=now)
    return True
