"""A vendor's row as the rows of the catalogue of names: the same shapes as in catalogue.toml. Pure but for its rows."""

import re
from collections.abc import Iterable
from hashlib import sha256
from typing import Any

from resources.models import VendorRow
from resources.normalize import Catalogue, load_catalogue
from resources.normalize.catalogue import parse_catalogue

FACTS = ("model", "memory", "driver")


def expression_of(pattern: str) -> str:
    """The expression behind a pattern with at most one `*`: linear in the length of what it is tried on."""
    before, star, after = pattern.partition("*")
    return re.escape(before) + ("[^/]*" if star else "") + re.escape(after)


def matches(pattern: str, resource: str) -> bool:
    """Whether a resource name is one of the pattern's."""
    return re.fullmatch(expression_of(pattern), resource) is not None


def document_of(rows: Iterable[VendorRow]) -> dict[str, list[dict[str, Any]]]:
    """The rows as TOML would hold them; a vendor that comes with the portal keeps its own row."""
    shipped = load_catalogue().vendors
    vendors: dict[str, dict[str, Any]] = {}
    resources, labels = [], []
    # The special stands before the general: a whole name before a pattern, a longer one before a shorter one.
    for row in sorted(rows, key=lambda row: ("*" in row.pattern, -len(row.pattern), row.pattern)):
        kind = row.kind.lower()
        if row.vendor not in shipped:
            main = row.pattern.replace("*", "")
            vendors.setdefault(row.vendor, {"key": row.vendor, "name": row.vendor_name, "kind": kind, "main": main})
        resources.append({"match": expression_of(row.pattern), "vendor": row.vendor, "kind": kind, "unit": row.unit})
        for fact in FACTS:
            if key := getattr(row, f"{fact}_label"):
                unit = {"unit": row.memory_unit} if fact == "memory" else {}
                labels.append({"vendor": row.vendor, "fact": fact, "keys": [key], **unit})
    return {"vendor": list(vendors.values()), "resource": resources, "label": labels}


def merged_with(rows: Iterable[VendorRow]) -> Catalogue:
    """The shipped catalogue with these rows before its own. Raises BadCatalogue."""
    shipped = load_catalogue()
    return shipped.merged(parse_catalogue(document_of(rows), known=tuple(shipped.vendors)))


def version_of(rows: Iterable[VendorRow]) -> str:
    """Another text whenever a row is added, changed or taken off."""
    told = [f"{row.pk}:{row.changed_at.isoformat()}" for row in rows]
    return sha256("\n".join(sorted(told)).encode()).hexdigest()[:16]
