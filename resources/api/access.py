"""Kubernetes clusters: attach, credentials, what they may do, manifests of the roles."""

from typing import Any

from django.http import HttpResponse
from django.utils.translation import gettext_lazy as _
from rest_framework.request import Request
from rest_framework.response import Response

from portal.lib.clock import utc_now
from portal.lib.errors import NotFound, Unavailable
from portal.lib.rest.view import ApiView, answer, endpoint
from resources.api.access_shapes import AccessShown, ConnectionPreview
from resources.api.bodies import ConnectionBody, CredentialBody, FleetReason, NewKubernetes, RoleQuery
from resources.api.shapes import ClusterShown
from resources.attaching import TOKEN_FIELDS, ConnectionGiven, CredentialGiven, read_given_namespace
from resources.drivers.base import DriverUnavailable
from resources.drivers.kubernetes.connection import Right
from resources.drivers.kubernetes.manifests import manifest
from resources.models import Cluster
from resources.selectors.connections import access_card, permission_asker, told
from resources.selectors.fleet import clusters_of_nodes
from resources.services.attach_kubernetes import attach_kubernetes
from resources.services.read_attachment import read_attachment
from resources.services.remove_credential import remove_credential
from resources.services.review_permissions import review_permissions
from resources.services.rotate_credential import rotate_credential
from tenants import access

NO_ANSWER = _("The cluster was asked and did not answer ({reason}). What it said before stays.")


class KubernetesClusters(ApiView):
    """Kubernetes clusters."""

    @endpoint("register_kubernetes", "Attach a Kubernetes cluster", body=NewKubernetes, gives={201: ClusterShown})
    def post(self, request: Request, given: dict[str, Any]) -> Response:
        """Credentials are sealed; nodes appear with the next inventory pass."""
        note, now = given.pop("reason"), utc_now()
        facts = {name: given[name] for name in ("key", "name", "location", "maintainer") if name in given}
        cluster = attach_kubernetes(actor=self.actor, given=_connection(given), note=note, now=now, **facts)
        return answer(ClusterShown, cluster, status=201, now=now)


class KubernetesPreview(ApiView):
    """A connection on trial."""

    @endpoint(
        "preview_kubernetes", "What would be kept of a connection", body=ConnectionBody, gives={200: ConnectionPreview}
    )
    def post(self, request: Request, given: dict[str, Any]) -> Response:
        """Nothing is stored and nothing is asked."""
        pieces = read_attachment(actor=self.actor, given=_connection(given), now=utc_now())
        return answer(ConnectionPreview, told(pieces))


class ClusterAccess(ApiView):
    """How a cluster is reached."""

    @endpoint(
        "read_cluster_access", "A cluster's credentials and permissions", gives={200: AccessShown}, refuses=(404,)
    )
    def get(self, request: Request, given: dict[str, Any], key: str) -> Response:
        """Each permission as the cluster last said it; 404 for a cluster that is not reached over a network."""
        return _access(_cluster(self.actor, key))


class ClusterReview(ApiView):
    """What the credentials may do."""

    @endpoint(
        "verify_cluster_permissions",
        "Ask what the credentials may do",
        gives={200: AccessShown},
        refuses=(404, 409, 503),
    )
    def post(self, request: Request, given: dict[str, Any], key: str) -> Response:
        """Asks the cluster now."""
        cluster = _cluster(self.actor, key)
        access.require_platform(self.actor, "cluster.manage")
        try:
            review_permissions(actor=self.actor, cluster=cluster, ask=permission_asker(cluster), now=utc_now())
        except DriverUnavailable as error:
            raise Unavailable(error.reason, NO_ANSWER, facts={"reason": error.reason}, detail=error.detail) from error
        return _access(cluster)


class Credentials(ApiView):
    """The credential of a role."""

    @endpoint(
        "set_cluster_credential", "Give a role a credential", body=CredentialBody, gives={200: AccessShown},
        refuses=(404, 409),
    )  # fmt: skip
    def put(self, request: Request, given: dict[str, Any], key: str, right: str) -> Response:
        """In place of the one before, which is to be revoked on the cluster."""
        cluster, note = _cluster(self.actor, key), given.pop("reason")
        rotate_credential(
            actor=self.actor,
            cluster=cluster,
            right=_right(right),
            given=CredentialGiven(**given),
            now=utc_now(),
            note=note,
        )
        return _access(cluster)

    @endpoint("delete_cluster_credential", "Take a role's credential away", query=FleetReason, gives={204: ""},
              refuses=(403, 404, 409))  # fmt: skip
    def delete(self, request: Request, given: dict[str, Any], key: str, right: str) -> Response:
        """What needs it is off."""
        cluster = _cluster(self.actor, key)
        remove_credential(actor=self.actor, cluster=cluster, right=_right(right), now=utc_now(), note=given["reason"])
        return Response(status=204)


class ClusterRole(ApiView):
    """The manifest of a role."""

    @endpoint("read_cluster_role", "The manifest of a role, for kubectl", query=RoleQuery,
              gives={200: "YAML documents."}, refuses=(403, 404))  # fmt: skip
    def get(self, request: Request, given: dict[str, Any], right: str) -> HttpResponse:
        """What the role may do, its service account, and above them how to make its token."""
        access.require_platform(self.actor, "cluster.manage")
        text = manifest(_right(right), read_given_namespace(given.get("namespace", "")))
        return HttpResponse(text, content_type="text/plain; charset=utf-8")


def _access(cluster: Cluster) -> Response:
    card = access_card(cluster, utc_now())
    if card is None:
        raise NotFound(f"access of {cluster.key}")
    return answer(AccessShown, card)


def _connection(given: dict[str, Any]) -> ConnectionGiven:
    plain = ("kubeconfig", "server", "authority", "server_name", "namespace")
    return ConnectionGiven(
        context=given.get("kubeconfig_context", ""),
        right=Right(given.get("kubeconfig_right", Right.OBSERVER)),
        tokens={right: given[name] for right, name in TOKEN_FIELDS.items() if name in given},
        **{name: given[name] for name in plain if name in given},
    )


def _right(right: str) -> Right:
    if right not in list(Right):
        raise NotFound(f"role {right}")
    return Right(right)


def _cluster(actor: Any, key: str) -> Cluster:
    cluster = clusters_of_nodes(actor).filter(key=key).first()
    if cluster is None:
        raise NotFound(f"Cluster {key}")
    access.require_platform(actor, "cluster.see")
    return cluster
