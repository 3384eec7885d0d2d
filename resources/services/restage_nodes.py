"""Bring the stage of nodes in step with what is now true of them. Part of the services that change it."""

from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction

from resources.models import Node, NodeEvent
from resources.services.note_stages import note_stages
from resources.stages import stage_of
from resources.standing import ground_of_rows, standing_now
from tenants.models import User


@transaction.atomic
def restage_nodes(
    *,
    nodes: Iterable[UUID],
    now: datetime,
    cause: str = "",
    facts: Mapping[str, Any] | None = None,
    actor: User | None = None,
) -> int:
    """How many changed stage or standing; each change is written with its cause. Idempotent.

    Without a cause the new standing is it: the node's pool, rule or proof changed.
    """
    rows = Node.objects.select_for_update(of=("self",), no_key=True).filter(pk__in=list(nodes)).order_by("pk")
    changed, events = [], []
    for node in rows.select_related("pool").prefetch_related("groups"):
        before = (node.stage, node.standing)
        node.standing = standing_now(node, node.pool, ground_of_rows(node, node.groups.all()))
        # A node says why it takes nothing; without a word it would take something.
        node.stage = stage_of(node.held_stage, ready=node.ready, schedulable=not node.reason, standing=node.standing)
        if before != (node.stage, node.standing):
            changed.append(node)
            said = dict(facts or {}) | ({"standing": str(node.standing)} if node.standing else {})
            events.append(
                NodeEvent(
                    node=node, at=now, old=before[0], new=node.stage, cause=cause or node.standing or "Admitted",
                    facts=said, actor_name=str(actor or ""),
                )
            )  # fmt: skip
    Node.objects.bulk_update(changed, ["stage", "standing"])
    note_stages(events=events)
    return len(changed)
