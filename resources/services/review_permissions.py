"""Ask a cluster what each of its credentials may do, and keep the answers."""

from datetime import datetime

from django.db import transaction

from portal.lib.errors import Conflict
from resources.credentials import NOT_REACHED
from resources.drivers.kubernetes.connection import Right
from resources.drivers.kubernetes.rights import Ask, ask_all
from resources.models import Cluster, ClusterCredential, ClusterEndpoint
from tenants import access
from tenants.models import User


def review_permissions(*, actor: User | None, cluster: Cluster, ask: Ask, now: datetime) -> None:
    """Every permission that is needed, and those that would be too much, as SelfSubjectAccessReviews answer them.

    `ask` may raise DriverUnavailable, which lets the answers of before stand. A credential that was rotated
    meanwhile keeps none of these: they were another's. Observations are not audited.
    """
    if actor is not None:
        access.require_platform(actor, "cluster.manage")
    endpoint = ClusterEndpoint.objects.filter(cluster=cluster).first()
    if endpoint is None:
        raise Conflict("NotReached", NOT_REACHED, facts={"cluster": cluster.name})
    rows = list(ClusterCredential.objects.filter(cluster=cluster).order_by("right"))
    # The network is asked outside of any transaction of ours.
    found = [(row, ask_all(Right(row.right), endpoint.namespace, ask)) for row in rows]
    with transaction.atomic():
        for row, answers in found:
            same = ClusterCredential.objects.filter(pk=row.pk, fingerprint=row.fingerprint)
            same.update(answers=answers, reviewed_at=now)
