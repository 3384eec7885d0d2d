"""Ask for a validation run of a node, whatever was seen of it before."""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from portal.lib.errors import Conflict
from resources.inputs import checked
from resources.models import Admission, Node
from resources.selectors.fleet import require_hold
from resources.services.restage_nodes import restage_nodes
from tenants.models import User
from tenants.services.record_audit import record_audit

NO_RULE = _("{node} is in no pool that asks for a validation job. Set the admission of its pool first.")
RUNS = _("A validation job of {node} is under way.")


@transaction.atomic
def retry_validation(*, actor: User | None, node: Node, now: datetime, note: str) -> Node:
    """The next pass starts it. A node in service leaves it until the run has passed; earlier failures are forgotten."""
    if actor is not None:
        require_hold(actor, node)
    because = checked(note=note)["note"]
    row = Node.objects.select_for_update(of=("self",), no_key=True).select_related("pool", "cluster").get(pk=node.pk)
    if row.pool is None or row.pool.admission != Admission.VALIDATE:
        raise Conflict("NoValidationRule", NO_RULE, facts={"node": row.name})
    if row.trial_job is not None:
        raise Conflict("ValidationRuns", RUNS, facts={"node": row.name})
    before = {"stage": row.stage}
    row.proof, row.trial = {}, {}
    row.save(update_fields=["proof", "trial"])
    restage_nodes(nodes=[row.pk], now=now, cause="ValidationAsked", facts={"note": because}, actor=actor)
    row.refresh_from_db()
    after = {"stage": row.stage}
    verb = "node.validation_asked"
    record_audit(actor=actor, verb=verb, target=row, before=before, after=after, note=because, now=now)
    return row
