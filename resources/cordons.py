"""What the portal does next about a cordon on a cluster itself: what was asked against what is seen there. Pure.

A cordon is the portal's only while its mark is on the node and nobody else wrote the cordon since: nothing else is ever
lifted, and what others lift is shown, not fought over.
"""

from dataclasses import dataclass

from resources.drivers.steward import CordonSeen

ASKED, SET, THEIRS, DRIFTED, LIFTING, CLOSED = "asked", "set", "theirs", "drifted", "lifting", "closed"
LIFTED, NOT_OURS, NOTHING, GONE = "lifted", "not_ours", "nothing", "gone"
UNSETTLED = (ASKED, LIFTING)
"""States in which the cluster is still to be told."""


@dataclass(frozen=True, slots=True)
class Write:
    """What to make of the node."""

    cordoned: bool
    mark: str


@dataclass(frozen=True, slots=True)
class Step:
    """What to write there first, if anything, and the state that then holds."""

    state: str
    outcome: str = ""
    write: Write | None = None


def next_step(state: str, mark: str, seen: CordonSeen | None) -> Step:
    """Of a row in this state whose id is `mark`. Taken again after a crash it comes to the same."""
    if seen is None:
        return Step(CLOSED, GONE)
    ours = seen.cordoned and seen.mark == mark and seen.by_us is not False
    if state == ASKED:
        if ours:
            return Step(SET)  # written before, and the answer was lost
        if seen.cordoned:
            return Step(THEIRS)
        return Step(SET, write=Write(cordoned=True, mark=mark))
    if state == LIFTING:
        if ours:
            return Step(CLOSED, LIFTED, Write(cordoned=False, mark=""))
        # What is left of ours is taken off all the same; a cordon of others stays.
        tidy = Write(cordoned=seen.cordoned, mark="") if seen.mark == mark else None
        return Step(CLOSED, NOT_OURS if seen.cordoned else NOTHING, tidy)
    return Step(state)


def has_drifted(state: str, *, cordoned: bool) -> bool:
    """Whether the cluster no longer has what was asked of it."""
    return state in (SET, THEIRS) and not cordoned
