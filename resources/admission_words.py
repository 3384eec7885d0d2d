"""What stands against a node and what happened to it, in words."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from resources.admission import Change, changes_of
from resources.drivers.base import WHOLE_DEVICE
from resources.models import Admission, Node, NodeEvent
from resources.normalize.reasons import SENTENCES
from resources.standing import ground_of_rows

Text = str | Promise
CAUSES: Final[dict[str, Text]] = {
    "NotValidated": gettext_lazy("Waits for its validation job."),
    "Validating": gettext_lazy("A validation job is under way."),
    "ValidationFailed": gettext_lazy("Its validation did not pass."),
    "ValidationVoid": gettext_lazy("It has changed since its validation passed."),
    "Quarantined": gettext_lazy("In quarantine."),
    "RepeatedFailures": gettext_lazy("The platform failed several different jobs here."),
    "DeviceFault": gettext_lazy("A device failed under a job."),
    "Validated": gettext_lazy("Its validation passed."),
    "AdmittedByHand": gettext_lazy("Admitted by hand."),
    "AdmissionRule": gettext_lazy("The admission rule of its pool was set."),
    "ValidationAsked": gettext_lazy("A validation was asked for."),
    "Admitted": gettext_lazy("Nothing keeps it out of service."),
    "Ready": gettext_lazy("Its cluster reports it ready."),
    "Discovered": gettext_lazy("Seen for the first time."),
    "Cordoned": gettext_lazy("Cordoned by an operator."),
    "Draining": gettext_lazy("Drained by an operator."),
    "Retired": gettext_lazy("Retired by an operator."),
    "Returned": gettext_lazy("Brought back by an operator."),
    "NotListed": gettext_lazy("The cluster no longer lists the node."),
    "DevicesTurned": gettext_lazy("Its devices give something else than before."),
    # why a run could not be asked for
    "ProjectArchived": gettext_lazy("The project that pays for validation jobs is archived."),
    "TemplateRetired": gettext_lazy("The template of validation jobs is retired."),
    "TemplateOfAnotherKind": gettext_lazy("The template runs on another kind of cluster than the node's."),
    "NoUsableDevice": gettext_lazy("No device of the node works and is free of other users."),
    "JobGone": gettext_lazy("The validation job is gone."),
    "InvalidInput": gettext_lazy("The template does not fit the node or its pool."),
    "RuntimeNotDeclared": gettext_lazy("No runtime is declared for what the template and the node need."),
    "PoolRefusesTask": gettext_lazy("The pool takes no jobs of the template's type, or its grant is over."),
}


HEALTH_WORDS = {
    "healthy": gettext_lazy("Healthy"),
    "degraded": gettext_lazy("Degraded"),
    "unhealthy": gettext_lazy("Unhealthy"),
    "unknown": gettext_lazy("Unknown"),
}


def cause_word(code: str) -> str:
    """A cause as a sentence; one that has none as it is called."""
    said = SENTENCES.get(code, "")
    return str(CAUSES.get(code) or (_(said) if said and "{" not in said else code))


@dataclass(frozen=True, slots=True)
class Standing:
    """What the node page says about the admission of a node."""

    node: Node
    rule: str
    word: str
    verdict: str
    """A state of the interface: verified, by hand, before the rule, or nothing proved."""
    proved: str
    at: datetime | None
    facts: tuple[tuple[str, str], ...]
    used: tuple[tuple[str, int], ...]
    """Devices the run held: class and number."""
    changes: tuple[Change, ...]
    failed: str
    """The code of why the last run did not pass, or could not be asked for; "" where none failed."""
    ended: datetime | None
    again: datetime | None
    """When the next run is due by itself."""

    @property
    def proof_job(self) -> str:
        """The id of the job that is the evidence; "" where there is none."""
        return str(self.node.proof.get("job", ""))

    @property
    def trial_job(self) -> str:
        """The id of the open run, or of the last one that did not pass."""
        return str(self.node.trial.get("job", ""))


def standing_words(node: Node) -> Standing:
    """Of a node with its pool and groups."""
    proof, trial = node.proof, node.trial
    ground = ground_of_rows(node, node.groups.all())
    verdict, proved = _proved(proof, node.cluster.simulated)
    return Standing(
        node=node,
        rule=str(Admission(node.pool.admission).label) if node.pool else "",
        word=cause_word(node.standing) if node.standing else "",
        verdict=verdict,
        proved=proved,
        at=_moment(proof.get("at")),
        facts=tuple(_facts(proof.get("facts", {}))),
        used=tuple((key, amount // WHOLE_DEVICE) for key, resource, amount in _used(proof) if resource == "device"),
        changes=tuple(changes_of(proof["facts"], ground)) if proof else (),
        failed=str(trial.get("reason", "")),
        ended=_moment(trial.get("ended")),
        again=_moment(trial.get("next")),
    )


def _used(proof: Mapping[str, Any]) -> list[Any]:
    return list(proof.get("used", ()))


def _proved(proof: Mapping[str, Any], simulated: bool) -> tuple[str, str]:
    match proof.get("by"):
        case "run" if simulated:
            return "simulated", _("A simulated run passed: it says nothing about hardware.")
        case "run":
            return "verified", _("A validation job ran here, succeeded, and gave everything back.")
        case "hand":
            text = _("Admitted by hand by {who}, not verified: {note}")
            return "not_verified", text.format(who=proof.get("who") or "–", note=proof.get("note", ""))
        case "before":
            return "not_verified", _("In service before its pool asked for validation, not verified.")
    return "not_verified", _("No run has proved it.")


def _facts(facts: Mapping[str, Any]) -> list[tuple[str, str]]:
    unseen = _("not observed")
    found = [(_("Container runtime"), facts.get("runtime") or unseen)] if facts else []
    for name, part in facts.get("devices", {}).items():
        text = _("{n} devices, model {model}, driver {driver}")
        said = {"n": part["devices"], "model": part["model"] or unseen, "driver": part["driver"] or unseen}
        found.append((name, text.format(**said)))
    return found


def _moment(text: object) -> datetime | None:
    return datetime.fromisoformat(text) if isinstance(text, str) else None


@dataclass(frozen=True, slots=True)
class EventRow:
    """A change of a node's stage as the page lists it."""

    event: NodeEvent
    word: str
    note: str
    job: str
    ref: str


def event_rows(events: list[NodeEvent]) -> list[EventRow]:
    """In their order."""
    return [
        EventRow(
            event=one,
            word=cause_word(one.cause),
            note=str(one.facts.get("note", "")) or _changed(one.facts.get("changed", ())),
            job=str(one.facts.get("job", "")),
            ref=str(one.facts.get("ref", "")),
        )
        for one in events
    ]


def _changed(changes: object) -> str:
    rows = changes if isinstance(changes, list | tuple) else ()
    return "; ".join(f"{fact}: {_in_words(was) or '–'} → {_in_words(now) or '–'}" for fact, was, now in rows)


def _in_words(value: object) -> str:
    """A value of a fact; the health of a group, which stands before its count, as pages say it."""
    health, _space, count = str(value or "").partition(" ")
    return f"{HEALTH_WORDS[health]} {count}" if health in HEALTH_WORDS else str(value or "")
