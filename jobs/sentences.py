"""A reason and its stored facts as a sentence in the active language; facts are base units until here."""

from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any

from django.utils import timezone
from django.utils.translation import gettext as _
from django.utils.translation import pgettext

from jobs.reasons import BY_VALUE, FACTS, Fact, Reason
from portal.lib import units
from portal.lib.clock import from_ms
from portal.lib.errors import fill
from portal.lib.localised import listed
from resources.selectors.names import Kind, name_of

UNIT_OF_RESOURCE: dict[str, units.Unit] = {
    "device": "devices",
    "cpu": "cpu",
    "memory": "bytes",
    "storage": "bytes",
}


def sentence(reason: str, facts: Mapping[str, Any], now: datetime) -> str:
    """The sentence: fact first, numbers second, next step last. An unknown reason shows its own constant."""
    known = BY_VALUE.get(reason)
    if known is None:
        return reason
    shown = {name: show(name, facts, now) for name in known.placeholders}
    return fill(_(known.message), shown)


def show(name: str, facts: Mapping[str, Any], now: datetime) -> str:
    """One fact as text; what is not known is a dash."""
    kind = FACTS.get(name, Fact.TEXT)
    if kind is Fact.UNIT:
        return units.unit_word(unit_of(facts), _unit_amount(facts), _whole(facts))
    value = facts.get(name)
    if value is None or value == "":
        return "–"
    if name in _CALLED:
        return name_of(_CALLED[name], str(value))
    return _show(kind, value, facts, now)


def unit_of(facts: Mapping[str, Any]) -> units.Unit:
    """The unit of the amounts in these facts."""
    return UNIT_OF_RESOURCE.get(str(facts.get("resource", "")), "count")


def amount(value: int, facts: Mapping[str, Any]) -> str:
    """An amount of the facts' resource, without its unit word."""
    unit = unit_of(facts)
    return units.devices(value, _whole(facts)) if unit == "devices" else units.amount(value, unit)


def lines_text(lines: Any) -> str:
    """Amounts of classes, each by key or name, as a list: 8 cards of 80 GB training GPU, 4 cores."""
    shown = []
    for name, resource, value in lines:
        unit = UNIT_OF_RESOURCE.get(str(resource), "count")
        text = units.amount_text(int(value), unit)
        if unit == "devices":
            text = _("{amount} of {name}").format(amount=text, name=name_of("class", str(name)))
        shown.append(text)
    return listed(shown)


def _show(kind: Fact, value: Any, facts: Mapping[str, Any], now: datetime) -> str:
    if kind is Fact.AMOUNT:
        return amount(int(value), facts)
    if kind in (Fact.INSTANT, Fact.SINCE):
        return _show_time(kind, from_ms(int(value)), now)
    return _PLAIN.get(kind, cause_word)(value)


def _show_time(kind: Fact, moment: datetime, now: datetime) -> str:
    if kind is Fact.INSTANT:
        return units.near_time_text(moment, timezone.get_current_timezone(), now)
    return units.duration_text(max(0, units.milliseconds(now - moment)))


def _causes_text(causes: Any) -> str:
    return listed([f"{cause_word(str(cause))} ({units.number(int(count))})" for cause, count in causes])


def cause_word(value: Any) -> str:
    """A constant in a text fact reads as words where it has any."""
    words = {
        "cpu": pgettext("cause", "CPU"),
        "memory": pgettext("cause", "memory"),
        "device": pgettext("cause", "cards"),
        "storage": pgettext("cause", "storage"),
        "devices": pgettext("cause", "unhealthy cards"),
        "NotReady": pgettext("cause", "not ready"),
        "ClusterPaused": pgettext("cause", "its cluster is paused"),
        "Discovered": pgettext("cause", "not in service yet"),
        "Validating": pgettext("cause", "being validated"),
        "NotValidated": pgettext("cause", "not validated yet"),
        "ValidationFailed": pgettext("cause", "validation not passed"),
        "ValidationVoid": pgettext("cause", "changed since validation"),
        "Quarantined": pgettext("cause", "in quarantine"),
        "Cordoned": pgettext("cause", "cordoned"),
        "Draining": pgettext("cause", "draining"),
        "Unreachable": pgettext("cause", "unreachable"),
        "NodeNotReady": pgettext("cause", "not ready"),
        "KubeletNotReady": pgettext("cause", "not ready"),
        "NodeStatusUnknown": pgettext("cause", "it has stopped reporting"),
        "NodeStatusMissing": pgettext("cause", "it does not say whether it is ready"),
        "NetworkPluginNotReady": pgettext("cause", "network plugin not ready"),
        "NetworkUnavailable": pgettext("cause", "network not set up"),
        "ContainerRuntimeDown": pgettext("cause", "container runtime down"),
        "PodLifecycleStuck": pgettext("cause", "container states stuck"),
        "MemoryPressure": pgettext("cause", "short of memory"),
        "DiskPressure": pgettext("cause", "short of disk space"),
        "PidPressure": pgettext("cause", "short of process numbers"),
        "ControlPlaneTaint": pgettext("cause", "kept for the control plane"),
        "NodeTerminating": pgettext("cause", "being removed"),
        "Retired": pgettext("cause", "retired"),
        "Maintenance": pgettext("cause", "maintenance"),
        "NewLimit": pgettext("cause", "another run limit"),
        "NewSize": pgettext("cause", "a smaller size"),
        "NewPool": pgettext("cause", "one more pool"),
        "NewClass": pgettext("cause", "one more class"),
        "pods": pgettext("cause", "places for pods"),
        "slots": pgettext("cause", "places for pods"),
        "together": pgettext("cause", "all of it together"),
        Reason.OUTCOME_UNKNOWN.value: pgettext("cause", "its end was not observed"),
        Reason.NODE_LOST.value: pgettext("cause", "the node was lost"),
        Reason.READY_TIMEOUT.value: pgettext("cause", "it did not start in time"),
        Reason.APPLICATION_FAILED.value: pgettext("cause", "its process was killed"),
        "Vanished": pgettext("cause", "it vanished from the cluster"),
        "NoExitRecord": pgettext("cause", "nobody saw it exit"),
    }
    text = str(value)
    return words.get(text) or words.get(text.capitalize()) or text


def _unit_amount(facts: Mapping[str, Any]) -> int:
    for name in ("need", "max", "nominal", "free", "held"):
        if isinstance(facts.get(name), int):
            return int(facts[name])
    return 0


def _whole(facts: Mapping[str, Any]) -> int:
    return int(facts.get("whole") or units.DEVICE_PARTS)


_CALLED: dict[str, Kind] = {"res": "class", "class_key": "class", "pool": "pool", "runtime": "runtime"}
_PLAIN: dict[Fact, Callable[[Any], str]] = {
    Fact.COUNT: lambda value: units.number(int(value)),
    Fact.SPAN: lambda value: units.duration_text(int(value)),
    Fact.NAMES: lambda value: listed([name_of("pool", str(item)) for item in value]) or "–",
    Fact.LINES: lines_text,
    Fact.CAUSES: _causes_text,
}
