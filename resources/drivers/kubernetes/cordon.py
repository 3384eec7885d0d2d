"""What a Kubernetes node says of its cordon: `spec.unschedulable`, as `kubectl cordon` sets it, and a mark of ours.

Pure. Whose cordon stands is told by the mark and by the API server's own record of who wrote the field last.
"""

from collections.abc import Mapping
from typing import Any, Final

from resources.drivers.kubernetes import names
from resources.drivers.steward import CordonSeen

MARK: Final = names.PREFIX + "cordoned"
"""Annotation: the id of the portal's cordon."""
MANAGER: Final = "armillary-steward"
"""As which the portal is on record for what it writes to nodes."""


def cordon_of(node: Mapping[str, Any]) -> CordonSeen:
    """What a node says of its own cordon."""
    about, spec = _map(node.get("metadata")), _map(node.get("spec"))
    return CordonSeen(
        cordoned=spec.get("unschedulable") is True,
        mark=mark_of(node),
        by_us=_by_us(about.get("managedFields")),
        version=str(about.get("resourceVersion") or ""),
        uid=str(about.get("uid") or ""),
    )


def mark_of(node: Mapping[str, Any]) -> str:
    """The mark on it; "" where there is none that could be ours."""
    mark = _map(_map(node.get("metadata")).get("annotations")).get(MARK)
    return mark if isinstance(mark, str) and len(mark) <= 36 and mark.isascii() and mark.isprintable() else ""


def _by_us(written: object) -> bool | None:
    """Whether the newest word on `spec.unschedulable` is ours; None where nobody is on record for it."""
    owners = [
        str(one.get("manager"))
        for one in (written if isinstance(written, list) else ())
        if isinstance(one, Mapping) and "f:unschedulable" in _map(_map(one.get("fieldsV1")).get("f:spec"))
    ]
    return MANAGER in owners if owners else None


def _map(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}
