"""The catalogue: resource classes by key as pages name them, and data sources by who may read them."""

from dataclasses import dataclass

from django.db.models import Q, QuerySet

from portal.lib.localised import localised
from resources.models import DataSource, Node, ResourceClass
from resources.models.catalogue import RESOURCE_OF_KIND
from tenants import access
from tenants.access import Actor

UNRECOGNISED = "unrecognised:"
"""How the key of capacity begins that no class of the catalogue matches; behind it the name nodes report."""


@dataclass(frozen=True, slots=True)
class ClassLook:
    """Name in the active language, kind and axis of a class."""

    key: str
    name: str
    kind: str
    resource: str


class ClassLooks(dict[str, ClassLook]):
    """Looks by class key; a key the catalogue does not know is called by itself, its kind is not guessed."""

    def __missing__(self, key: str) -> ClassLook:
        return ClassLook(key, key.removeprefix(UNRECOGNISED), "", "")


def class_looks() -> ClassLooks:
    """Every class, retired ones too: old usage still names them. One query."""
    rows = ResourceClass.objects.values_list("key", "name", "kind", "resource")
    return ClassLooks({key: ClassLook(key, localised(name, key), kind, resource) for key, name, kind, resource in rows})


def kind_of_resource(resource: str) -> str:
    """The kind an axis belongs to where that is certain: cpu, memory, storage, network; "" for devices."""
    kinds = {axis: str(kind) for kind, axis in RESOURCE_OF_KIND.items() if axis != "device"}
    return kinds.get(resource, "")


def classes_matching(*, kind: str = "", text: str = "", retired: bool = False) -> QuerySet[ResourceClass]:
    """Classes in use, or the retired ones; everybody may read the catalogue."""
    rows = ResourceClass.objects.filter(retired_at__isnull=not retired)
    if kind:
        rows = rows.filter(kind=kind)
    return rows.filter(Q(key__icontains=text) | Q(name__icontains=text)) if text else rows


def nodes_reporting(row: ResourceClass) -> int:
    """How many nodes that are not retired report some of the class."""
    nodes = Node.objects.exclude(stage=Node.Stage.RETIRED)
    if row.resource == "cpu":
        return nodes.filter(cpu_milli__gt=0).count() if row.key == "cpu" else 0
    if row.resource == "memory":
        return nodes.filter(memory_bytes__gt=0).count() if row.key == "memory" else 0
    return nodes.filter(groups__resource_class=row, groups__capacity_parts__gt=0).distinct().count()


def data_visible_to(user: Actor) -> QuerySet[DataSource]:
    """Sources of projects whose data the user may see, of the teams above those, and of teams likewise."""
    projects = access.visible_projects(user, "data.see")
    paths = projects.order_by().values_list("team__path", flat=True).distinct()
    above = {key for path in paths for key in path.split(".") if key}
    teams = access.visible_teams(user, "data.see").order_by().values("pk")
    rows = DataSource.objects.filter(Q(project__in=projects.order_by().values("pk")) | Q(team__in=above))
    rows |= DataSource.objects.filter(team__in=teams)
    return rows.select_related("team", "project__team")
