"""Operations on resources."""

from django.urls import URLPattern, path

from resources.api import access, catalogue, clusters, fleet

urlpatterns: list[URLPattern] = [
    path("pools", fleet.Pools.as_view(), name="api_pools"),
    path("pools/<slug:key>", fleet.OnePool.as_view(), name="api_pool"),
    path("pools/<slug:key>/preview", fleet.PoolSelector.as_view(), name="api_pool_preview"),
    path("nodes", fleet.Nodes.as_view(), name="api_nodes"),
    path("nodes/<uuid:key>", fleet.OneNode.as_view(), name="api_node"),
    path("nodes/<uuid:key>/stage", fleet.NodeStage.as_view(), name="api_node_stage"),
    path("devices", catalogue.Devices.as_view(), name="api_devices"),
    path("clusters", clusters.Clusters.as_view(), name="api_clusters"),
    path("clusters/<slug:key>", clusters.OneCluster.as_view(), name="api_cluster"),
    path("clusters/<slug:key>/state", clusters.ClusterState.as_view(), name="api_cluster_state"),
    path("clusters/<slug:key>/access", access.ClusterAccess.as_view(), name="api_cluster_access"),
    path("clusters/<slug:key>/access/review", access.ClusterReview.as_view(), name="api_cluster_review"),
    path("clusters/<slug:key>/credentials/<slug:right>", access.Credentials.as_view(), name="api_cluster_credential"),
    path("kubernetes-clusters", access.KubernetesClusters.as_view(), name="api_kubernetes_clusters"),
    path("kubernetes-clusters/preview", access.KubernetesPreview.as_view(), name="api_kubernetes_preview"),
    path("cluster-roles/<slug:right>", access.ClusterRole.as_view(), name="api_cluster_role"),
    path("classes", catalogue.Classes.as_view(), name="api_classes"),
    path("classes/<slug:key>", catalogue.OneClass.as_view(), name="api_class"),
    path("classes/<slug:key>/preview", catalogue.ClassMatch.as_view(), name="api_class_preview"),
    path("classes/<slug:key>/retire", catalogue.ClassRetired.as_view(), name="api_class_retire"),
    path("classes/<slug:key>/rates", catalogue.Rates.as_view(), name="api_rates"),
    path("classes/<slug:key>/rates/preview", catalogue.RatePreview.as_view(), name="api_rate_preview"),
    path("runtimes", catalogue.Runtimes.as_view(), name="api_runtimes"),
    path("data-sources", catalogue.DataSources.as_view(), name="api_data_sources"),
]
