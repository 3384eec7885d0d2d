"""Plain workloads and what is read of them."""

from typing import Any

from controlplane.api import Api, Json

NAMESPACE = "portal-jobs"
"""Where jobs of the portal run."""
JOBS = "/apis/batch/v1/namespaces/{}/jobs"
SAFE = {
    "allowPrivilegeEscalation": False,
    "runAsNonRoot": True,
    "runAsUser": 1000,
    "capabilities": {"drop": ["ALL"]},
    "seccompProfile": {"type": "RuntimeDefault"},
}


def pod_spec(resources: dict[str, str] | None = None, **changes: Any) -> Json:
    """One container that would pass the level restricted."""
    container = {
        "name": "main",
        "image": "busybox:1",
        "securityContext": SAFE,
        "resources": {"limits": resources or {}},
    }
    return {"restartPolicy": "Never", "containers": [container], **changes}


def pod(name: str, annotations: dict[str, str] | None = None, **spec: Any) -> Json:
    """A pod with the annotations of its script."""
    return {"metadata": {"name": name, "annotations": annotations or {}}, "spec": pod_spec(**spec)}


def job(name: str, annotations: dict[str, str] | None = None, *, spec: Json | None = None, **settings: Any) -> Json:
    """A Job that never tries again."""
    template = {"metadata": {"annotations": annotations or {}}, "spec": spec or pod_spec()}
    return {"metadata": {"name": name}, "spec": {"backoffLimit": 0, "template": template, **settings}}


def create_pod(api: Api, namespace: str, body: Json) -> Json:
    """The created pod."""
    return api.create(f"/api/v1/namespaces/{namespace}/pods", body)


def create_job(api: Api, namespace: str, body: Json) -> Json:
    """The created Job."""
    return api.create(JOBS.format(namespace), body)


def get_pod(api: Api, namespace: str, name: str) -> Json:
    """The pod as it is."""
    return api.get(f"/api/v1/namespaces/{namespace}/pods/{name}")


def get_job(api: Api, namespace: str, name: str) -> Json:
    """The Job as it is."""
    return api.get(f"{JOBS.format(namespace)}/{name}")


def pods(api: Api, namespace: str) -> list[Json]:
    """All pods of the namespace."""
    found: list[Json] = api.get(f"/api/v1/namespaces/{namespace}/pods")["items"]
    return found


def conditions(thing: Json) -> dict[str, Json]:
    """The conditions that hold, by type."""
    return {c["type"]: c for c in thing["status"].get("conditions", []) if c["status"] == "True"}


def events(api: Api, namespace: str, reason: str) -> list[Json]:
    """The events of that reason."""
    found: list[Json] = api.get(f"/api/v1/namespaces/{namespace}/events")["items"]
    return [event for event in found if event["reason"] == reason]


def state(thing: Json) -> Json:
    """The state of the pod's first container."""
    statuses = thing["status"].get("containerStatuses") or [{"state": {}}]
    found: Json = statuses[0]["state"]
    return found
