"""What a pool's selector or a class's match would take and give up now: the preview and the change itself."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models import Q

from resources.matching import class_of, facts_of_group, pool_of
from resources.models import Cluster, DeviceGroup, Node, Pool, ResourceClass
from tenants.models import Grant, Membership, QuotaCell


@dataclass(frozen=True, slots=True)
class NodeMove:
    """A node and the key of the pool it would belong to; None is none."""

    node: Node
    to: str | None


@dataclass(frozen=True, slots=True)
class NodeMoves:
    """Nodes that would join the pool, and those that would leave it."""

    joins: Sequence[NodeMove] = field(default_factory=tuple)
    leaves: Sequence[NodeMove] = field(default_factory=tuple)


def moves_of_selector(pool_key: str, selector: Mapping[str, str]) -> NodeMoves:
    """Nodes of attached clusters, as last reported. Of several pools that select a node the first by key has it."""
    selectors = dict(Pool.objects.order_by("key").values_list("key", "selector")) | {pool_key: selector}
    nodes = Node.objects.exclude(stage=Node.Stage.RETIRED).exclude(cluster__state=Cluster.State.DETACHED)
    joins, leaves = [], []
    for node in nodes.select_related("cluster", "pool"):
        today = node.pool.key if node.pool else None
        then = pool_of(selectors, node.cluster.key, node.labels)
        if then == pool_key and today != pool_key:
            joins.append(NodeMove(node, then))
        elif today == pool_key and then != pool_key:
            leaves.append(NodeMove(node, then))
    return NodeMoves(joins, leaves)


@dataclass(frozen=True, slots=True)
class GroupMove:
    """A device group and the key of the class its devices would be of; None is unrecognised."""

    group: DeviceGroup
    to: str | None

    @property
    def today(self) -> str | None:
        """The key of the class they are of now."""
        return self.group.resource_class.key if self.group.resource_class else None


def moves_of_match(class_key: str, match: Mapping[str, str] | None) -> list[GroupMove]:
    """Groups that would come to the class or go from it. Without a match the class takes nothing (retired)."""
    stored = ResourceClass.objects.filter(retired_at__isnull=True).values_list("key", "match")
    matches = dict(stored) | {class_key: match or {}}
    groups = DeviceGroup.objects.exclude(node__stage=Node.Stage.RETIRED).filter(capacity_parts__gt=0)
    moves = [
        GroupMove(group, class_of(matches.items(), facts_of_group(group)))
        for group in groups.select_related("resource_class", "node__cluster").order_by("node__name", "resource_name")
    ]
    return [move for move in moves if move.to != move.today and class_key in (move.to, move.today)]


def uses_of(pool: Pool, jobs: int, now: datetime) -> dict[str, int]:
    """How many of each kind of thing refer to the pool now or will."""
    lasting = Q(valid_to__isnull=True) | Q(valid_to__gt=now)
    return {
        "nodes": pool.nodes.count(),
        "grants": Grant.objects.filter(lasting, pool_key=pool.key).count(),
        "cells": QuotaCell.objects.filter(pool_key=pool.key).count(),
        "members": Membership.objects.filter(pool_key=pool.key).count(),
        "jobs": jobs,
    }
