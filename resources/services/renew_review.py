"""Ask a cluster again what its credentials may do, once what it said is old."""

from datetime import datetime, timedelta
from typing import Final

from django.db.models import Q

from portal.lib.locks import try_session_lock
from resources.drivers.base import DriverUnavailable
from resources.models import Cluster, ClusterCredential
from resources.selectors.connections import permission_asker
from resources.services.review_permissions import review_permissions

REVIEW_AFTER: Final = timedelta(hours=1)


def renew_review(*, cluster: Cluster, now: datetime) -> bool:
    """True when it was asked and answered; False when nothing was due, or it did not answer. One at a time.

    A credential that was never asked about is due at once: a new one shows what it may do within a minute.
    """
    old = Q(reviewed_at__isnull=True) | Q(reviewed_at__lte=now - REVIEW_AFTER)
    with try_session_lock(f"review:{cluster.pk}") as held:
        if not held or not ClusterCredential.objects.filter(old, cluster=cluster).exists():
            return False
        try:
            review_permissions(actor=None, cluster=cluster, ask=permission_asker(cluster), now=now)
        except DriverUnavailable:
            return False
    return True
