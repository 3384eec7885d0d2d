"""The host's amounts, and whether pods may start on the node."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from resources.normalize.amounts import BadAmount, milli, whole
from resources.normalize.documents import Problems, items, mapping, plain
from resources.normalize.facts import Host, NodeState, Ready, Reason

_HOST = {
    "cpu_milli": ("cpu", milli),
    "memory_bytes": ("memory", whole),
    "ephemeral_bytes": ("ephemeral-storage", whole),
}
_BLOCKING = ("NoSchedule", "NoExecute")
_CONTROL_PLANE = ("node-role.kubernetes.io/control-plane", "node-role.kubernetes.io/master")
_CORDON = "node.kubernetes.io/unschedulable"
_BY_READY = ("node.kubernetes.io/not-ready", "node.kubernetes.io/unreachable")  # the Ready condition says it better
_VIRTUAL = "virtual-kubelet.io/provider"
_READY = {"True": Ready.READY, "False": Ready.NOT_READY}
_CONDITIONS = {
    "MemoryPressure": "MemoryPressure",
    "DiskPressure": "DiskPressure",
    "PIDPressure": "PidPressure",
    "NetworkUnavailable": "NetworkUnavailable",
}
# What the kubelet's message names as the cause; its own constant words.
_CAUSES = {
    "NetworkPluginNotReady": "NetworkPluginNotReady",
    "cni config uninitialized": "NetworkPluginNotReady",
    "cni plugin not initialized": "NetworkPluginNotReady",
    "container runtime is down": "ContainerRuntimeDown",
    "container runtime status check may not have completed": "ContainerRuntimeDown",
    "PLEG is not healthy": "PodLifecycleStuck",
}


def read_host(capacity: Mapping[str, Any], allocatable: Mapping[str, Any], problems: Problems) -> Host:
    """Amounts of the host, rounded up; what cannot be read is unknown and named in `problems`."""
    found = {}
    for block, amounts in (("capacity", capacity), ("allocatable", allocatable)):
        for name, (key, read) in _HOST.items():
            if key in amounts:
                try:
                    found[f"{name}_{block}"] = read(amounts[key])
                except BadAmount as bad:
                    problems.add(f"status.{block}.{key}", bad.reason)
    assert found.keys() <= {entry.name for entry in fields(Host)}
    return Host(**found)


def read_state(node: Mapping[str, Any], labels: Mapping[str, str], problems: Problems) -> NodeState:
    """Ready, taints and cordon. A node that does not say that it is ready is unknown, never ready."""
    metadata = mapping(node.get("metadata"), "metadata", problems)
    spec = mapping(node.get("spec"), "spec", problems)
    status = mapping(node.get("status"), "status", problems)
    conditions = items(status.get("conditions"), "status.conditions", problems)
    ready, reasons = _ready(conditions)
    taints = _taints(items(spec.get("taints"), "spec.taints", problems), problems)
    reasons += _pressure(conditions) + _taint_reasons([key for key, _, _ in taints])
    cordoned = _cordoned(spec.get("unschedulable"), problems)
    leaving = metadata.get("deletionTimestamp") is not None
    if cordoned and Reason("Cordoned") not in reasons:
        reasons.insert(0, Reason("Cordoned"))
    if leaving:
        reasons.append(Reason("NodeTerminating"))
    if labels.get("type") == "virtual-kubelet" or any(key == _VIRTUAL for key, _, _ in taints):
        reasons.append(Reason("VirtualNode"))
    return NodeState(
        ready=ready,
        schedulable=ready is Ready.READY and not (cordoned or taints or leaving),
        blocking_taints=tuple(f"{key}={value}:{effect}" for key, value, effect in taints),
        reasons=(*reasons, *problems.reasons()),
    )


def _ready(conditions: list[Mapping[str, Any]]) -> tuple[Ready, list[Reason]]:
    said = [entry for entry in conditions if entry.get("type") == "Ready"]
    states = {_READY.get(plain(entry.get("status")) or "", Ready.UNKNOWN) for entry in said}
    ready = states.pop() if len(states) == 1 else Ready.UNKNOWN
    if ready is Ready.READY:
        return ready, []
    if ready is Ready.UNKNOWN:
        return ready, [Reason("NodeStatusUnknown" if said else "NodeStatusMissing")]
    message = str(said[0].get("message") or "")[:4096]
    causes = {cause for words, cause in _CAUSES.items() if words in message}
    return ready, [Reason("NodeNotReady"), *(Reason(cause) for cause in sorted(causes))]


def _pressure(conditions: list[Mapping[str, Any]]) -> list[Reason]:
    pressing = {str(entry.get("type")) for entry in conditions if entry.get("status") == "True"}
    return [Reason(reason) for kind, reason in _CONDITIONS.items() if kind in pressing]


def _taints(raw: list[Mapping[str, Any]], problems: Problems) -> list[tuple[str, str, str]]:
    """Key, value and effect of those that keep pods away; one that cannot be read does."""
    found = []
    for entry in raw:
        effect = entry.get("effect")
        if effect in ("PreferNoSchedule",):
            continue
        key, value = plain(entry.get("key"), 317), entry.get("value")
        if key is None or effect not in _BLOCKING or not (value in (None, "") or plain(value)):
            problems.add("spec.taints")
        found.append((key or "?", value if value and plain(value) else "", effect if effect in _BLOCKING else "?"))
    return found


def _taint_reasons(keys: list[str]) -> list[Reason]:
    found: list[Reason] = []
    for key in dict.fromkeys(keys):
        if key in _BY_READY:
            continue
        known = "Cordoned" if key == _CORDON else "ControlPlaneTaint" if key in _CONTROL_PLANE else None
        reason = Reason(known) if known else Reason("Tainted", {"taint": key})
        if reason not in found:
            found.append(reason)
    return found


def _cordoned(value: object, problems: Problems) -> bool:
    if not (value is None or isinstance(value, bool)):
        problems.add("spec.unschedulable")
        return True  # kept away until it can be read
    return value is True
