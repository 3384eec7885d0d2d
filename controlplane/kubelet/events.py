"""The events a kubelet writes about its pods."""

import datetime
import uuid
from typing import Any

from controlplane.api import Api, Refused
from controlplane.kubelet.clock import Clock
from controlplane.kubelet.status import stamp

Json = dict[str, Any]


class Events:
    """Writes core/v1 events in the background; one that cannot be written is lost, as with a real kubelet."""

    def __init__(self, api: Api, clock: Clock) -> None:
        self.api = api
        self.clock = clock

    def normal(self, pod: Json, reason: str, message: str) -> None:
        """Something that should happen."""
        self.clock.soon(self._write, pod, "Normal", reason, message)

    def warning(self, pod: Json, reason: str, message: str) -> None:
        """Something that should not."""
        self.clock.soon(self._write, pod, "Warning", reason, message)

    def _write(self, pod: Json, kind: str, reason: str, message: str) -> None:
        metadata, now = pod["metadata"], stamp(datetime.datetime.now(datetime.UTC))
        body = {
            "metadata": {"name": f"{metadata['name'][:200]}.{uuid.uuid4().hex[:16]}"},
            "involvedObject": {
                "apiVersion": "v1",
                "kind": "Pod",
                **{key: metadata[key] for key in ("name", "namespace", "uid")},
            },
            "type": kind,
            "reason": reason,
            "message": message,
            "count": 1,
            "firstTimestamp": now,
            "lastTimestamp": now,
            "source": {"component": "kubelet", "host": pod["spec"]["nodeName"]},
            "reportingComponent": "kubelet",
            "reportingInstance": pod["spec"]["nodeName"],
        }
        try:
            self.api.create(f"/api/v1/namespaces/{metadata['namespace']}/events", body)
        except Refused as refusal:
            if refusal.status not in (403, 404):  # the namespace is being deleted
                raise
