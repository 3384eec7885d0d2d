"""Which attempts must never be made (again): one ConfigMap a namespace, so that it outlives the Jobs it speaks of.

A Job that exists speaks for itself. The fence holds what was forgotten, for as long as a worker that was held up could
still come with it.
"""

from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Any

from resources.drivers.base import DriverUnavailable
from resources.drivers.kubernetes import names
from resources.drivers.kubernetes.api import Api, Refused
from resources.drivers.kubernetes.connection import Right

KEPT = timedelta(days=2)
MOST = 5_000
"""Entries kept at most, the newest: a ConfigMap holds a megabyte."""
_TRIES = 5


def closed_generation(api: Api, namespace: str, job_id: str) -> int:
    """The newest generation of the job that is closed for ever; 0 when none is. Raises DriverUnavailable."""
    entries = (_read(api, namespace) or {}).get("data") or {}
    return _generation(entries.get(job_id, ""))


def close(api: Api, namespace: str, job_id: str, generation: int, now: datetime) -> None:
    """Close this generation and all before it. Idempotent. Raises DriverUnavailable and Refused."""

    def add(entries: dict[str, str]) -> dict[str, str]:
        newest = max(generation, _generation(entries.get(job_id, "")))
        return _pruned(entries | {job_id: f"{newest} {names.stamp(now)}"}, now)

    for _try in range(_TRIES):
        if _written(api, namespace, add):
            return
    raise DriverUnavailable("the fence is written by others all the time", reason="Conflict")


def _written(api: Api, namespace: str, change: Callable[[dict[str, str]], dict[str, str]]) -> bool:
    """False when somebody else wrote in between."""
    known = _read(api, namespace)
    path = f"/api/v1/namespaces/{namespace}/configmaps"
    try:
        if known is None:
            about = {"name": names.FENCE, "namespace": namespace}
            body = {"apiVersion": "v1", "kind": "ConfigMap", "metadata": about, "data": change({})}
            api.create(path, body, right=Right.RUNNER)
        else:
            api.replace(f"{path}/{names.FENCE}", known | {"data": change(known.get("data") or {})}, right=Right.RUNNER)
    except Refused as refusal:
        if refusal.status == 409:
            return False
        raise
    return True


def _read(api: Api, namespace: str) -> dict[str, Any] | None:
    try:
        return api.get(f"/api/v1/namespaces/{namespace}/configmaps/{names.FENCE}", right=Right.RUNNER)
    except Refused as refusal:
        if refusal.status == 404:
            return None
        raise


def _pruned(entries: dict[str, str], now: datetime) -> dict[str, str]:
    """Without what is too old for anybody to come with."""
    kept = {job: text for job, text in entries.items() if _at(text, now) > now - KEPT}
    newest = sorted(kept, key=lambda job: _at(kept[job], now))[-MOST:]
    return {job: kept[job] for job in newest}


def _generation(text: str) -> int:
    return names.number_of(text.partition(" ")[0]) or 0


def _at(text: str, now: datetime) -> datetime:
    return names.moment_of(text.partition(" ")[2]) or now
