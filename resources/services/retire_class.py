"""Take a class out of the catalogue; what was used of it keeps its name and rates."""

from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from portal.lib.errors import Conflict
from resources.inputs import checked
from resources.models import ResourceClass
from resources.selectors.catalogue import nodes_reporting
from tenants import access
from tenants.models import User
from tenants.services.record_audit import record_audit


@transaction.atomic
def retire_class(*, actor: User | None, resource_class: ResourceClass, now: datetime, note: str) -> None:
    """It is offered no more. Doing it twice is doing it once.

    Raises Conflict (`ClassInUse`) while nodes still report some of it: they would offer what has no name.
    """
    if actor is not None:
        access.require_platform(actor, "policy.manage")
    said = checked(note=note)
    row = ResourceClass.objects.select_for_update().get(pk=resource_class.pk)
    if row.retired_at:
        return
    nodes = nodes_reporting(row)
    if nodes:
        raise Conflict(
            "ClassInUse",
            _("{nodes} nodes still report {key}. Let another class take their devices first, or retire the nodes."),
            facts={"key": row.key, "nodes": nodes},
        )
    row.retired_at = now
    row.save(update_fields=["retired_at"])
    after = {"retired_at": now}
    record_audit(actor=actor, verb="class.retired", target=row, after=after, note=said["note"], now=now)
