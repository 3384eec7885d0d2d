"""What our labels and annotations on Jobs and pods say. Pure: anybody may have written them."""

import json
from collections.abc import Mapping
from typing import Any

from resources.drivers.kubernetes import names


def label_of(thing: Mapping[str, Any], key: str) -> str:
    """The label; "" when it has none of that key."""
    return str((thing["metadata"].get("labels") or {}).get(key, ""))


def generation_of(thing: Mapping[str, Any]) -> int:
    """Of the attempt it was made for; 0 when it does not say."""
    return names.number_of((thing["metadata"].get("annotations") or {}).get(names.GENERATION)) or 0


def index_of(pod: Mapping[str, Any]) -> int:
    """Which member the pod is."""
    return names.number_of((pod["metadata"].get("annotations") or {}).get(names.INDEX)) or 0


def is_stopped(job: Mapping[str, Any]) -> bool:
    """Whether the Job makes no more pods: it is over, or was asked to end."""
    conditions = (job.get("status") or {}).get("conditions") or []
    over = any(c.get("type") in ("Failed", "Complete") and c.get("status") == "True" for c in conditions)
    return over or names.STOP_ASKED_AT in (job["metadata"].get("annotations") or {})


def granted_by(job: Mapping[str, Any]) -> list[str]:
    """The devices the portal named when it made the Job."""
    try:
        found = json.loads((job["metadata"].get("annotations") or {}).get(names.DEVICES, "[]"))
    except ValueError:
        return []
    return [one for one in found if isinstance(one, str)] if isinstance(found, list) else []
