"""What people declared about classes, as it holds now and as it did."""

from collections.abc import Sequence
from datetime import datetime

from django.db.models import Q, QuerySet

from resources.models import ClassEquivalence, ClassFact, Cluster, DeviceGroup, Node, ResourceClass


def facts_of(row: ResourceClass) -> QuerySet[ClassFact]:
    """Facts in force, by topic and subject."""
    rows = ClassFact.objects.filter(resource_class=row, withdrawn_at__isnull=True)
    return rows.select_related("declared_by").order_by("topic", "subject")


def equivalences_of(row: ResourceClass) -> QuerySet[ClassEquivalence]:
    """In either direction, those that were not withdrawn; what has run out stays until it is declared anew."""
    rows = ClassEquivalence.objects.filter(Q(of=row) | Q(by=row), withdrawn_at__isnull=True)
    return rows.select_related("of", "by", "declared_by").order_by("task_type", "of__key", "by__key")


def in_force(row: ClassEquivalence, now: datetime) -> bool:
    """Whether it holds at that time."""
    return row.withdrawn_at is None and row.declared_at <= now < row.valid_to


def cost_bases_of(row: ResourceClass) -> Sequence[tuple[str, str]]:
    """Cost basis and cluster of every cluster that reports the class: owned, leased or cloud. One query."""
    groups = DeviceGroup.objects.filter(resource_class=row, capacity_parts__gt=0)
    nodes = Node.objects.exclude(stage=Node.Stage.RETIRED)
    there = nodes.filter(groups__in=groups) if row.resource == "device" else nodes
    clusters = Cluster.objects.filter(pk__in=there.order_by().values("cluster")).exclude(state=Cluster.State.DETACHED)
    return list(clusters.values_list("cost_basis", "name"))
