"""Pools, nodes and clusters, seen by whom the pages show them to."""

import uuid
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from jobs.selectors.held import held_by_node, parts_by_device
from portal.lib.clock import utc_now
from portal.lib.errors import NotFound
from portal.lib.rest.paging import PageQuery, page
from portal.lib.rest.view import ApiView, answer, answer_page, endpoint
from resources.api.shapes import ClusterPage, NodeDetail, NodePage, NodesQuery, PoolPage, PoolShown
from resources.models import Node, Pool
from resources.selectors.catalogue import class_looks
from resources.selectors.fleet import (
    NodeFilter,
    clusters_of_nodes,
    devices_of,
    nodes_matching,
    nodes_of_pools,
    nodes_visible_to,
    pools_visible_to,
    require_nodes,
)
from resources.selectors.freshness import STALE_AFTER
from resources.shapes import NodeRow, PoolRow, node_row, pool_rows

_OLDEST_FIRST = ("created_at", "id")


class Pools(ApiView):
    """Pools the reader looks after or may use."""

    @endpoint("list_pools", "Pools you see", query=PageQuery, gives={200: PoolPage})
    def get(self, request: Request, given: dict[str, Any]) -> Response:
        """Oldest first, each with its amounts by class."""
        now = utc_now()
        found, following = page(pools_visible_to(self.actor, now), _OLDEST_FIRST, given)
        return answer(PoolPage, {"results": _pools(found, now), "next": following})


class OnePool(ApiView):
    """A pool."""

    @endpoint("read_pool", "A pool", gives={200: PoolShown}, refuses=(404,))
    def get(self, request: Request, given: dict[str, Any], key: str) -> Response:
        """Its amounts by class."""
        now = utc_now()
        pool = pools_visible_to(self.actor, now).filter(key=key).first()
        if pool is None:
            raise NotFound(f"Pool {key}")
        return answer(PoolShown, _pools([pool], now)[0])


class Nodes(ApiView):
    """Nodes the reader sees: every one for those who see clusters, else those of the pools they look after."""

    @endpoint("list_nodes", "Nodes you see", query=NodesQuery, gives={200: NodePage}, refuses=(403, 404))
    def get(self, request: Request, given: dict[str, Any]) -> Response:
        """Oldest first, each with what it has and what is held of it."""
        require_nodes(self.actor)
        now = utc_now()
        wanted = NodeFilter(
            cluster=given.get("cluster", ""),
            pool=given.get("pool", ""),
            stage=given.get("stage", ""),
            text=given.get("q", ""),
            stale_before=now - STALE_AFTER if given.get("stale") else None,
        )
        rows = nodes_matching(self.actor, wanted).prefetch_related("groups__resource_class")
        found, following = page(rows, _OLDEST_FIRST, given)
        return answer(NodePage, {"results": _nodes(found, now), "next": following})


class OneNode(ApiView):
    """A node."""

    @endpoint("read_node", "A node", gives={200: NodeDetail}, refuses=(404,))
    def get(self, request: Request, given: dict[str, Any], key: uuid.UUID) -> Response:
        """What it has, its devices, and what is held of them."""
        node = nodes_visible_to(self.actor).prefetch_related("groups__resource_class").filter(pk=key).first()
        if node is None:
            raise NotFound(f"Node {key}")
        row = _nodes([node], utc_now())[0]
        shown = {"node": node, "state": row.state, "parts": row.parts, "devices": devices_of(node)}
        return answer(NodeDetail, shown, held=parts_by_device(node))


class Clusters(ApiView):
    """Clusters of which the reader sees a node."""

    @endpoint("list_clusters", "Clusters you see", query=PageQuery, gives={200: ClusterPage}, refuses=(403, 404))
    def get(self, request: Request, given: dict[str, Any]) -> Response:
        """Oldest first."""
        require_nodes(self.actor)
        return answer_page(ClusterPage, clusters_of_nodes(self.actor), _OLDEST_FIRST, given, now=utc_now())


def _pools(pools: Sequence[Pool], now: datetime) -> list[PoolRow]:
    nodes = list(nodes_of_pools(pools))
    return pool_rows(pools, nodes, held_by_node(nodes), class_looks(), now)


def _nodes(nodes: Sequence[Node], now: datetime) -> list[NodeRow]:
    held, looks = held_by_node(nodes), class_looks()
    return [node_row(node, held.get(node.pk, {}), looks, now) for node in nodes]
