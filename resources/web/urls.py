"""Pages of resources."""

from django.urls import URLPattern, path

from resources.web import nodes, pools

urlpatterns: list[URLPattern] = [
    path("nodes", nodes.node_list, name="node_list"),
    path("nodes/<uuid:key>", nodes.node_detail, name="node_detail"),
    path("pools", pools.pool_list, name="pool_list"),
    path("pools/<slug:key>", pools.pool_detail, name="pool_detail"),
]
