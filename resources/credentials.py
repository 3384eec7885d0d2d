"""Credentials of clusters between memory and their rows: sealed when stored, opened for a driver only."""

import json
from datetime import datetime
from typing import Any, Final

from django.db.models import F
from django.utils.translation import gettext_lazy as _

from portal.lib.errors import Conflict
from resources.drivers.kubernetes.connection import Credential, Right
from resources.drivers.kubernetes.given import ends_at, fingerprint
from resources.models import Cluster, ClusterCredential, ClusterEndpoint
from resources.vault import seal, unseal

KUBERNETES: Final = "kubernetes"
"""The driver of clusters that are reached over their API."""
NOT_REACHED = _("{cluster} is not reached over a network and needs no credentials.")


def columns_of(cluster: Cluster, right: Right, credential: Credential, now: datetime) -> dict[str, Any]:
    """The columns of a new credential; it opens for this cluster and right only, and nothing is reviewed yet."""
    parts = [credential.token, credential.certificate_pem, credential.key_pem]
    return {
        "kind": "certificate" if credential.certificate_pem else "token",
        "ciphertext": seal(json.dumps(parts), about=_about(cluster.pk, right)),
        "fingerprint": fingerprint(credential),
        "expires_at": ends_at(credential),
        "created_at": now,
        "reviewed_at": None,
        "answers": {},
    }


def opened(row: ClusterCredential) -> Credential:
    """The secret itself. Raises CannotOpen."""
    token, certificate, key = json.loads(unseal(row.ciphertext, about=_about(row.cluster_id, row.right)))
    return Credential(token=token, certificate_pem=certificate, key_pem=key)


def locked_endpoint(cluster: Cluster) -> ClusterEndpoint:
    """The endpoint, held until the transaction ends. Raises Conflict for a cluster that has none."""
    endpoint = ClusterEndpoint.objects.select_for_update().filter(cluster=cluster).first()
    if endpoint is None:
        raise Conflict("NotReached", NOT_REACHED, facts={"cluster": cluster.name})
    return endpoint


def turn_version(endpoint: ClusterEndpoint) -> None:
    """Make drivers build their connection anew."""
    ClusterEndpoint.objects.filter(pk=endpoint.pk).update(version=F("version") + 1)


def _about(cluster: object, right: str) -> str:
    return f"cluster:{cluster}:{right}"
