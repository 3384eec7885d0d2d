"""The steward of a Kubernetes cluster: it cordons nodes for everybody who uses the cluster, and lifts only its own."""

from typing import Any, Final

from resources.drivers.base import DriverUnavailable
from resources.drivers.kubernetes.api import Api, Refused
from resources.drivers.kubernetes.connection import Right
from resources.drivers.kubernetes.cordon import MANAGER, MARK, cordon_of
from resources.drivers.steward import CordonSeen

_NODES: Final = "/api/v1/nodes"


class KubernetesSteward:
    """See `resources.drivers.steward.Steward`."""

    def __init__(self, api: Api) -> None:
        self._api = api

    def look(self, node: str) -> CordonSeen | None:
        """One GET."""
        try:
            return cordon_of(self._api.get(f"{_NODES}/{node}", right=Right.STEWARD))
        except Refused as refusal:
            if refusal.status == 404:
                return None
            raise _unavailable(refusal) from refusal

    def write(self, node: str, seen: CordonSeen, *, cordoned: bool, mark: str) -> bool:
        """One PATCH of exactly the node and version that were seen; nothing else of it is touched."""
        body: dict[str, Any] = {
            "metadata": {
                "uid": seen.uid,
                "resourceVersion": seen.version,
                "annotations": {MARK: mark or None},
            }
        }
        if cordoned != seen.cordoned:
            body["spec"] = {"unschedulable": cordoned or None}
        try:
            self._api.patch(f"{_NODES}/{node}", body, right=Right.STEWARD, fieldManager=MANAGER)
        except Refused as refusal:
            if refusal.status in (404, 409):
                return False
            raise _unavailable(refusal) from refusal
        return True


def _unavailable(refusal: Refused) -> DriverUnavailable:
    return DriverUnavailable(str(refusal), reason="AccessDenied" if refusal.status == 403 else "Refused")
