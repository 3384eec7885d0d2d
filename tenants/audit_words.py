"""The audit trail in words: verbs, kinds of objects, fields and values.

A test finds every verb that the code writes and asks for its word here.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from django.utils import timezone
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from portal.lib import units
from portal.lib.localised import listed, localised
from tenants.role_words import ROLE_WORDS

VERBS: dict[str, str | Promise] = {
    "access.denied": _("was refused"),
    "session.signed_in": _("signed in"),
    "session.refused": _("was refused to sign in"),
    "session.signed_out": _("signed out"),
    "token.created": _("made a personal token"),
    "token.deleted": _("deleted a personal token"),
    "service_token.renewed": _("made a service token"),
    "user.created": _("made an account"),
    "user.activated": _("let a person sign in again"),
    "user.deactivated": _("blocked an account"),
    "user.password_renewed": _("gave a new password"),
    "team.created": _("made a team"),
    "team.changed": _("changed a team"),
    "team.deleted": _("deleted a team"),
    "project.created": _("made a project"),
    "project.changed": _("changed a project"),
    "project.archived": _("archived a project"),
    "project.restored": _("took a project out of the archive"),
    "role.granted": _("gave a role"),
    "role.revoked": _("took a role"),
    "pool.granted": _("granted a pool"),
    "grant.changed": _("changed a grant"),
    "grant.ended": _("ended a grant"),
    "quota.set": _("set a quota"),
    "quota.deleted": _("deleted a quota cell"),
    "job.submitted": _("submitted a job"),
    "job.changed": _("changed a waiting job"),
    "request.drafted": _("drafted a request"),
    "jobs.preempted": _("stopped jobs for another"),
    "job.cancelled": _("cancelled a job"),
    "allocation.leaked": _("reported resources that were not released"),
    "template.published": _("published a template"),
    "template.copied": _("copied a template"),
    "template.retired": _("retired a template"),
    "template.restored": _("restored a template"),
    "cluster.attached": _("attached a cluster"),
    "cluster.changed": _("changed a cluster"),
    "cluster.refused": _("was refused a dangerous connection"),
    "cluster.credential_rotated": _("gave a cluster a credential"),
    "cluster.credential_removed": _("removed a cluster's credential"),
    "vault.resealed": _("sealed credentials with a new key"),
    "cluster.paused": _("paused a cluster"),
    "cluster.detached": _("detached a cluster"),
    "node.cordoned": _("cordoned a node"),
    "node.cluster_cordon_asked": _("asked for a node's cordon on its cluster"),
    "node.cluster_cordon_lift_asked": _("asked to lift a node's cordon on its cluster"),
    "node.cluster_cordon_settled": _("brought a node's cordon on its cluster in step"),
    "node.cluster_cordon_drifted": _("saw that others lifted a node's cordon on its cluster"),
    "node.draining": _("drained a node"),
    "node.retired": _("retired a node"),
    "node.returned": _("brought a node back"),
    "node.admitted": _("admitted a node by hand"),
    "node.validation_asked": _("asked for the validation of a node"),
    "node.validated": _("saw a node pass its validation"),
    "node.validation_failed": _("saw a node fail its validation"),
    "node.validation_void": _("set a validation aside: the node changed meanwhile"),
    "node.quarantined": _("put a node in quarantine"),
    "pool.created": _("made a pool"),
    "pool.changed": _("changed a pool"),
    "pool.deleted": _("deleted a pool"),
    "pool.rules_set": _("set the rules of a pool"),
    "pool.admission_set": _("set how nodes come into service in a pool"),
    "class.defined": _("defined a resource class"),
    "class.changed": _("changed a resource class"),
    "class.retired": _("retired a resource class"),
    "pilot.applied": _("made the smallest pilot"),
    "class.fact_declared": _("declared a fact of a class"),
    "class.fact_withdrawn": _("withdrew a fact of a class"),
    "class.equivalence_declared": _("declared an equivalence of classes"),
    "class.equivalence_withdrawn": _("withdrew an equivalence of classes"),
    "vendor_row.added": _("said what a resource name means"),
    "vendor_row.changed": _("changed what a resource name means"),
    "vendor_row.removed": _("took off what a resource name means"),
    "runtime.declared": _("declared a runtime"),
    "runtime.changed": _("changed a runtime"),
    "runtime.retired": _("retired a runtime"),
    "rate.published": _("published a rate"),
}
TARGET_WORDS: dict[str, str | Promise] = {
    "Team": _("Team"),
    "Project": _("Project"),
    "User": _("Person"),
    "Job": _("Job"),
    "JobTemplate": _("Template"),
    "TemplateVersion": _("Template version"),
    "Cluster": _("Cluster"),
    "Node": _("Node"),
    "Pool": _("Pool"),
    "ResourceClass": _("Resource class"),
    "Runtime": _("Runtime"),
    "VendorRow": _("Vendor row"),
    "RateVersion": _("Rate"),
    "DataSource": _("Data source"),
    "Allocation": _("Allocation"),
}
FIELD_WORDS: dict[str, str | Promise] = {
    "name": _("Name"),
    "slug": _("Short name"),
    "contact": _("Contact"),
    "parent": _("Part of"),
    "team": _("Team"),
    "environment": _("Environment"),
    "archived_at": _("Archived"),
    "held_reason": _("Held back because"),
    "user": _("Person"),
    "username": _("User name"),
    "display_name": _("Name"),
    "email": _("E-mail"),
    "is_active": _("May sign in"),
    "role": _("Role"),
    "pool": _("Pool"),
    "class": _("Class"),
    "resource": _("Resource"),
    "guarantee": _("Guarantee"),
    "nominal": _("Nominal quota"),
    "ceiling": _("Ceiling"),
    "valid_from": _("From"),
    "valid_to": _("Until"),
    "class_ceiling": _("Highest priority"),
    "largest_job_parts": _("Largest job"),
    "longest_limit_ms": _("Longest run limit"),
    "most_at_once": _("Most jobs at once"),
    "token": _("Token"),
    "expiry": _("Works until"),
    "read_only": _("May only read"),
    "act": _("Request made"),
    "permission": _("Permission"),
    "template": _("Template"),
    "task_type": _("Task type"),
    "key": _("Key"),
    "kind": _("Kind"),
    "driver": _("Driver"),
    "selector": _("Selector"),
    "match": _("Match"),
    "maintainer": _("Maintainer"),
    "memory_bytes": _("Memory"),
    "state": _("State"),
    "stage": _("Stage"),
    "currency": _("Currency"),
    "facts": _("Facts"),
    "server": _("API server"),
    "authority": _("Authority"),
    "server_name": _("Name in its certificate"),
    "namespace": _("Namespace"),
    "observer_credential": _("Observer's credential"),
    "runner_credential": _("Runner's credential"),
    "steward_credential": _("Steward's credential"),
    "cluster_cordon": _("Cordon on its cluster"),
    "known_driver_only": _("Refuses unknown drivers"),
    "borrowing": _("Borrowing"),
}
RESOURCE_WORDS: dict[str, str | Promise] = {
    "device": _("Devices"),
    "cpu": _("CPU"),
    "memory": _("Memory"),
    "storage": _("Storage"),
}
_WORDS_OF: dict[str, Mapping[str, str | Promise]] = {
    "role": {str(role): word for role, word in ROLE_WORDS.items()},
    "resource": RESOURCE_WORDS,
}
_UNITS: dict[str, units.Unit] = {"device": "devices", "cpu": "cpu", "memory": "bytes", "storage": "bytes"}


@dataclass(frozen=True, slots=True)
class Changed:
    """A field of a record: its raw name, its word, and the texts before and after; "" where there is none."""

    name: str
    word: str | Promise
    before: str
    after: str


def field_word(name: str) -> str | Promise:
    """The field in words; one that is not known is shown as it is."""
    return FIELD_WORDS.get(name, name)


def value_text(name: str, value: Any, resource: str = "") -> str:
    """A stored value as a reader knows it; "" for none. `resource` gives amounts of a quota their unit."""
    if value is None or value == "":
        return ""
    if isinstance(value, bool):
        return str(_("yes") if value else _("no"))
    if isinstance(value, int):
        return _number_text(name, value, resource)
    if isinstance(value, list):
        return listed(value)
    if isinstance(value, dict):
        return localised(value) if "en" in value else listed(f"{key}={part}" for key, part in value.items())
    if name in _WORDS_OF:
        return str(_WORDS_OF[name].get(str(value), value))
    moment = _moment(value) if isinstance(value, str) else None
    if moment is not None:
        return units.time_text(moment, timezone.get_current_timezone(), "minute")
    return str(value)


def changes(before: Mapping[str, Any] | None, after: Mapping[str, Any] | None) -> list[Changed]:
    """Fields with the values before and after, as a reader knows them, in the order of their names."""
    sides = before or {}, after or {}
    resource = str((sides[1] or sides[0]).get("resource", ""))
    names = sorted({*sides[0], *sides[1]})
    texts = [[value_text(name, side.get(name), resource) for side in sides] for name in names]
    return [Changed(name, field_word(name), *pair) for name, pair in zip(names, texts, strict=True)]


def _number_text(name: str, value: int, resource: str) -> str:
    if name in ("guarantee", "nominal", "ceiling") and resource in _UNITS:
        return units.amount_text(value, _UNITS[resource])
    if name.endswith("_parts"):
        return units.devices_text(value)
    if name.endswith("_bytes"):
        return units.bytes_text(value)
    return units.duration_text(value) if name.endswith("_ms") else units.number(value)


def _moment(text: str) -> datetime | None:
    """The moment a stored text stands for, if it has date, time and zone as JSON writes them."""
    if len(text) < 20 or text[4:5] != "-" or text[10:11] != "T":
        return None
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return found.astimezone(UTC) if found.tzinfo else None


def word_of(verb: str) -> str | Promise:
    """The verb in words; one that is not known is shown as it is."""
    return VERBS.get(verb, verb)
