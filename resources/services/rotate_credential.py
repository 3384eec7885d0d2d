"""Give a cluster a credential for one right, in place of the one it has or as its first."""

from datetime import datetime

from django.db import transaction

from resources.attaching import CredentialGiven, read_given_credential
from resources.credentials import columns_of, locked_endpoint, turn_version
from resources.drivers.kubernetes.connection import Right
from resources.inputs import checked
from resources.models import Cluster, ClusterCredential
from tenants import access
from tenants.models import User
from tenants.services.record_audit import record_audit


@transaction.atomic
def rotate_credential(
    *, actor: User | None, cluster: Cluster, right: Right, given: CredentialGiven, now: datetime, note: str
) -> ClusterCredential:
    """The credential as it is now; drivers take it at their next call, and its permissions are reviewed anew.

    The one before is forgotten here, and stays valid until it is revoked on the cluster. The same again writes nothing.
    """
    if actor is not None:
        access.require_platform(actor, "cluster.manage")
    said = checked(note=note)
    credential = read_given_credential(given)
    endpoint = locked_endpoint(cluster)
    before = ClusterCredential.objects.filter(cluster=cluster, right=right).first()
    columns = columns_of(cluster, right, credential, now)
    if before is not None and before.fingerprint == columns["fingerprint"]:
        return before
    row, _created = ClusterCredential.objects.update_or_create(
        cluster=cluster, right=right, defaults={**columns, "created_by": actor}
    )
    turn_version(endpoint)
    name = f"{right.value}_credential"
    record_audit(
        actor=actor,
        verb="cluster.credential_rotated",
        target=cluster,
        before={name: before.fingerprint if before else ""},
        after={name: row.fingerprint},
        note=said["note"],
        now=now,
    )
    return row
