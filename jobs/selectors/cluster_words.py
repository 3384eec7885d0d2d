"""What the cluster itself says about members that wait or have failed, in its own words."""

from dataclasses import dataclass

from jobs.models import Attempt

LONGEST = 400
_FINE = frozenset({"", "Completed"})


@dataclass(frozen=True, slots=True)
class Said:
    """The same words about some members."""

    members: tuple[int, ...]
    reason: str
    message: str


def cluster_words(attempt: Attempt | None) -> list[Said]:
    """Of the last look at an attempt, in order of the first member. Untranslated: they are the cluster's."""
    found: dict[tuple[str, str], list[int]] = {}
    for member in attempt.members_seen if attempt else []:
        reason, message = str(member.get("reason") or ""), str(member.get("message") or "")[:LONGEST]
        if reason not in _FINE and member.get("phase") in ("Pending", "Failed", "Unknown"):
            found.setdefault((reason, message), []).append(int(member["index"]))
    return [Said(tuple(members), reason, message) for (reason, message), members in found.items()]
