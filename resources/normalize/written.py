"""A reading as the JSON that `manage.py normalize-node --json` prints."""

from dataclasses import asdict
from typing import Any

from resources.normalize.facts import DeviceGroup, NodeReading, NodeState, Reason


def as_json(reading: NodeReading) -> dict[str, Any]:
    """Plain data; `reasons` are names, their facts stand beside them in `reason_facts`."""
    return {
        "name": reading.name,
        "host": _present(asdict(reading.host)) if reading.host else {},
        "node": _node(reading.node) if reading.node else {},
        "devices": [_device(group) for group in reading.devices],
        "companion_resources": {
            one.resource: {"belongs_to": one.belongs_to, "unit": one.unit, "total": one.total}
            for one in reading.companions
        },
        "ignored_resources": list(reading.ignored),
        "unrecognised_resources": [
            {
                "resource": one.resource,
                "slots_total": one.total,
                "slots_schedulable": one.schedulable,
                **_reasons(one.reasons),
            }
            for one in reading.unrecognised
        ],
        "driver": {one.part: one.version for one in reversed(reading.software)},
        "software": [asdict(one) for one in reading.software],
    }


def _node(state: NodeState) -> dict[str, Any]:
    return {
        "ready": state.ready.value,
        "schedulable": state.schedulable,
        "blocking_taints": list(state.blocking_taints),
        **_reasons(state.reasons),
    }


def _device(group: DeviceGroup) -> dict[str, Any]:
    optional = {
        "profile": group.profile,
        "cores": group.cores,
        "device_id": group.device_id,
        "slots_requested": group.slots_requested,
        "slots_free": group.slots_free,
    }
    return {
        "vendor": group.vendor,
        "kind": group.kind,
        "model": group.model,
        "resource": group.resource,
        "memory_bytes_per_device": group.memory_bytes,
        "physical_total": group.physical_total,
        "slots_total": group.slots_total,
        "slots_schedulable": group.slots_schedulable,
        "unit": group.unit,
        "sharing": group.sharing,
        "health": group.health.value,
        "verification": "verified" if group.verified else "not verified",
        **_reasons(group.reasons),
        **_present(optional),
        "sources": dict(group.sources),
    }


def _reasons(reasons: tuple[Reason, ...]) -> dict[str, Any]:
    return {
        "reasons": list(dict.fromkeys(reason.name for reason in reasons)),
        "reason_facts": [{"reason": reason.name, **reason.facts} for reason in reasons if reason.facts],
    }


def _present(values: dict[str, Any]) -> dict[str, Any]:
    return {key: value for key, value in values.items() if value is not None}
