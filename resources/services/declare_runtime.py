"""Declare a runtime: what a job's program runs in, and for which resources."""

from collections.abc import Mapping, Sequence
from datetime import datetime

from django.db import transaction

from resources.inputs import checked, taken
from resources.models import Runtime
from resources.runtime_rules import classes_of, require_sound
from tenants import access
from tenants.models import User
from tenants.services.record_audit import record_audit


@transaction.atomic
def declare_runtime(
    *,
    actor: User | None,
    key: str,
    name: Mapping[str, str],
    driver_kind: str,
    kinds: Sequence[str],
    framework: str,
    version: str,
    now: datetime,
    image: str = "",
    runtime_class: str = "",
    classes: Sequence[str] = (),
    task_types: Sequence[str] = (),
    driver_range: str = "",
    maintainer: str = "",
    note: str = "",
) -> Runtime:
    """The runtime. Without classes it is for every class of its kinds, without task types for every type.

    The installation itself and the pilot (no note) get the one that is there; a person is told that the key is taken.
    """
    if actor is not None:
        access.require_platform(actor, "policy.manage")
    said = checked(
        key=key,
        name=name,
        kinds=list(kinds),
        framework=framework,
        version=version,
        image=image,
        runtime_class=runtime_class,
        classes=list(classes),
        task_types=list(task_types),
        driver_range=driver_range,
        maintainer=maintainer,
        note=note,
    )
    because, rows = said.pop("note"), classes_of(said.pop("classes"))
    require_sound(driver_kind, said["image"], said["kinds"], rows)
    key = said.pop("key")
    row, created = Runtime.objects.get_or_create(
        key=key, defaults=said | {"driver_kind": driver_kind, "declared_at": now}
    )
    if created:
        row.classes.set(rows)
        after = {"key": key, "driver_kind": driver_kind, "classes": [one.key for one in rows], **said}
        record_audit(actor=actor, verb="runtime.declared", target=row, after=after, note=because, now=now)
    elif actor is not None and because:
        raise taken("key", key)
    return row
