"""Attach a Kubernetes cluster."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction

from resources.attaching import ConnectionGiven, Pieces
from resources.credentials import KUBERNETES, columns_of
from resources.drivers.kubernetes.given import describe, fingerprint
from resources.inputs import checked, taken
from resources.models import Cluster, ClusterCredential, ClusterEndpoint
from resources.services.read_attachment import read_attachment
from tenants import access
from tenants.models import User
from tenants.services.record_audit import record_audit


def attach_kubernetes(
    *,
    actor: User | None,
    key: str,
    name: str,
    given: ConnectionGiven,
    now: datetime,
    location: str = "",
    maintainer: str = "",
    note: str = "",
) -> Cluster:
    """The cluster, with its credentials sealed. It is not asked for anything yet: the next inventory pass does that.

    Raises Invalid for what `read_pieces` refuses and for a key that is taken. The audit holds fingerprints only.
    """
    if actor is not None:
        access.require_platform(actor, "cluster.manage")
    said = checked(key=key, title=name, location=location, maintainer=maintainer, note=note)
    # Outside of the transaction: the record of a dangerous one must stay.
    pieces = read_attachment(actor=actor, given=given, now=now)
    because, key = said["note"], said["key"]
    facts = {
        "name": said["title"],
        "driver": KUBERNETES,
        "location": said["location"],
        "maintainer": said["maintainer"],
    }
    with transaction.atomic():
        cluster, created = Cluster.objects.get_or_create(key=key, defaults={**facts, "created_at": now})
        if not created:
            raise taken("key", key)
        _store(cluster, pieces, actor, now)
        after = {"key": key, **facts, **_told(pieces)}
        record_audit(actor=actor, verb="cluster.attached", target=cluster, after=after, note=because, now=now)
    return cluster


def _store(cluster: Cluster, pieces: Pieces, actor: User | None, now: datetime) -> None:
    ClusterEndpoint.objects.create(
        cluster=cluster,
        server=pieces.server,
        authority_pem=pieces.authority_pem,
        server_name=pieces.server_name,
        namespace=pieces.namespace,
    )
    ClusterCredential.objects.bulk_create(
        ClusterCredential(cluster=cluster, right=right, created_by=actor, **columns_of(cluster, right, credential, now))
        for right, credential in pieces.credentials.items()
    )


def _told(pieces: Pieces) -> Mapping[str, Any]:
    """What the audit may know."""
    return {
        "server": pieces.server,
        "authority": [one.fingerprint for one in describe(pieces.authority_pem)],
        "server_name": pieces.server_name,
        "namespace": pieces.namespace,
        **{f"{right.value}_credential": fingerprint(one) for right, one in pieces.credentials.items()},
    }
