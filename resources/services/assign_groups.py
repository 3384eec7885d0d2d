"""Put the device groups that a class's match takes now under it."""

from collections import defaultdict
from uuid import UUID

from django.db import transaction

from resources.models import DeviceGroup, ResourceClass
from resources.selectors.membership import GroupMove, moves_of_match


@transaction.atomic
def assign_groups(*, resource_class: ResourceClass) -> list[GroupMove]:
    """What moved. The inventory pass does the same later. Part of the services that change classes."""
    moves = moves_of_match(resource_class.key, None if resource_class.retired_at else resource_class.match)
    keys = dict(ResourceClass.objects.values_list("key", "pk"))
    by_class: dict[UUID | None, list[UUID]] = defaultdict(list)
    for move in moves:
        by_class[keys[move.to] if move.to else None].append(move.group.pk)
    for class_id, groups in by_class.items():
        DeviceGroup.objects.filter(pk__in=groups).update(resource_class=class_id)
    return moves
