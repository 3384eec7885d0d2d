"""Change what a cluster is called, where it stands, who looks after it and what it costs."""

from datetime import datetime

from django.db import transaction

from resources.inputs import changed, checked
from resources.models import Cluster
from tenants import access
from tenants.models import User
from tenants.services.record_audit import record_audit

_FIELDS = ("name", "location", "maintainer", "cost_basis")


@transaction.atomic
def change_cluster(
    *,
    actor: User | None,
    cluster: Cluster,
    now: datetime,
    note: str,
    name: str | None = None,
    location: str | None = None,
    maintainer: str | None = None,
    cost_basis: str | None = None,
) -> Cluster:
    """The cluster as it is now. None leaves a field as it is; key and driver never change."""
    if actor is not None:
        access.require_platform(actor, "cluster.manage")
    said = checked(title=name, location=location, maintainer=maintainer, cost_basis=cost_basis, note=note)
    because = said.pop("note")
    if "title" in said:
        said["name"] = said.pop("title")
    row = Cluster.objects.select_for_update().get(pk=cluster.pk)
    before, after = changed({field: getattr(row, field) for field in _FIELDS}, said)
    if after:
        for field, value in after.items():
            setattr(row, field, value)
        row.save(update_fields=list(after))
        record_audit(actor=actor, verb="cluster.changed", target=row, before=before, after=after, note=because, now=now)
    return row
