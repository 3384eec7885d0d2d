"""Ask for a node's cordon on its own cluster, or for its end."""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from portal.lib.errors import Conflict
from portal.lib.queue import enqueue
from resources.cordon_words import OFF_WORDS
from resources.inputs import checked
from resources.models import ClusterCordon, Node
from resources.selectors.cordons import cordon_off
from tenants import access
from tenants.models import User
from tenants.services.record_audit import record_audit

State, Outcome = ClusterCordon.State, ClusterCordon.Outcome


@transaction.atomic
def ask_cluster_cordon(*, actor: User | None, node: Node, wanted: bool, now: datetime, note: str) -> bool:
    """True when something new was asked. The wish is stored here; the cluster is told by `settle_cordons` (a pass).

    Others use the cluster too: only who manages clusters may ask. Raises Conflict (`ClusterCordonOff`) where it cannot
    be done, Denied. Lifting is always taken: it waits for a credential if it must. The same twice writes once.
    """
    if actor is not None:
        access.require_platform(actor, "cluster.manage")
    because = checked(note=note)["note"]
    row = Node.objects.select_for_update(of=("self",), no_key=True).select_related("cluster").get(pk=node.pk)
    known = ClusterCordon.objects.select_for_update().filter(node=row).exclude(state=State.CLOSED).first()
    stands = known is not None and known.state in ClusterCordon.STANDING
    if stands if wanted else known is None or known.state == State.LIFTING:
        return False
    before = {"cluster_cordon": str(known.state) if known else ""}
    if wanted:
        _require(row)
        state = _ask(row, known, actor, because, now)
    else:
        assert known is not None
        state = State.LIFTING
        ClusterCordon.objects.filter(pk=known.pk).update(state=state, since=now, error="")
    verb = "node.cluster_cordon_asked" if wanted else "node.cluster_cordon_lift_asked"
    after = {"cluster_cordon": str(state)}
    record_audit(actor=actor, verb=verb, target=row, before=before, after=after, note=because, now=now)
    enqueue("resources.settle_cordons", str(row.cluster_id))
    return True


def _require(node: Node) -> None:
    if off := cordon_off(node.cluster):
        message = _("{node} cannot be cordoned on its cluster: {why}")
        raise Conflict("ClusterCordonOff", message, facts={"node": node.name, "why": OFF_WORDS[off], "cause": off})


def _ask(node: Node, known: ClusterCordon | None, actor: User | None, note: str, now: datetime) -> str:
    """A row of its own, but for one that is only to be lifted and was not yet: it goes on."""
    if known is not None and known.state == State.LIFTING:
        said = {"state": State.ASKED, "asked_by": str(actor or "")[:200], "asked_at": now, "note": note}
        ClusterCordon.objects.filter(pk=known.pk).update(**said, since=now, error="")
        return State.ASKED
    if known is not None:
        ClusterCordon.objects.filter(pk=known.pk).update(state=State.CLOSED, outcome=Outcome.RENEWED, since=now)
    ClusterCordon.objects.create(node=node, asked_at=now, asked_by=str(actor or "")[:200], note=note, since=now)
    return State.ASKED
