"""The status objects that a kubelet writes: of nodes and of pods. Pure."""

import datetime
from collections.abc import Mapping
from typing import Any

Json = dict[str, Any]
FAKE = "fake://"


def stamp(now: datetime.datetime) -> str:
    """The API's time, whole seconds."""
    return now.strftime("%Y-%m-%dT%H:%M:%SZ")


def micro(now: datetime.datetime) -> str:
    """The API's time with microseconds, as leases want it."""
    return now.strftime("%Y-%m-%dT%H:%M:%S.%fZ")


def node_conditions(now: datetime.datetime, *, ready: bool) -> list[Json]:
    """The four conditions of a node; they carry the heartbeat and, when they change, the time of it."""
    fine = ("Ready", "True", "KubeletReady", "the fake kubelet is ready")
    ill = ("Ready", "False", "KubeletNotReady", "container runtime network not ready: no plugin")
    rows = [fine if ready else ill]
    rows += [(kind, "False", f"KubeletHasNo{kind}", "") for kind in ("MemoryPressure", "DiskPressure", "PIDPressure")]
    return [
        {"type": kind, "status": status, "reason": reason, "message": message, "lastHeartbeatTime": stamp(now)}
        for kind, status, reason, message in rows
    ]


def pending(pod: Json, reason: str, now: datetime.datetime, message: str = "", restarts: int = 0) -> Json:
    """Not running: every container waits for the same reason."""
    state = {"waiting": {"reason": reason, **({"message": message} if message else {})}}
    phase = "Running" if restarts else "Pending"
    conditions = pod_conditions(now, initialized=not pod["spec"].get("initContainers"), ready=False)
    return {**_place(pod, now), "phase": phase, "conditions": conditions, **_containers(pod, state, restarts=restarts)}


def initializing(pod: Json, started: datetime.datetime, now: datetime.datetime) -> Json:
    """The first init container runs; the others and the containers wait."""
    first, *others = pod["spec"]["initContainers"]
    init = [_container(first, pod, {"running": {"startedAt": stamp(started)}}, ready=False)]
    init += [_container(c, pod, {"waiting": {"reason": "PodInitializing"}}, ready=False) for c in others]
    return {**pending(pod, "PodInitializing", now), "initContainerStatuses": init}


def init_failed(pod: Json, code: int, started: datetime.datetime, now: datetime.datetime) -> Json:
    """The end of a pod whose init container failed."""
    ended = _terminated(pod, code, "Error", "", started, now)
    init = [_container(c, pod, ended, ready=False) for c in pod["spec"]["initContainers"]]
    return {**pending(pod, "PodInitializing", now), "phase": "Failed", "initContainerStatuses": init}


def running(pod: Json, started: datetime.datetime, *, ready: bool, restarts: int) -> Json:
    """All containers run; `started` is the start of this run."""
    state = {"running": {"startedAt": stamp(started)}}
    status = {
        **_place(pod, started),
        "phase": "Running",
        "conditions": pod_conditions(started, initialized=True, ready=ready),
        **_containers(pod, state, ready=ready, restarts=restarts),
    }
    done = _terminated(pod, 0, "Completed", "", started, started)
    if pod["spec"].get("initContainers"):
        status["initContainerStatuses"] = [_container(c, pod, done, ready=True) for c in pod["spec"]["initContainers"]]
    return status


def ended(
    pod: Json,
    *,
    code: int,
    reason: str,
    message: str,
    started: datetime.datetime,
    now: datetime.datetime,
    restarts: int = 0,
) -> Json:
    """The pod's end; it failed when the exit code is not 0."""
    state = _terminated(pod, code, reason, message, started, now)
    return {
        "phase": "Failed" if code else "Succeeded",
        "conditions": pod_conditions(now, initialized=True, ready=False),
        **_containers(pod, state, restarts=restarts),
    }


def pod_conditions(now: datetime.datetime, *, initialized: bool, ready: bool) -> list[Json]:
    """The conditions that a kubelet keeps; PodScheduled is the scheduler's."""
    values = {"Initialized": initialized, "Ready": ready, "ContainersReady": ready}
    return [
        {"type": kind, "status": "True" if value else "False", "lastTransitionTime": stamp(now)}
        for kind, value in values.items()
    ]


def _place(pod: Json, started: datetime.datetime) -> Json:
    address = "10.244.0.1"
    begun = pod.get("status", {}).get("startTime") or stamp(started)
    return {"hostIP": "127.0.0.1", "podIP": address, "podIPs": [{"ip": address}], "startTime": begun}


def _containers(pod: Json, state: Json, *, ready: bool = False, restarts: int = 0) -> Json:
    return {
        "containerStatuses": [
            _container(c, pod, state, ready=ready, restarts=restarts) for c in pod["spec"]["containers"]
        ]
    }


def _container(container: Mapping[str, Any], pod: Json, state: Json, *, ready: bool, restarts: int = 0) -> Json:
    status = {
        "name": container["name"],
        "image": container["image"],
        "imageID": "" if "waiting" in state else f"{FAKE}{container['image']}",
        "ready": ready,
        "started": "running" in state,
        "restartCount": restarts,
        "state": state,
    }
    return status if "waiting" in state else {**status, "containerID": _identity(pod)}


def _terminated(
    pod: Json, code: int, reason: str, message: str, started: datetime.datetime, now: datetime.datetime
) -> Json:
    times = {"startedAt": stamp(started), "finishedAt": stamp(now)}
    told = {"message": message} if message else {}
    return {"terminated": {"exitCode": code, "reason": reason, "containerID": _identity(pod), **times, **told}}


def _identity(pod: Json) -> str:
    return f"{FAKE}{pod['metadata']['uid']}"
