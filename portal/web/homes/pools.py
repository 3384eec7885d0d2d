"""The pool administrator's home: each pool looked after, with capacity, nodes, and why jobs wait for it."""

from collections import Counter
from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db.models import Count, Min
from django.utils.translation import gettext as _

from jobs.models import AllocationLine
from jobs.reason_words import reason_word
from jobs.selectors.fleet_use import capacity_by_class
from jobs.selectors.queue import waiting_seen
from jobs.selectors.standing import waiting_in_pool
from jobs.states import AllocationState
from portal.lib import units
from portal.lib.localised import localised
from portal.web.homes.parts import Tile, class_bars, device_links, listing
from resources.models import Node, Pool
from resources.selectors.catalogue import ClassLooks, class_looks
from resources.selectors.fleet import in_service, pools_looked_after
from resources.selectors.freshness import STALE_AFTER
from tenants.models import User

POOLS_SHOWN = 4
REASONS_SHOWN = 3


def pools_home(user: User, now: datetime) -> dict[str, Any]:
    """Three queries a pool for at most four of them, and seven more."""
    looked_after = pools_looked_after(user)
    pools, looks = list(looked_after[:POOLS_SHOWN]), class_looks()
    reasons, seen = waiting_in_pool([pool.key for pool in pools]), waiting_seen(user)
    leaks = _leaks(pools)
    stages = _stages(pools, now)
    return {
        "pools": [
            _pool(pool, reasons.get(pool.key, []), seen.get(pool.key, 0), leaks, stages.get(pool.key, {}), looks, now)
            for pool in pools
        ],
        "pool_count": looked_after.count(),
    }


def _pool(
    pool: Pool,
    reasons: list[tuple[str, int]],
    seen: int,
    leaks: dict[str, int],
    stages: dict[str, Any],
    looks: ClassLooks,
    now: datetime,
) -> dict[str, Any]:
    capacities = capacity_by_class(Node.objects.filter(pool=pool), now - STALE_AFTER)
    waiting = sum(count for _reason, count in reasons)
    return {
        "pool": pool,
        "name": localised(pool.name, pool.key),
        "tiles": _tiles(pool, stages, waiting, seen, leaks.get(pool.key, 0)),
        "bars": class_bars(capacities, looks, device_links(capacities)),
        "waiting": [(reason_word(reason), count) for reason, count in reasons[:REASONS_SHOWN]],
        "seen_at": stages.get("seen"),
    }


def _tiles(pool: Pool, stages: dict[str, Any], waiting: int, seen_waiting: int, leaks: int) -> list[Tile]:
    in_service, nodes, seen = stages.get("in_service", 0), stages.get("nodes", 0), stages.get("seen")
    out, silent = stages.get("out", 0), stages.get("silent", 0)
    return [
        Tile(
            _("Nodes in service"),
            f"{units.number(in_service)} / {units.number(nodes)}",
            listing("node_list", pool=pool.key, service="in"),
            at=seen,
        ),
        Tile(_("Out of service"), units.number(out), listing("node_list", pool=pool.key, service="out"), at=seen),
        Tile(
            _("Without fresh data"),
            units.number(silent),
            listing("node_list", pool=pool.key, service="silent"),
            tone="warn" if silent else "",
        ),
        Tile(
            _("Jobs waiting"),
            units.number(waiting),
            listing("queue_page", pool=pool.key) if seen_waiting == waiting else "",
            note="" if seen_waiting == waiting else _("{n} of them yours to see").format(n=units.number(seen_waiting)),
        ),
        Tile(_("Not released in time"), units.number(leaks), tone="bad" if leaks else ""),
    ]


def _leaks(pools: Sequence[Pool]) -> dict[str, int]:
    """How many allocations of each pool were not seen free in time, by number only."""
    rows = AllocationLine.objects.filter(allocation__state=AllocationState.LEAKED, node__pool__in=pools).values_list(
        "node__pool__key", "allocation_id"
    )
    return Counter(key for key, _allocation in rows.order_by().distinct())


def _stages(pools: Sequence[Pool], now: datetime) -> dict[str, dict[str, Any]]:
    told = in_service(now - STALE_AFTER)
    rows = (
        Node.objects.filter(pool__in=pools)
        .order_by()
        .values("pool__key")
        .annotate(
            nodes=Count("pk"),
            in_service=Count("pk", filter=told["in"]),
            silent=Count("pk", filter=told["silent"]),
            out=Count("pk", filter=told["out"]),
            seen=Min("last_seen_at"),
        )
    )
    return {row["pool__key"]: dict(row) for row in rows}
