"""Why a Job makes no pods: the cluster says so in events only, in words of its own."""

from collections.abc import Mapping
from typing import Any

from resources.drivers.kubernetes.api import Api, Refused
from resources.drivers.kubernetes.connection import Right
from resources.drivers.kubernetes.seen import POD_REFUSED

_OF_JOBS = f"involvedObject.kind=Job,reason={POD_REFUSED}"


def refused_pods(api: Api, namespace: str) -> Mapping[str, str]:
    """By uid of the Job, what was last said when its pod was refused; nothing where events may not be read.

    Raises DriverUnavailable.
    """
    try:
        found = api.list(f"/api/v1/namespaces/{namespace}/events", right=Right.RUNNER, fieldSelector=_OF_JOBS)
    except Refused:
        return {}
    said = sorted(found.items, key=_when)
    return {str((event.get("involvedObject") or {}).get("uid", "")): str(event.get("message") or "") for event in said}


def _when(event: Mapping[str, Any]) -> str:
    return str(event.get("lastTimestamp") or event.get("eventTime") or event["metadata"].get("creationTimestamp") or "")
