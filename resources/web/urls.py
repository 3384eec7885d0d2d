"""Pages of resources."""

from django.urls import URLPattern, path

from resources.web import (
    catalogue,
    class_changes,
    cluster_changes,
    clusters,
    devices,
    node_changes,
    nodes,
    pool_changes,
    pools,
)

urlpatterns: list[URLPattern] = [
    path("clusters", clusters.cluster_list, name="cluster_list"),
    path("clusters/new", cluster_changes.cluster_register, name="cluster_register"),
    path("clusters/<slug:key>", clusters.cluster_detail, name="cluster_detail"),
    path("clusters/<slug:key>/edit", cluster_changes.cluster_edit, name="cluster_edit"),
    path("clusters/<slug:key>/attach", cluster_changes.cluster_state, {"state": "attached"}, name="cluster_attach"),
    path("clusters/<slug:key>/pause", cluster_changes.cluster_state, {"state": "paused"}, name="cluster_pause"),
    path("clusters/<slug:key>/detach", cluster_changes.cluster_state, {"state": "detached"}, name="cluster_detach"),
    path("nodes", nodes.node_list, name="node_list"),
    path("nodes/<uuid:key>", nodes.node_detail, name="node_detail"),
    path("nodes/<uuid:key>/cordon", node_changes.node_hold, {"stage": "cordoned"}, name="node_cordon"),
    path("nodes/<uuid:key>/drain", node_changes.node_hold, {"stage": "draining"}, name="node_drain"),
    path("nodes/<uuid:key>/retire", node_changes.node_hold, {"stage": "retired"}, name="node_retire"),
    path("nodes/<uuid:key>/return", node_changes.node_hold, {"stage": ""}, name="node_release"),
    path("devices", devices.device_list, name="device_list"),
    path("pools", pools.pool_list, name="pool_list"),
    path("pools/new", pool_changes.pool_new, name="pool_new"),
    path("pools/<slug:key>", pools.pool_detail, name="pool_detail"),
    path("pools/<slug:key>/edit", pool_changes.pool_edit, name="pool_edit"),
    path("pools/<slug:key>/delete", pool_changes.pool_delete, name="pool_delete"),
    path("classes", catalogue.class_list, name="class_list"),
    path("classes/new", class_changes.class_new, name="class_new"),
    path("classes/<slug:key>", catalogue.class_detail, name="class_detail"),
    path("classes/<slug:key>/edit", class_changes.class_edit, name="class_edit"),
    path("classes/<slug:key>/retire", class_changes.class_retire, name="class_retire"),
    path("runtimes", catalogue.runtime_list, name="runtime_list"),
    path("data", catalogue.data_list, name="data_list"),
]
