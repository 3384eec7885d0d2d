"""Operations on resources."""

from django.urls import URLPattern, path

from resources.api import fleet

urlpatterns: list[URLPattern] = [
    path("pools", fleet.Pools.as_view(), name="api_pools"),
    path("pools/<slug:key>", fleet.OnePool.as_view(), name="api_pool"),
    path("nodes", fleet.Nodes.as_view(), name="api_nodes"),
    path("nodes/<uuid:key>", fleet.OneNode.as_view(), name="api_node"),
    path("clusters", fleet.Clusters.as_view(), name="api_clusters"),
]
