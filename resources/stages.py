"""The stage of a node: what an operator wants of it, and what its cluster says. Pure."""

HOLDS = ("cordoned", "draining", "retired")
"""Stages an operator may set; they stay until an operator takes them back."""


def stage_of(held: str, *, ready: bool, schedulable: bool) -> str:
    """A retired node stays retired; one that does not answer is unreachable; then the operator's word, then its own.

    Validation jobs are not there yet: a discovered node that is ready is taken into service at once (R-10 open).
    """
    if held == "retired":
        return held
    if not ready:
        return "unreachable"
    return held or ("schedulable" if schedulable else "cordoned")
