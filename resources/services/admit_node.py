"""Let a node into service by hand: without a validation run, or out of quarantine."""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from portal.lib.errors import Conflict
from resources.inputs import checked
from resources.models import Node
from resources.selectors.fleet import require_hold
from resources.services.restage_nodes import restage_nodes
from resources.services.retry_validation import RUNS
from resources.standing import ground_of_rows
from tenants.models import User
from tenants.services.record_audit import record_audit

NOTHING_HELD = _("The portal keeps nothing from {node}: there is nothing to let it in from.")


@transaction.atomic
def admit_node(*, actor: User | None, node: Node, now: datetime, note: str) -> Node:
    """It counts as admitted by hand and not verified, until what it has changes. Failures before now count no more."""
    if actor is not None:
        require_hold(actor, node)
    because = checked(note=note)["note"]
    rows = Node.objects.select_for_update(of=("self",), no_key=True).select_related("pool", "cluster")
    row = rows.prefetch_related("groups").get(pk=node.pk)
    if row.trial_job is not None:
        raise Conflict("ValidationRuns", RUNS, facts={"node": row.name})
    if not row.standing:
        raise Conflict("NothingHeld", NOTHING_HELD, facts={"node": row.name})
    before = {"stage": row.stage, "standing": row.standing, "quarantine": row.quarantine.get("cause", "")}
    who = {"who": str(actor or ""), "note": because}
    ground = ground_of_rows(row, row.groups.all())
    row.proof = {"by": "hand", "at": now.isoformat(), "facts": ground, **who}
    row.trial, row.quarantine, row.health_since = {}, {}, now
    row.save(update_fields=["proof", "trial", "quarantine", "health_since"])
    restage_nodes(nodes=[row.pk], now=now, cause="AdmittedByHand", facts={"note": because}, actor=actor)
    row.refresh_from_db()
    after = {"stage": row.stage, "standing": row.standing, "quarantine": ""}
    record_audit(actor=actor, verb="node.admitted", target=row, before=before, after=after, note=because, now=now)
    return row
