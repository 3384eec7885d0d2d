"""What a steward may do to the nodes of a cluster that others use too. Pure: a dataclass and a Protocol."""

from dataclasses import dataclass
from typing import Protocol


@dataclass(frozen=True, slots=True)
class CordonSeen:
    """A node's cordon on its own cluster, as read now."""

    cordoned: bool
    mark: str
    """The mark that a portal left there; "" where none did."""
    by_us: bool | None
    """Whether the cordon that stands is the last thing a portal wrote; None: the cluster does not tell."""
    version: str = ""
    """Of the node, so that what changed meanwhile is not written over."""
    uid: str = ""


class Steward(Protocol):
    """The door to a cluster's nodes. Every call may raise DriverUnavailable; a repeated one changes nothing."""

    def look(self, node: str) -> CordonSeen | None:
        """How it stands; None when there is no such node."""

    def write(self, node: str, seen: CordonSeen, *, cordoned: bool, mark: str) -> bool:
        """Make it so, `mark` "" taking the mark off. False when the node changed since `seen`: look again."""
