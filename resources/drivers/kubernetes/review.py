"""What a credential may do, asked of the API server itself."""

from collections.abc import Mapping

from resources.drivers.kubernetes.api import Api, Refused
from resources.drivers.kubernetes.connection import Right
from resources.drivers.kubernetes.rights import Ask

_PATH = "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews"
_KIND = {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview"}


def asker(api: Api) -> Ask:
    """Asks that API server, as the credential of each right. What it asks raises DriverUnavailable as every call."""

    def ask(right: Right, attributes: Mapping[str, str]) -> bool | None:
        body = {**_KIND, "spec": {"resourceAttributes": dict(attributes)}}
        try:
            status = api.create(_PATH, body, right=right).get("status")
        except Refused:
            return None
        return _said(status)

    return ask


def _said(status: object) -> bool | None:
    """Yes, no, or nothing when the server could not evaluate all of its rules."""
    if not isinstance(status, dict) or not isinstance(status.get("allowed"), bool):
        return None
    allowed: bool = status["allowed"]
    return None if not allowed and status.get("evaluationError") else allowed
