"""Whether the reader's projects may ask for a node now, and if not why: one word each."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Q

from jobs.selectors.held import held_by_node
from resources.models import Cluster, Node
from resources.selectors.freshness import is_stale
from tenants import access
from tenants.access import Actor
from tenants.models import Grant, Project

MOST = 10


@dataclass(frozen=True, slots=True)
class Askable:
    """A project of the reader; `reason` "" is yes."""

    project: Project
    reason: str


def askable_by(user: Actor, node: Node, now: datetime) -> tuple[list[Askable], int]:
    """The first projects the reader may ask in, by name, and how many more there are. Five queries.

    Quota and the queue are not looked at: they say when, not whether.
    """
    rows = access.visible_projects(user, "job.ask").filter(archived_at__isnull=True)
    projects = list(rows.select_related("team").order_by("name", "slug")[: MOST + 1])
    shown = projects[:MOST]
    more = rows.count() - len(shown) if len(projects) > MOST else 0
    block = _block(node, now)
    granted = set() if block else _granted(shown, node.pool.key if node.pool else "", now)
    return [Askable(one, block or _own(one, one.pk in granted)) for one in shown], more


def _block(node: Node, now: datetime) -> str:
    """What keeps everybody from it."""
    if node.pool is None:
        return "NoPool"
    if node.cluster.state != Cluster.State.ATTACHED:
        return "ClusterPaused" if node.cluster.state == Cluster.State.PAUSED else "ClusterDetached"
    if is_stale(node.cluster.last_seen_at, now) or is_stale(node.last_seen_at, now):
        return "StaleCluster"
    if node.stage != Node.Stage.SCHEDULABLE:
        return node.why or node.stage.capitalize()
    return "" if _has_room(node) else "NothingFree"


def _has_room(node: Node) -> bool:
    held = held_by_node([node]).get(node.pk, {})
    cpu = node.cpu_allocatable_milli - node.foreign.get("cpu", 0) - held.get(("cpu", "cpu"), 0)
    memory = node.memory_allocatable_bytes - node.foreign.get("memory", 0) - held.get(("memory", "memory"), 0)
    return bool(cpu > 0 and memory > 0)


def _own(project: Project, granted: bool) -> str:
    if not granted:
        return "NotGranted"
    return "ProjectHeld" if project.held_reason else ""


def _granted(projects: Sequence[Project], pool: str, now: datetime) -> set[object]:
    """Those with a grant of the pool that is valid now, their own or of a team above."""
    lasting = Q(valid_to__isnull=True) | Q(valid_to__gt=now)
    rows = list(Grant.objects.filter(lasting, pool_key=pool, valid_from__lte=now).values_list("team_id", "project_id"))
    teams = {team.hex for team, _ in rows if team}
    own = {project for _, project in rows if project}
    return {p.pk for p in projects if p.pk in own or teams & set(p.team.path.split("."))}
