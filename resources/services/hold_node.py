"""Take a node out of service by an operator's word, or bring it back."""

from collections.abc import Callable
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from portal.lib.errors import Conflict, FieldError, Invalid
from resources.inputs import checked
from resources.models import Node
from resources.selectors.cordons import open_cordon
from resources.selectors.fleet import require_hold
from resources.services.ask_cluster_cordon import ask_cluster_cordon
from resources.services.restage_nodes import restage_nodes
from resources.stages import HOLDS, ON_CLUSTER
from tenants.models import User
from tenants.services.record_audit import record_audit

ONLY_CLOSED = _("A node is closed on its cluster only while it is one of: {stages}.")


@transaction.atomic
def hold_node(
    *,
    actor: User | None,
    node: Node,
    stage: str,
    now: datetime,
    note: str,
    jobs_on: Callable[[Node], int],
    on_cluster: bool | None = None,
) -> Node:
    """The node in stage cordoned, draining or retired, or with "" as its cluster has it; it stays so until changed.

    Nothing new is placed on a held node; jobs that run there stay. `jobs_on` counts the jobs that hold something
    there. Raises Conflict (`NodeInUse`) when a node to retire still holds some. The same stage twice writes once.

    `on_cluster` asks for a cordon on its own cluster too (`ask_cluster_cordon`), False for its end, None leaves that as
    it is; what comes back comes back there too, as far as the portal closed it.
    """
    if actor is not None:
        require_hold(actor, node)
    said = checked(note=note)
    if stage and stage not in HOLDS:
        raise Invalid.of(FieldError("stage", "UnknownStage", _("There is no stage {stage}."), {"stage": stage[:40]}))
    row = Node.objects.select_for_update(of=("self",)).select_related("cluster").get(pk=node.pk)
    _on_cluster(actor, row, stage, on_cluster, said["note"], now)
    if row.held_stage == stage:
        return row
    jobs = jobs_on(row) if stage == "retired" else 0
    if jobs:
        message = _("{jobs} jobs still hold something on {node}. Drain it, and retire it once they have ended.")
        raise Conflict("NodeInUse", message, facts={"node": row.name, "jobs": jobs})
    before = {"stage": row.stage, "held": row.held_stage}
    row.held_stage, row.held_note = stage, said["note"] if stage else ""
    row.held_by, row.held_at = (str(actor or ""), now) if stage else ("", None)
    row.save(update_fields=["held_stage", "held_note", "held_by", "held_at"])
    cause = stage.capitalize() or "Returned"
    restage_nodes(nodes=[row.pk], now=now, cause=cause, facts={"note": said["note"]}, actor=actor)
    row.refresh_from_db(fields=["stage", "standing"])
    after = {"stage": row.stage, "held": stage}
    verb = f"node.{stage or 'returned'}"
    record_audit(actor=actor, verb=verb, target=row, before=before, after=after, note=said["note"], now=now)
    return row


def _on_cluster(actor: User | None, node: Node, stage: str, wanted: bool | None, note: str, now: datetime) -> None:
    if wanted and stage not in ON_CLUSTER:
        raise Invalid.of(FieldError("on_cluster", "NotWithThisStage", ONLY_CLOSED, {"stages": ", ".join(ON_CLUSTER)}))
    wish = False if wanted is None and not stage else wanted
    if wish is not None and (wish or open_cordon(node) is not None):
        ask_cluster_cordon(actor=actor, node=node, wanted=wish, note=note, now=now)
