"""Change what a runtime is, or what it is declared for."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from portal.lib.errors import Conflict
from resources.inputs import changed, checked
from resources.models import ResourceClass, Runtime
from resources.runtime_rules import classes_of, require_sound
from tenants import access
from tenants.models import User
from tenants.services.record_audit import record_audit

_FIELDS = (
    "name", "image", "framework", "version", "runtime_class", "kinds", "task_types", "driver_range", "maintainer",
)  # fmt: skip


@transaction.atomic
def change_runtime(
    *,
    actor: User | None,
    runtime: Runtime,
    now: datetime,
    note: str,
    name: Mapping[str, str] | None = None,
    image: str | None = None,
    framework: str | None = None,
    version: str | None = None,
    runtime_class: str | None = None,
    kinds: Sequence[str] | None = None,
    classes: Sequence[str] | None = None,
    task_types: Sequence[str] | None = None,
    driver_range: str | None = None,
    maintainer: str | None = None,
) -> None:
    """None leaves a field as it is; key and kind of cluster never change. Jobs that run stay in what they run in;
    attempts that start from now on get what it is now.

    Raises Conflict (`RuntimeRetired`) for a retired one.
    """
    if actor is not None:
        access.require_platform(actor, "policy.manage")
    said = checked(
        name=name, image=image, framework=framework, version=version, runtime_class=runtime_class, kinds=kinds,
        classes=classes, task_types=task_types, driver_range=driver_range, maintainer=maintainer, note=note,
    )  # fmt: skip
    because, keys = said.pop("note"), said.pop("classes", None)
    row = Runtime.objects.select_for_update().get(pk=runtime.pk)
    if row.retired_at:
        raise Conflict("RuntimeRetired", _("{key} is retired and stays as it is."), facts={"key": row.key})
    today = list(row.classes.all())
    then = today if keys is None else classes_of(keys)
    require_sound(row.driver_kind, said.get("image", row.image), said.get("kinds", row.kinds), then)
    before, after = changed(_stored(row, today), said | {"classes": sorted(one.key for one in then)})
    if not after:
        return
    for field, value in after.items():
        if field != "classes":
            setattr(row, field, value)
    row.save(update_fields=[field for field in after if field != "classes"])
    row.classes.set(then)
    record_audit(actor=actor, verb="runtime.changed", target=row, before=before, after=after, note=because, now=now)


def _stored(row: Runtime, classes: Sequence[ResourceClass]) -> dict[str, Any]:
    return {field: getattr(row, field) for field in _FIELDS} | {"classes": sorted(one.key for one in classes)}
