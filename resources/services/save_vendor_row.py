"""Say what a resource name means: a vendor the portal does not know, or a new name of one it knows."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from portal.lib.errors import Conflict, FieldError, Invalid
from resources.declared_inputs import DEVICE_KINDS, MEMORY_UNITS, UNITS
from resources.inputs import changed, checked, taken
from resources.models import VendorRow
from resources.normalize.catalogue import BadCatalogue
from resources.vendor_rows import merged_with
from tenants import access
from tenants.models import User
from tenants.services.record_audit import record_audit

_FIELDS = (
    "vendor", "vendor_name", "kind", "unit", "model_label", "memory_label", "memory_unit", "driver_label",
)  # fmt: skip
_CHOSEN = ("kind", "unit", "memory_unit")
_READ_AS = {"vendor": "key", "vendor_name": "title"}
NO_SUCH = _("Choose one of: {options}.")
NOT_A_ROW = _("This cannot be used: {cause}.")
MOST_ROWS = 500
TOO_MANY = _("There are {most} rows already. Take one off first.")


@transaction.atomic
def save_vendor_row(
    *,
    actor: User | None,
    pattern: str,
    vendor: str,
    vendor_name: str,
    kind: str,
    now: datetime,
    unit: str = "card",
    model_label: str = "",
    memory_label: str = "",
    memory_unit: str = "MiB",
    driver_label: str = "",
    row: VendorRow | None = None,
    note: str = "",
) -> VendorRow:
    """The row, new or (with `row`) changed. It is in force with the next inventory pass of each cluster.

    Raises Invalid for a pattern that is there already, and Conflict when the row is gone.
    """
    if actor is not None:
        access.require_platform(actor, "policy.manage")
    given = {
        "pattern": pattern,
        "vendor": vendor,
        "vendor_name": vendor_name,
        "kind": kind,
        "unit": unit,
        "model_label": model_label,
        "memory_label": memory_label,
        "memory_unit": memory_unit,
        "driver_label": driver_label,
    }
    said = _checked(given, note)
    because = said.pop("note")
    # Rows are few and decide together: whoever writes one waits for the other.
    rows = {one.pk: one for one in VendorRow.objects.select_for_update().order_by("pk")}
    stored = rows.get(row.pk) if row is not None else None
    if row is not None and stored is None:
        raise Conflict("RowGone", _("This row was taken off meanwhile."))
    if any(one.pattern == said["pattern"] for one in rows.values() if one is not stored):
        raise taken("pattern", said["pattern"])
    if stored is None and len(rows) >= MOST_ROWS:
        raise Invalid("TooManyRows", TOO_MANY, facts={"most": MOST_ROWS})
    wanted = stored or VendorRow(created_at=now)
    before, after = changed({name: getattr(wanted, name) for name in ("pattern", *_FIELDS)}, said)
    if stored is not None and not after:
        return stored
    for name, value in said.items():
        setattr(wanted, name, value)
    wanted.changed_at = now
    _require_usable([*(one for one in rows.values() if one is not stored), wanted])
    wanted.save()
    verb = "vendor_row.changed" if stored else "vendor_row.added"
    old = before if stored else {}
    record_audit(actor=actor, verb=verb, target=wanted, before=old, after=after, note=because, now=now)
    return wanted


def _checked(given: Mapping[str, str], note: str) -> dict[str, Any]:
    """Every field as it is stored. Raises Invalid with all that are refused, by the names of the form."""
    errors = [
        FieldError(field, "UnknownName", NO_SUCH, {"options": ", ".join(options)})
        for field, options in (("kind", DEVICE_KINDS), ("unit", UNITS), ("memory_unit", tuple(MEMORY_UNITS)))
        if given[field] not in options
    ]
    read = {_READ_AS.get(name, name): value for name, value in given.items() if name not in _CHOSEN}
    said: dict[str, Any] = {}
    try:
        said = checked(**read, note=note)
    except Invalid as refused:
        names = {reader: field for field, reader in _READ_AS.items()}
        errors += [FieldError(names.get(f.field, f.field), f.reason, f.message, f.facts) for f in refused.fields]
    if errors:
        raise Invalid.of(*errors)
    said |= {field: said.pop(reader) for field, reader in _READ_AS.items()}
    return said | {"kind": given["kind"], "unit": given["unit"], "memory_unit": MEMORY_UNITS[given["memory_unit"]]}


def _require_usable(rows: list[VendorRow]) -> None:
    """Raise Invalid unless the whole catalogue can be made of these rows: a bad row would blind every cluster."""
    try:
        merged_with(rows)
    except BadCatalogue as bad:
        raise Invalid.of(FieldError("pattern", "BadRow", NOT_A_ROW, {"cause": str(bad)[:200]})) from bad
