"""What the portal has against a node, from its rows."""

from collections.abc import Iterable, Mapping
from typing import Any

from resources.admission import GroupFacts, changes_of, ground_of
from resources.drivers.base import WHOLE_DEVICE, SeenNode
from resources.models import Admission, DeviceGroup, Node, Pool
from resources.stages import Standing, standing_of


def ground_of_rows(node: Node, groups: Iterable[DeviceGroup]) -> dict[str, Any]:
    """What is true of a stored node."""
    facts = (GroupFacts(g.resource_name, g.model, g.driver_version, g.capacity_parts // WHOLE_DEVICE) for g in groups)
    return ground_of(node.container_runtime, facts)


def ground_of_seen(seen: SeenNode) -> dict[str, Any]:
    """What is true of a node as its cluster reports it, in the same words."""
    facts = (
        GroupFacts(g.resource_name, g.model[:120], g.driver_version[:60], g.capacity_parts // WHOLE_DEVICE)
        for g in seen.groups
    )
    return ground_of(seen.container_runtime[:120], facts)


def standing_now(node: Node, pool: Pool | None, ground: Mapping[str, Any]) -> Standing:
    """By the rule of its pool, its proof, and what is true of it now."""
    holds = bool(node.proof) and not changes_of(node.proof["facts"], ground)
    return standing_of(
        required=pool is not None and pool.admission == Admission.VALIDATE,
        proved=holds,
        voided=bool(node.proof) and not holds,
        running=node.trial_job is not None,
        failed="reason" in node.trial,
        quarantined=bool(node.quarantine),
    )
