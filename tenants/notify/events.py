"""The events people are told of: key, group, look, and the sentence with its facts. Text is made here and only here.

A message's placeholders name facts; `FACTS` says how each is stored and shown. A fact that is not there is a dash.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext

from portal.lib import units
from portal.lib.clock import from_ms
from portal.lib.errors import fill
from portal.lib.localised import listed, localised
from tenants.role_words import ROLE_WORDS
from tenants.roles import Role


class Event(StrEnum):
    """Keys, part of the API."""

    JOB_FAILED = "job.failed"
    JOB_SUCCEEDED = "job.succeeded"
    JOB_NEVER = "job.never"
    JOB_STOPPED_FOR = "job.stopped_for"
    ALLOCATION_LEAKED = "allocation.leaked"
    NODE_LOST = "node.lost"
    CLUSTER_UNREACHABLE = "cluster.unreachable"
    ROLE_GRANTED = "role.granted"
    ROLE_REMOVED = "role.removed"
    QUOTA_CHANGED = "quota.changed"
    GRANT_CHANGED = "grant.changed"
    RATE_PUBLISHED = "rate.published"
    TEMPLATE_RETIRED = "template.retired"


GROUPS: dict[str, str | Promise] = {
    "jobs": _("Jobs"),
    "fleet": _("Fleet"),
    "access": _("Roles"),
    "rules": _("Quota and rates"),
}


@dataclass(frozen=True, slots=True)
class Words:
    """How an event reads: its group, the state whose look it borrows, its message with {named} facts."""

    group: str
    look: str
    message: str | Promise


EVENTS: dict[Event, Words] = {
    Event.JOB_FAILED: Words("jobs", "failed", _("{job} failed: {why}")),
    Event.JOB_SUCCEEDED: Words("jobs", "succeeded", _("{job} succeeded: {why}")),
    Event.JOB_NEVER: Words("jobs", "never", _("{job} cannot start as things are: {why}")),
    Event.JOB_STOPPED_FOR: Words("jobs", "preempting", _("{job} was stopped and waits again: {why}")),
    Event.ALLOCATION_LEAKED: Words(
        "fleet",
        "leaked",
        _("What {job} held on cluster {cluster} was not seen free in time; it stays blocked for others."),
    ),
    Event.NODE_LOST: Words(
        "fleet", "unreachable", _("Left service on cluster {cluster}, pool {pool}: {names} ({count} in all).")
    ),
    Event.CLUSTER_UNREACHABLE: Words("fleet", "unreachable", _("Cluster {cluster} has not answered since {since}.")),
    Event.ROLE_GRANTED: Words("access", "allowed", _("You now hold the role {role} in {scope}.")),
    Event.ROLE_REMOVED: Words("access", "denied", _("You no longer hold the role {role} in {scope}.")),
    Event.QUOTA_CHANGED: Words(
        "rules",
        "validated",
        _("Quota of {scope} for {class} in pool {pool}: guarantee {guarantee}, nominal {nominal}, ceiling {ceiling}."),
    ),
    Event.GRANT_CHANGED: Words("rules", "validated", _("{scope} may use pool {pool} from {since} until {until}.")),
    Event.RATE_PUBLISHED: Words("rules", "validated", _("From {since} on, {class} has a new rate: {price} an hour.")),
    Event.TEMPLATE_RETIRED: Words(
        "jobs", "retired", _("Template {template} was retired: no new job can start from it.")
    ),
}

Reader = Callable[[str, Mapping[str, Any], datetime], str]
"""Makes a sentence of a reason and its facts; a higher app's, so it is handed in."""


def tell(event: str, facts: Mapping[str, Any], now: datetime, read_reason: Reader) -> str:
    """The sentence in the active language. An unknown event shows its own key."""
    if event not in EVENTS:
        return event
    return fill(EVENTS[Event(event)].message, _Shown(facts, now, read_reason))


class _Shown(dict[str, Any]):
    """Facts as text, made when the message asks for them."""

    def __init__(self, facts: Mapping[str, Any], now: datetime, read_reason: Reader) -> None:
        super().__init__({"why": ""} | {name: None for name in _SHOW} | dict(facts))
        self._facts, self._now, self._read = facts, now, read_reason
        for name in list(self):
            self[name] = self._text(name)

    def _text(self, name: str) -> str:
        if name == "why":
            return self._read(str(self._facts.get("reason", "")), self._facts.get("reason_facts") or {}, self._now)
        value = self._facts.get(name)
        if name in _SHOW:
            return _SHOW[name](value, self._facts, self._now)
        return "–" if value in (None, "") else str(value)


def _moment(value: Any, _facts: Mapping[str, Any], now: datetime) -> str:
    return "–" if value is None else units.near_time_text(from_ms(int(value)), timezone.get_current_timezone(), now)


def _until(value: Any, facts: Mapping[str, Any], now: datetime) -> str:
    return pgettext("end of a period", "further notice") if value is None else _moment(value, facts, now)


def _limit(value: Any, facts: Mapping[str, Any], _now: datetime) -> str:
    """An amount of the cell; null is no rule, which is never 0."""
    if value is None:
        return pgettext("quota limit", "none")
    return units.amount_text(int(value), _UNITS.get(str(facts.get("resource")), "count"))


def _price(value: Any, facts: Mapping[str, Any], _now: datetime) -> str:
    if value is None:
        return pgettext("price", "unrated")
    return units.money_text(int(value), str(facts.get("currency", "")))


def _role(value: Any, _facts: Mapping[str, Any], _now: datetime) -> str:
    return str(ROLE_WORDS[Role(value)]) if value in set(Role) else str(value or "–")


def _names(value: Any, _facts: Mapping[str, Any], _now: datetime) -> str:
    return listed(value or []) or "–"


def _name(value: Any, _facts: Mapping[str, Any], _now: datetime) -> str:
    return localised(value, "–") if isinstance(value, dict | str) else "–"


_UNITS: dict[str, units.Unit] = {"device": "devices", "cpu": "cpu", "memory": "bytes", "storage": "bytes"}
_SHOW: dict[str, Callable[[Any, Mapping[str, Any], datetime], str]] = {
    "since": _moment,
    "until": _until,
    "guarantee": _limit,
    "nominal": _limit,
    "ceiling": _limit,
    "price": _price,
    "role": _role,
    "names": _names,
    "class": _name,
    "pool": _name,
    "template": _name,
}
