"""Bring the cordons of a cluster's nodes there in step with what was asked."""

import logging
from datetime import datetime

from django.db import transaction
from django.db.models import F

from portal.lib.locks import try_session_lock
from resources.cordons import CLOSED, DRIFTED, UNSETTLED, Step, has_drifted, next_step
from resources.drivers.base import DriverUnavailable
from resources.drivers.steward import CordonSeen, Steward
from resources.models import Cluster, ClusterCordon, Node
from resources.selectors.cordons import steward_for
from tenants.services.record_audit import record_audit

log = logging.getLogger(__name__)
_TRIES = 3
CHANGING = "NodeKeepsChanging"


def settle_cordons(*, cluster: Cluster, now: datetime) -> int:
    """How many came into another state. Idempotent; each act is told by what is read there first.

    Where the cluster cannot be told, the row says why and the next pass tries again. Never together with an inventory:
    one that began before a cordon was written would read as its end.
    """
    rows = ClusterCordon.objects.filter(node__cluster=cluster).exclude(state=CLOSED)
    if not rows.exists():
        return 0
    with try_session_lock(f"inventory:{cluster.pk}") as held:
        if not held:
            return 0
        return _note_drift(cluster, now) + _settle_all(cluster, now)


def _note_drift(cluster: Cluster, now: datetime) -> int:
    """What somebody else lifted since: shown, and no longer the portal's to lift."""
    rows = ClusterCordon.objects.filter(node__cluster=cluster).exclude(state=CLOSED).select_related("node")
    lost = [
        row
        for row in rows.filter(node__last_seen_at__gt=F("since"))
        if has_drifted(row.state, cordoned=row.node.cluster_cordoned)
    ]
    return sum(_store(row, Step(DRIFTED), None, now) for row in lost)


def _settle_all(cluster: Cluster, now: datetime) -> int:
    rows = list(ClusterCordon.objects.filter(node__cluster=cluster, state__in=UNSETTLED).select_related("node"))
    if not rows:
        return 0
    try:
        steward = steward_for(cluster)
    except DriverUnavailable as error:
        _failed(rows, error.reason)
        return 0
    changed = 0
    for row in rows:
        try:
            changed += _settle(row, steward, now)
        except DriverUnavailable as error:
            log.warning("cluster %s: the cordon of %s was not settled: %s", cluster.key, row.node.name, error.detail)
            _failed([row], error.reason)
    return changed


def _settle(row: ClusterCordon, steward: Steward, now: datetime) -> bool:
    for _try in range(_TRIES):
        seen = steward.look(row.node.name)
        step = next_step(row.state, str(row.pk), seen)
        if step.write is not None and seen is not None:
            write = step.write
            if not steward.write(row.node.name, seen, cordoned=write.cordoned, mark=write.mark):
                continue
        return _store(row, step, seen, now)
    raise DriverUnavailable(f"{row.node.name} changed {_TRIES} times meanwhile", reason=CHANGING)


@transaction.atomic
def _store(row: ClusterCordon, step: Step, seen: CordonSeen | None, now: datetime) -> bool:
    """False when somebody asked for something else meanwhile: the next pass goes by that."""
    node = Node.objects.get(pk=row.node_id)
    since = max(now, node.last_seen_at)  # what was read before proves nothing about what was written after
    mine = ClusterCordon.objects.filter(pk=row.pk, state=row.state)
    if not mine.update(state=step.state, outcome=step.outcome, since=since, error=""):
        return False
    if seen is not None:
        mark = step.write.mark if step.write else seen.mark
        cordoned = step.write.cordoned if step.write else seen.cordoned
        Node.objects.filter(pk=node.pk).update(cluster_cordoned=cordoned, cluster_cordon_mark=mark)
    after = {"cluster_cordon": step.outcome or step.state}
    before = {"cluster_cordon": row.state}
    verb = "node.cluster_cordon_drifted" if step.state == DRIFTED else "node.cluster_cordon_settled"
    record_audit(actor=None, verb=verb, target=node, before=before, after=after, note=row.note, now=now)
    return True


def _failed(rows: list[ClusterCordon], reason: str) -> None:
    ClusterCordon.objects.filter(pk__in=[row.pk for row in rows], state__in=UNSETTLED).update(error=reason[:300])
