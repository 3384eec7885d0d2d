"""How clusters are reached: the kinds there are, what a cluster's credentials may do, the manifests of the roles."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from portal.lib.clock import utc_now
from portal.lib.errors import NotFound
from portal.lib.signin import signed_in
from resources.attaching import read_given_namespace
from resources.drivers.base import DriverUnavailable
from resources.drivers.kubernetes.connection import Right
from resources.drivers.kubernetes.manifests import manifest
from resources.drivers.kubernetes.rights import PLUGIN_NAMESPACE
from resources.models import Cluster
from resources.selectors.connections import access_card, permission_asker
from resources.selectors.fleet import clusters_of_nodes
from resources.services.register_cluster import LOCAL
from resources.services.review_permissions import review_permissions
from resources.web.access_words import role_words, shown_rights
from resources.web.parts import simulated_names
from tenants import access


@require_GET
@signed_in
def cluster_new(request: HttpRequest) -> HttpResponse:
    """The kinds of clusters that can be attached, and the manifests for a Kubernetes one."""
    access.require_platform(request.user, "cluster.manage")
    context = {
        "machine": Cluster.objects.filter(driver=LOCAL).first(),
        "rights": role_words(),
    }
    return render(request, "resources/cluster_new.html", context)


@require_GET
@signed_in
def cluster_access(request: HttpRequest, key: str) -> HttpResponse:
    """Each permission of each role: granted, missing or not asked; credentials and when they end."""
    cluster = _cluster(request, key)
    now = utc_now()
    card = access_card(cluster, now)
    if card is None:
        raise NotFound(f"access of {key}")
    context = {
        "cluster": cluster,
        "card": card,
        "rights": shown_rights(card),
        "roles": role_words(),
        "plugin_namespace": PLUGIN_NAMESPACE,
        "may_manage": access.at_platform(request.user, "cluster.manage"),
        "simulated": simulated_names([cluster]),
        "now": now,
    }
    return render(request, "resources/cluster_access.html", context)


@require_POST
@signed_in
def permission_review(request: HttpRequest, key: str) -> HttpResponse:
    """Ask the cluster now what its credentials may do."""
    cluster = _cluster(request, key)
    access.require_platform(request.user, "cluster.manage")
    try:
        ask = permission_asker(cluster)
        review_permissions(actor=request.user, cluster=cluster, ask=ask, now=utc_now())  # type: ignore[arg-type]
    except DriverUnavailable as error:
        said = _("It was asked and did not answer ({reason}). What it said before stays.").format(reason=error.reason)
        messages.error(request, said)
    else:
        messages.success(request, _("Asked: below stands what it allows now."))
    return redirect("cluster_access", key=key)


@require_GET
@signed_in
def role_manifest(request: HttpRequest, right: str) -> HttpResponse:
    """The manifest of a role as a file for kubectl; `namespace` names where jobs shall run."""
    access.require_platform(request.user, "cluster.manage")
    if right not in list(Right):
        raise NotFound(f"role {right}")
    text = manifest(Right(right), read_given_namespace(request.GET.get("namespace", "")))
    headers = {"Content-Disposition": f'attachment; filename="armillary-{right}.yaml"'}
    return HttpResponse(text, content_type="application/yaml; charset=utf-8", headers=headers)


def _cluster(request: HttpRequest, key: str) -> Cluster:
    cluster = clusters_of_nodes(request.user).filter(key=key).first()
    if cluster is None:
        raise NotFound(f"Cluster {key}")
    access.require_platform(request.user, "cluster.see")
    return cluster
