"""Add a resource class to the catalogue."""

from collections.abc import Mapping
from datetime import datetime

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from portal.lib.errors import FieldError, Invalid
from resources.inputs import checked, taken
from resources.models import ResourceClass
from resources.models.catalogue import RESOURCE_OF_KIND
from resources.services.assign_groups import assign_groups
from tenants import access
from tenants.models import User
from tenants.services.record_audit import record_audit


@transaction.atomic
def define_class(
    *,
    actor: User | None,
    key: str,
    name: Mapping[str, str],
    kind: str,
    now: datetime,
    match: Mapping[str, str] | None = None,
    memory_bytes: int | None = None,
    maintainer: str = "",
    note: str = "",
) -> ResourceClass:
    """The class, with the devices its match takes now: a new vendor or model is such a row, not a release (R-04).

    The installation itself (no actor) gets the class that is there; a person is told that the key is taken.
    """
    if actor is not None:
        access.require_platform(actor, "policy.manage")
    said = checked(
        key=key, name=name, match=dict(match or {}), memory_bytes=memory_bytes, maintainer=maintainer, note=note
    )
    if kind not in RESOURCE_OF_KIND:
        raise Invalid.of(FieldError("kind", "UnknownKind", _("There is no kind {kind}."), {"kind": kind[:40]}))
    because, facts = said.pop("note"), {"kind": kind, "resource": RESOURCE_OF_KIND[kind]}
    row, created = ResourceClass.objects.get_or_create(key=said.pop("key"), defaults=said | facts)
    if created:
        assign_groups(resource_class=row)
        after = {"key": key, "kind": kind, **said}
        record_audit(actor=actor, verb="class.defined", target=row, after=after, note=because, now=now)
    elif actor is not None:
        raise taken("key", key)
    return row
