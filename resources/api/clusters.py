"""Clusters: read, register, change."""

from typing import Any

from rest_framework.request import Request
from rest_framework.response import Response

from jobs.selectors.held import held_by_node, jobs_holding
from portal.lib.clock import utc_now
from portal.lib.errors import NotFound
from portal.lib.rest.paging import PageQuery
from portal.lib.rest.view import ApiView, answer, answer_page, endpoint
from resources.api.bodies import ClusterChange, ClusterTurn, NewCluster
from resources.api.observed_shapes import ClusterDetail
from resources.api.shapes import ClusterPage, ClusterShown
from resources.models import Cluster
from resources.observed import sheet_of
from resources.selectors.catalogue import class_looks
from resources.selectors.fleet import clusters_of_nodes, nodes_of_clusters, require_nodes
from resources.services.change_cluster import change_cluster
from resources.services.register_cluster import register_cluster
from resources.services.set_cluster_state import set_cluster_state
from resources.shapes import cluster_rows


class Clusters(ApiView):
    """Clusters of which the reader sees a node."""

    @endpoint("list_clusters", "Clusters you see", query=PageQuery, gives={200: ClusterPage}, refuses=(403, 404))
    def get(self, request: Request, given: dict[str, Any]) -> Response:
        """Oldest first."""
        require_nodes(self.actor)
        order = ("created_at", "id")
        return answer_page(ClusterPage, clusters_of_nodes(self.actor), order, given, now=utc_now())

    @endpoint("register_cluster", "Register a cluster", body=NewCluster, gives={201: ClusterShown}, refuses=(404,))
    def post(self, request: Request, given: dict[str, Any]) -> Response:
        """Its nodes appear with the next inventory pass."""
        note, now = given.pop("reason"), utc_now()
        cluster = register_cluster(actor=self.actor, note=note, now=now, **given)
        return answer(ClusterShown, cluster, status=201, now=now)


class OneCluster(ApiView):
    """A cluster."""

    @endpoint("read_cluster", "A cluster", gives={200: ClusterDetail}, refuses=(404,))
    def get(self, request: Request, given: dict[str, Any], key: str) -> Response:
        """With the sums over its nodes, and what else it is made of."""
        cluster, now = _cluster(self.actor, key), utc_now()
        nodes = list(nodes_of_clusters(self.actor, [cluster]))
        row = cluster_rows([cluster], nodes, held_by_node(nodes), class_looks(), now)[0]
        shown = {
            "cluster": cluster,
            "nodes": row.nodes,
            "stages": [{"stage": stage, "nodes": count} for stage, count in row.stages],
            "classes": row.classes,
            "pools": [pool.key for pool in row.pools],
            "jobs": jobs_holding(cluster),
            "facts": sheet_of(cluster),
        }
        return answer(ClusterDetail, shown, now=now)

    @endpoint("change_cluster", "Change a cluster", body=ClusterChange, gives={200: ClusterShown}, refuses=(404,))
    def patch(self, request: Request, given: dict[str, Any], key: str) -> Response:
        """Name, location, maintainer, cost basis."""
        cluster, note, now = _cluster(self.actor, key), given.pop("reason"), utc_now()
        row = change_cluster(actor=self.actor, cluster=cluster, note=note, now=now, **given)
        return answer(ClusterShown, row, now=now)


class ClusterState(ApiView):
    """Whether a cluster takes jobs."""

    @endpoint(
        "set_cluster_state",
        "Attach, pause or detach",
        body=ClusterTurn,
        gives={200: ClusterShown},
        refuses=(404, 409),
    )
    def post(self, request: Request, given: dict[str, Any], key: str) -> Response:
        """A cluster on which something is held is not detached."""
        cluster, now = _cluster(self.actor, key), utc_now()
        row = set_cluster_state(
            actor=self.actor, cluster=cluster, state=given["state"], note=given["reason"], now=now, jobs_on=jobs_holding
        )
        return answer(ClusterShown, row, now=now)


def _cluster(actor: Any, key: str) -> Cluster:
    cluster = clusters_of_nodes(actor).filter(key=key).first()
    if cluster is None:
        raise NotFound(f"Cluster {key}")
    return cluster
