"""Read what a person gives to attach a cluster; what is dangerous in it is left in the audit trail."""

from datetime import datetime

from portal.lib.errors import Invalid
from resources.attaching import DANGEROUS, ConnectionGiven, Pieces, read_pieces
from tenants import access
from tenants.models import User
from tenants.services.record_audit import record_audit


def read_attachment(*, actor: User | None, given: ConnectionGiven, now: datetime) -> Pieces:
    """The safe pieces; nothing of them is stored. Raises Invalid with every field that is refused.

    A text that would have started a program, read a file or reached what no cluster is leaves a record of its reason,
    never of itself. In a transaction that is rolled back the record is gone with it.
    """
    if actor is not None:
        access.require_platform(actor, "cluster.manage")
    try:
        return read_pieces(given)
    except Invalid as refusal:
        reasons = sorted({error.reason for error in refusal.fields} & DANGEROUS)
        if reasons:
            after = {"facts": ", ".join(reasons)}
            record_audit(actor=actor, verb="cluster.refused", result="denied", after=after, reason=reasons[0], now=now)
        raise
