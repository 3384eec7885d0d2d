"""How each state looks: glyph, tone and word together, so that colour is never the only carrier.

Waiting is normal (slate); amber is for what needs a person; done is quiet; "not observed" is never a tick.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import pgettext_lazy

from portal.lib.display import RailStage, Tone


@dataclass(frozen=True, slots=True)
class Look:
    """`glyph` is a symbol of the sprite without its `s-`."""

    glyph: str
    tone: Tone
    word: str | Promise


UNKNOWN = Look("unknown", "off", _("Unknown"))

LOOKS: dict[str, Look] = {
    # job states and the stages of the rail
    "selected": Look("done", "off", _("Selected")),
    "held": Look("held", "wait", _("Pending approval")),
    "queued": Look("queued", "wait", _("Queued")),
    "requeued": Look("queued", "wait", _("Requeued")),
    "admitted": Look("admitted", "wait", _("Admitted")),
    "starting": Look("starting", "ok", _("Starting")),
    "running": Look("running", "ok", _("Running")),
    "stopping": Look("stopping", "warn", _("Stopping")),
    "preempting": Look("preempt", "warn", _("Being preempted")),
    "suspended": Look("held", "off", _("Suspended")),
    "succeeded": Look("done", "off", _("Succeeded")),
    "failed": Look("failed", "bad", _("Failed")),
    "cancelled": Look("never", "off", _("Cancelled")),
    "timed_out": Look("queued", "bad", _("Timed out")),
    "declined": Look("never", "off", _("Declined")),
    # allocations
    "reserved": Look("admitted", "wait", _("Reserved")),
    "bound": Look("running", "ok", _("Bound")),
    "releasing": Look("releasing", "warn", _("Releasing")),
    "released": Look("done", "ok", _("Released")),
    "leaked": Look("warn", "bad", _("Release not confirmed")),
    "archived": Look("done", "off", _("Archived")),
    # nodes and clusters
    "discovered": Look("next", "off", _("Discovered")),
    "validating": Look("starting", "wait", _("Validating")),
    "schedulable": Look("done", "ok", _("Schedulable")),
    "healthy": Look("done", "ok", _("Healthy")),
    "cordoned": Look("cordon", "warn", _("Cordoned")),
    "draining": Look("releasing", "warn", _("Draining")),
    "maintenance": Look("held", "off", _("Maintenance")),
    "unreachable": Look("unknown", "bad", _("Unreachable")),
    "degraded": Look("warn", "warn", _("Degraded")),
    "unhealthy": Look("failed", "bad", _("Unhealthy")),
    "stale": Look("unknown", "warn", _("Stale")),
    "retired": Look("never", "off", _("Retired")),
    "attached": Look("done", "ok", _("Attached")),
    "paused": Look("held", "warn", _("Paused")),
    "detached": Look("never", "off", _("Detached")),
    "simulated": Look("sim", "sim", _("Simulated")),
    # what a cluster allows a credential
    "granted": Look("done", "ok", _("Granted")),
    "missing": Look("failed", "bad", _("Missing")),
    "not_asked": Look("unknown", "off", _("Not asked")),
    "absent": Look("never", "off", _("No credential")),
    "too_much": Look("warn", "bad", _("More than it should")),
    # what a cluster is made of
    "present": Look("done", "off", _("Present")),
    "not_there": Look("never", "off", _("Not there")),
    # evidence
    "validated": Look("done", "ok", _("Validated")),
    "conditional": Look("admitted", "warn", _("With conditions")),
    "to_be_validated": Look("unknown", "off", _("To be validated")),
    "verified": Look("done", "ok", _("Verified")),
    "not_verified": Look("unknown", "off", _("Not verified")),
    "not_passed": Look("failed", "bad", _("Not passed")),
    "expired": Look("queued", "warn", _("Expired")),
    "not_observed": Look("unknown", "off", _("Not observed")),
    # periods and queues
    "period_open": Look("next", "off", pgettext_lazy("metering period", "Open")),
    "period_closed": Look("held", "off", pgettext_lazy("metering period", "Closed")),
    "queue_open": Look("running", "ok", pgettext_lazy("queue", "Open")),
    "queue_paused": Look("held", "warn", _("Admission paused")),
    "queue_closed": Look("never", "off", pgettext_lazy("queue", "Closed")),
    # verdicts
    "now": Look("running", "ok", pgettext_lazy("verdict", "NOW")),
    "wait": Look("queued", "wait", pgettext_lazy("verdict", "WAIT")),
    "never": Look("never", "bad", pgettext_lazy("verdict", "NEVER")),
    "undecided": Look("unknown", "off", pgettext_lazy("verdict", "OPEN")),
    # audit results
    "allowed": Look("done", "off", _("Allowed")),
    "denied": Look("never", "warn", _("Denied")),
}

KINDS: dict[str, tuple[str, str | Promise]] = {
    "gpu": ("k-gpu", "GPU"),
    "npu": ("k-npu", "NPU"),
    "accelerator": ("k-acc", _("Accelerator")),
    "cpu": ("k-cpu", "CPU"),
    "memory": ("k-mem", _("Memory")),
    "storage": ("k-sto", _("Storage")),
    "network": ("k-net", _("Network")),
}


def look(code: object) -> Look:
    """The look of a state constant in any case; a code without one reads "Unknown", never green."""
    return LOOKS.get(str(code).strip().lower(), UNKNOWN)


def kind_class(kind: object) -> str:
    """The CSS class that sets the kind's hue; a kind without a hue of its own is grey."""
    return KINDS.get(str(kind).strip().lower(), ("k-acc", ""))[0]


def kind_word(kind: object) -> str:
    """The kind's word; an unknown kind is shown as it is called."""
    known = KINDS.get(str(kind).strip().lower())
    return str(known[1]) if known else str(kind)


def stage_shapes(stages: Sequence[RailStage]) -> list[dict[str, Any]]:
    """Each stage with its class and glyph; the last one neither done nor to come is the current step."""
    live = [place for place, stage in enumerate(stages) if stage.status in ("now", "bad", "warn")]
    return [
        {
            "stage": stage,
            "current": live[-1:] == [place],
            "css": _stage_css(stage),
            "glyph": _stage_glyph(stage),
        }
        for place, stage in enumerate(stages)
    ]


def _stage_css(stage: RailStage) -> str:
    if stage.status == "now":
        tone = look(stage.key).tone
        return f"now {tone}" if tone in ("ok", "warn", "bad") else "now"
    return {"done": "done", "bad": "now bad", "warn": "now warn"}.get(stage.status, "")


def _stage_glyph(stage: RailStage) -> str:
    fixed = {"done": "done", "bad": "failed", "warn": "warn", "next": "next"}
    return fixed.get(stage.status) or look(stage.key).glyph
