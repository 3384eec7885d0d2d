"""Change what a class is called and which devices it takes."""

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from portal.lib.errors import Conflict
from resources.inputs import changed, checked
from resources.models import ResourceClass
from resources.selectors.membership import GroupMove
from resources.services.assign_groups import assign_groups
from tenants import access
from tenants.models import User
from tenants.services.record_audit import record_audit

_FIELDS = ("name", "match", "memory_bytes", "maintainer")


@transaction.atomic
def change_class(
    *,
    actor: User | None,
    resource_class: ResourceClass,
    now: datetime,
    note: str,
    name: Mapping[str, str] | None = None,
    match: Mapping[str, str] | None = None,
    memory_bytes: int | None = None,
    maintainer: str | None = None,
) -> list[GroupMove]:
    """Device groups that changed class at once. None leaves a field as it is, `memory_bytes` 0
    takes it off; kind and unit never change.

    Raises Conflict (`ClassRetired`) for a retired one.
    """
    if actor is not None:
        access.require_platform(actor, "policy.manage")
    said = checked(name=name, match=match, memory_bytes=memory_bytes, maintainer=maintainer, note=note)
    because = said.pop("note")
    row = ResourceClass.objects.select_for_update().get(pk=resource_class.pk)
    if row.retired_at:
        raise Conflict("ClassRetired", _("{key} is retired and stays as it is."), facts={"key": row.key})
    before, after = changed({field: getattr(row, field) for field in _FIELDS}, said)
    if not after:
        return []
    for field, value in after.items():
        setattr(row, field, value)
    row.save(update_fields=list(after))
    moves = assign_groups(resource_class=row) if "match" in after else []
    record_audit(actor=actor, verb="class.changed", target=row, before=before, after=after, note=because, now=now)
    return moves
