"""Take a credential of a cluster away."""

from datetime import datetime

from django.db import transaction

from resources.credentials import locked_endpoint, turn_version
from resources.drivers.kubernetes.connection import Right
from resources.inputs import checked
from resources.models import Cluster, ClusterCredential
from tenants import access
from tenants.models import User
from tenants.services.record_audit import record_audit


@transaction.atomic
def remove_credential(*, actor: User | None, cluster: Cluster, right: Right, now: datetime, note: str) -> None:
    """The credential is forgotten, and the features that need it are off. One that is not there writes nothing.

    It stays valid on the cluster until it is revoked there.
    """
    if actor is not None:
        access.require_platform(actor, "cluster.manage")
    said = checked(note=note)
    endpoint = locked_endpoint(cluster)
    row = ClusterCredential.objects.filter(cluster=cluster, right=right).first()
    if row is None:
        return
    before = {f"{right.value}_credential": row.fingerprint}
    row.delete()
    turn_version(endpoint)
    record_audit(
        actor=actor,
        verb="cluster.credential_removed",
        target=cluster,
        before=before,
        after={name: "" for name in before},
        note=said["note"],
        now=now,
    )
