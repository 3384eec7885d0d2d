"""Attach, pause or detach a cluster."""

from collections.abc import Callable
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from portal.lib.errors import Conflict, FieldError, Invalid
from resources.inputs import checked
from resources.models import Cluster
from tenants import access
from tenants.models import User
from tenants.services.record_audit import record_audit


@transaction.atomic
def set_cluster_state(
    *, actor: User | None, cluster: Cluster, state: str, now: datetime, note: str, jobs_on: Callable[[Cluster], int]
) -> Cluster:
    """The cluster in that state. Paused: nothing new is placed, jobs that run go on; detached: it is not asked.

    `jobs_on` counts the jobs that hold something there. Raises Conflict (`ClusterInUse`) when one to detach still
    holds some: nobody would see them end. The same state twice writes once.
    """
    if actor is not None:
        access.require_platform(actor, "cluster.manage")
    said = checked(note=note)
    if state not in Cluster.State.values:
        raise Invalid.of(FieldError("state", "UnknownState", _("There is no state {state}."), {"state": state[:40]}))
    row = Cluster.objects.select_for_update().get(pk=cluster.pk)
    if row.state == state:
        return row
    jobs = jobs_on(row) if state == Cluster.State.DETACHED else 0
    if jobs:
        message = _("{jobs} jobs still hold something on {cluster}. Pause it, and detach it once they have ended.")
        raise Conflict("ClusterInUse", message, facts={"cluster": row.name, "jobs": jobs})
    before, row.state = {"state": row.state}, state
    row.save(update_fields=["state"])
    after = {"state": state}
    verb = f"cluster.{state}"
    record_audit(actor=actor, verb=verb, target=row, before=before, after=after, note=said["note"], now=now)
    return row
