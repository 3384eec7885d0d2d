"""The platform administrator's home: what needs attention, the clusters, capacity, waiting and failing jobs."""

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from jobs.models import Allocation, Cycle
from jobs.selectors.fleet_use import capacity_by_class
from jobs.selectors.held import leaked
from jobs.selectors.pulse import Waiting, last_cycle, waiting_now
from jobs.selectors.standing import failures_by_reason, never_starting, waiting_by_reason
from portal.lib import units
from portal.lib.display import Link
from portal.web.homes.parts import Attention, Tile, class_bars, device_links, listing, reason_rows
from portal.web.states import look
from resources.models import Cluster, Node
from resources.selectors.catalogue import class_looks
from resources.selectors.fleet import in_service, nodes_visible_to, stage_counts
from resources.selectors.freshness import STALE_AFTER, is_stale
from tenants.models import User

SHOWN = 5
CLUSTERS_SHOWN = 12
DAY = timedelta(days=1)
CYCLE_LATE = timedelta(minutes=5)
"""Jobs wait and nothing was decided for this long: worth a look, though the queue may simply be stuck for a reason."""


def platform_home(user: User, now: datetime) -> dict[str, Any]:
    """Fifteen queries, whatever there is."""
    clusters = list(Cluster.objects.exclude(state=Cluster.State.DETACHED))
    stages, looks = stage_counts(user), class_looks()
    leaks = leaked(user)
    leak_count, first_leaks = leaks.count(), list(leaks[:SHOWN])
    waiting, never, cycle = waiting_now(user), never_starting(user), last_cycle()
    reasons, failures = waiting_by_reason(user, SHOWN), failures_by_reason(user, now - DAY, SHOWN)
    nodes = nodes_visible_to(user)
    working = nodes.filter(in_service(now - STALE_AFTER)["in"]).count()
    capacities = capacity_by_class(nodes, now - STALE_AFTER)
    stale = [c for c in clusters if is_stale(c.last_seen_at, now)]
    return {
        "attention": [
            *_leaks(first_leaks, leak_count),
            *_silent(stale),
            *_nodes(stages),
            *_stuck(never, waiting, cycle, now),
        ],
        "tiles": _tiles(
            clusters=clusters,
            stale=stale,
            stages=stages,
            waiting=waiting,
            never=never,
            leaks=leak_count,
            failed=failures.jobs,
            cycle=cycle,
            working=working,
            now=now,
        ),
        "clusters": [(c, is_stale(c.last_seen_at, now)) for c in clusters[:CLUSTERS_SHOWN]],
        "cluster_count": len(clusters),
        "simulated": [c.name for c in clusters if c.simulated],
        "stages": stage_links(stages),
        "bars": class_bars(capacities, looks, device_links(capacities)),
        "seen_at": min((c.last_seen_at for c in clusters if c.last_seen_at), default=None),
        "reasons": reason_rows(reasons.top, now, state="waiting"),
        "reason_count": reasons.kinds,
        "failures": reason_rows(failures.top, now, state="failed", ended_since=(now - DAY).isoformat()),
        "failure_count": failures.kinds,
        "leaks": first_leaks,
        "leak_count": leak_count,
        "waiting": waiting,
        "cycle": cycle,
    }


def stage_links(stages: dict[str, int]) -> list[Link]:
    """Stages with how many nodes are in each, leading to just those."""
    nodes = reverse("node_list")
    return [
        Link(str(look(stage).word), f"{nodes}?stage={stage}", count, state=stage)
        for stage, count in sorted(stages.items())
    ]


def _tiles(
    *,
    clusters: Sequence[Cluster],
    stale: Sequence[Cluster],
    stages: dict[str, int],
    waiting: Waiting,
    never: int,
    leaks: int,
    failed: int,
    cycle: Cycle | None,
    working: int,
    now: datetime,
) -> list[Tile]:
    seen = min((c.last_seen_at for c in clusters if c.last_seen_at), default=None)
    lost = stages.get(Node.Stage.UNREACHABLE, 0)
    answering = f"{units.number(len(clusters) - len(stale))} / {units.number(len(clusters))}"
    serving = f"{units.number(working)} / {units.number(sum(stages.values()))}"
    return [
        Tile(
            _("Clusters that answer"), answering, listing("cluster_list", answers="yes"),
            tone="warn" if stale else "", at=seen,
        ),
        Tile(
            _("Nodes in service"), serving, listing("node_list", service="in"),
            tone="bad" if lost else "", at=seen,
        ),
        Tile(
            _("Jobs waiting"), units.number(waiting.count), listing("job_list", state="waiting"),
            note=_("{n} can never start").format(n=units.number(never)) if never else "", tone="warn" if never else "",
        ),
        Tile(
            _("Failed in 24 hours"), units.number(failed),
            listing("job_list", state="failed", ended_since=(now - DAY).isoformat()),
        ),
        Tile(_("Not released in time"), units.number(leaks), "#leaks" if leaks else "", tone="bad" if leaks else ""),
        Tile(
            _("Last decision"), _("none yet") if cycle is None else units.ago_text(cycle.at, now),
            listing("scheduler") or listing("queue_page"),
            note=units.duration_text(cycle.duration_ms) if cycle else "",
        ),
    ]  # fmt: skip


def _leaks(leaks: Sequence[Allocation], count: int) -> list[Attention]:
    if not leaks:
        return []
    text = ngettext(
        "{n} allocation was not seen free in time. Its devices stay blocked.",
        "{n} allocations were not seen free in time. Their devices stay blocked.",
        count,
    )
    return [Attention("bad", text.format(n=count), "#leaks", leaks[0].leaked_at)]


def _silent(stale: Sequence[Cluster]) -> list[Attention]:
    return [
        Attention(
            "bad",
            _("Cluster {name} does not answer: nothing new is placed there.").format(name=cluster.name),
            listing("node_list", cluster=cluster.key),
            cluster.last_seen_at,
        )
        for cluster in stale[:SHOWN]
    ]


def _nodes(stages: dict[str, int]) -> list[Attention]:
    found = []
    lost, new = stages.get("unreachable", 0), stages.get("discovered", 0)
    if lost:
        text = ngettext("{n} node is unreachable.", "{n} nodes are unreachable.", lost)
        url = listing("node_list", stage="unreachable")
        found.append(Attention("bad", text.format(n=units.number(lost)), url))
    if new:
        text = ngettext("{n} node waits to be taken into service.", "{n} nodes wait to be taken into service.", new)
        found.append(Attention("wait", text.format(n=units.number(new)), listing("node_list", stage="discovered")))
    return found


def _stuck(never: int, waiting: Waiting, cycle: Cycle | None, now: datetime) -> list[Attention]:
    found = []
    if never:
        text = ngettext(
            "{n} job can never start as things are.", "{n} jobs can never start as things are.", never
        ).format(n=units.number(never))
        found.append(Attention("warn", text, listing("job_list", never="1")))
    late = waiting.oldest is not None and now - waiting.oldest > CYCLE_LATE
    if late and (cycle is None or now - cycle.at > CYCLE_LATE):
        text = _("Jobs wait, but no decision changed anything for a while.")
        found.append(Attention("warn", text, listing("queue_page") or listing("job_list", state="waiting")))
    return found
