"""The stage of a node: what an operator wants of it, what its cluster says, and what the portal has seen. Pure."""

from enum import StrEnum

HOLDS = ("cordoned", "draining", "retired")
"""Stages an operator may set; they stay until an operator takes them back."""
ON_CLUSTER = ("cordoned", "draining")
"""Those in which the node may be closed on its own cluster as well, for whoever else uses it."""


class Standing(StrEnum):
    """What the portal itself has against a node, though its cluster would have it take jobs."""

    NONE = ""
    NOT_VALIDATED = "NotValidated"
    """Its pool asks for a validation job, and none has passed yet."""
    VALIDATING = "Validating"
    FAILED = "ValidationFailed"
    """The last run did not pass, or could not be started."""
    VOID = "ValidationVoid"
    """A run passed, but what it ran on has changed since."""
    QUARANTINED = "Quarantined"


def standing_of(
    *, required: bool, proved: bool, voided: bool, running: bool, failed: bool, quarantined: bool
) -> Standing:
    """`proved` is a proof that still holds, `voided` one that no longer does. A quarantine outweighs any proof."""
    if running:
        return Standing.VALIDATING
    if quarantined:
        return Standing.QUARANTINED
    if not required or proved:
        return Standing.NONE
    if failed:
        return Standing.FAILED
    return Standing.VOID if voided else Standing.NOT_VALIDATED


def stage_of(held: str, *, ready: bool, schedulable: bool, standing: str = "") -> str:
    """A retired node stays retired; one that does not answer is unreachable; then the operator's word, its cluster's,
    and last the portal's own: what is not proved is discovered (R-10)."""
    if held == "retired":
        return held
    if not ready:
        return "unreachable"
    if held or not schedulable:
        return held or "cordoned"
    if standing == Standing.VALIDATING:
        return "validating"
    if standing == Standing.QUARANTINED:
        return "cordoned"
    return "discovered" if standing else "schedulable"
