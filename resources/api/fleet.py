"""Pools and nodes, seen by whom the pages show them to."""

import uuid
from collections.abc import Sequence
from dataclasses import fields
from datetime import datetime
from typing import Any

from django.utils.translation import ngettext
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.selectors.held import held_by_node, holders_of, jobs_holding, parts_by_device
from portal.lib.change_form import Effect
from portal.lib.clock import utc_now
from portal.lib.errors import NotFound
from portal.lib.rest.paging import PageQuery, page
from portal.lib.rest.view import ApiView, answer, endpoint
from resources.api.bodies import FleetReason, NewPool, NodeHold, PoolChange, SelectorTry
from resources.api.observed_shapes import NodeDetail, PoolDetail
from resources.api.shapes import NodeMovesShown, NodePage, NodeShown, NodesQuery, PoolPage, PoolShown
from resources.cordon_effects import cordon_effects
from resources.cordon_words import cordon_shown
from resources.drift import drift_of
from resources.models import Node, Pool
from resources.observed import causes, group_facts
from resources.selectors.catalogue import class_looks
from resources.selectors.cordons import cordon_off, open_cordon
from resources.selectors.fleet import (
    NodeFilter,
    devices_of,
    nodes_matching,
    nodes_of_pools,
    nodes_visible_to,
    pools_visible_to,
    require_nodes,
    versions_of_pool,
)
from resources.selectors.freshness import STALE_AFTER
from resources.selectors.membership import moves_of_selector
from resources.services.change_pool import change_pool
from resources.services.create_pool import create_pool
from resources.services.delete_pool import delete_pool
from resources.services.hold_node import hold_node
from resources.shapes import NodeRow, PoolRow, node_row, pool_rows
from tenants import access
from tenants.rehearsal import preview_of

_OLDEST_FIRST = ("created_at", "id")


class Pools(ApiView):
    """Pools the reader looks after or may use."""

    @endpoint("list_pools", "Pools you see", query=PageQuery, gives={200: PoolPage})
    def get(self, request: Request, given: dict[str, Any]) -> Response:
        """Oldest first, each with its amounts by class."""
        now = utc_now()
        found, following = page(pools_visible_to(self.actor, now), _OLDEST_FIRST, given)
        return answer(PoolPage, {"results": _pools(found, now), "next": following})

    @endpoint("create_pool", "Make a pool", body=NewPool, gives={201: PoolShown}, refuses=(404,))
    def post(self, request: Request, given: dict[str, Any]) -> Response:
        """With the nodes its selector picks now."""
        now, note = utc_now(), given.pop("reason")
        pool = create_pool(actor=self.actor, note=note, now=now, selector=given.pop("selector", {}), **given)
        return answer(PoolShown, _pools([pool], now)[0], status=201)


class OnePool(ApiView):
    """A pool."""

    @endpoint("change_pool", "Change a pool", body=PoolChange, gives={200: PoolShown}, refuses=(404,))
    def patch(self, request: Request, given: dict[str, Any], key: str) -> Response:
        """Names, selector, maintainer; nodes join and leave at once."""
        now, note = utc_now(), given.pop("reason")
        pool = _pool(self.actor, key, now)
        change_pool(actor=self.actor, pool=pool, note=note, now=now, **given)
        pool.refresh_from_db()
        return answer(PoolShown, _pools([pool], now)[0])

    @endpoint("delete_pool", "Delete a pool", query=FleetReason, gives={204: ""}, refuses=(403, 404, 409))
    def delete(self, request: Request, given: dict[str, Any], key: str) -> Response:
        """Refused with the numbers of what still refers to it."""
        now = utc_now()
        pool = _pool(self.actor, key, now)
        delete_pool(actor=self.actor, pool=pool, note=given["reason"], now=now, jobs_in=jobs_holding)
        return Response(status=204)

    @endpoint("read_pool", "A pool", gives={200: PoolDetail}, refuses=(404,))
    def get(self, request: Request, given: dict[str, Any], key: str) -> Response:
        """Its amounts by class, and the versions in which its nodes differ."""
        now = utc_now()
        pool = _pool(self.actor, key, now)
        row = _pools([pool], now)[0]
        shown = {field.name: getattr(row, field.name) for field in fields(row)}
        return answer(PoolDetail, shown | {"drift": drift_of(versions_of_pool(self.actor, pool))})


class PoolSelector(ApiView):
    """A selector on trial."""

    @endpoint(
        "preview_pool", "What a selector would take", body=SelectorTry, gives={200: NodeMovesShown}, refuses=(404,)
    )
    def post(self, request: Request, given: dict[str, Any], key: str) -> Response:
        """Nodes that would join and leave; nothing is stored."""
        pool = _pool(self.actor, key, utc_now())
        access.require(self.actor, "pool.change", pool)
        moves = moves_of_selector(pool.key, given["selector"])
        seen = set(nodes_visible_to(self.actor).order_by().values_list("pk", flat=True))
        joins = [move for move in moves.joins if move.node.pk in seen]
        shown = {"joins": joins, "leaves": moves.leaves, "not_shown": len(moves.joins) - len(joins)}
        return answer(NodeMovesShown, shown)


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
            class_key=given.get("class_key", ""),
            stale_before=now - STALE_AFTER if given.get("stale") else None,
            troubled_before=now - STALE_AFTER if given.get("problems") else None,
            service=given.get("service", ""),
            heard_before=now - STALE_AFTER,
        )
        rows = nodes_matching(self.actor, wanted).prefetch_related("groups__resource_class")
        found, following = page(rows, _OLDEST_FIRST, given)
        return answer(NodePage, {"results": _nodes(found, now), "next": following})


class OneNode(ApiView):
    """A node."""

    @endpoint("read_node", "A node", gives={200: NodeDetail}, refuses=(404,))
    def get(self, request: Request, given: dict[str, Any], key: uuid.UUID) -> Response:
        """What it has, its devices, what is held of them, and everything that was read of it."""
        node = nodes_visible_to(self.actor).prefetch_related("groups__resource_class").filter(pk=key).first()
        if node is None:
            raise NotFound(f"Node {key}")
        row, devices = _nodes([node], utc_now())[0], list(devices_of(node))
        shown = {
            "node": node,
            "state": row.state,
            "parts": row.parts,
            "devices": devices,
            "groups": group_facts(node, class_looks()),
            "causes": causes(node.reasons),
            "cordon": cordon_shown(node, open_cordon(node)),
            "cordon_off": cordon_off(node.cluster),
        }
        holders = holders_of(devices, self.actor)
        return answer(NodeDetail, shown, held=parts_by_device(node), holders=holders)


class NodeStage(ApiView):
    """What an operator wants of a node."""

    @endpoint(
        "hold_node", "Cordon, drain, retire or return", body=NodeHold, gives={200: NodeShown}, refuses=(403, 404, 409)
    )
    def post(self, request: Request, given: dict[str, Any], key: uuid.UUID) -> Response:
        """It stays so until changed; a node on which something is held is not retired."""
        node = nodes_visible_to(self.actor).filter(pk=key).first()
        if node is None:
            raise NotFound(f"Node {key}")
        stage, note = given["stage"], given["reason"]
        hold_node(
            actor=self.actor, node=node, stage=stage, on_cluster=given.get("on_cluster"), note=note, now=utc_now(),
            jobs_on=jobs_holding,
        )  # fmt: skip
        row = nodes_visible_to(self.actor).prefetch_related("groups__resource_class").get(pk=key)
        return answer(NodeShown, _nodes([row], utc_now())[0])


def _hold_effects(actor: Any, given: dict[str, Any], key: uuid.UUID) -> Sequence[Effect]:
    node = nodes_visible_to(actor).get(pk=key)
    count = jobs_holding(node)
    text = ngettext("{n} job holds something here and stays.", "{n} jobs hold something here and stay.", count)
    jobs = [Effect(text.format(n=count), "wait")] if count else []
    return [*jobs, *cordon_effects(node, given["stage"], given.get("on_cluster"))]


NodeStagePreview = preview_of(
    NodeStage.post, "preview_node_stage", "What a change of a node's stage would mean", body=NodeHold,
    refuses=(403, 404, 409), effects=_hold_effects,
)  # fmt: skip


def _pool(actor: Any, key: str, now: datetime) -> Pool:
    pool = pools_visible_to(actor, now).filter(key=key).first()
    if pool is None:
        raise NotFound(f"Pool {key}")
    return pool


def _pools(pools: Sequence[Pool], now: datetime) -> list[PoolRow]:
    nodes = list(nodes_of_pools(pools))
    return pool_rows(pools, nodes, held_by_node(nodes), class_looks(), now)


def _nodes(nodes: Sequence[Node], now: datetime) -> list[NodeRow]:
    held, looks = held_by_node(nodes), class_looks()
    return [node_row(node, held.get(node.pk, {}), looks, now) for node in nodes]
