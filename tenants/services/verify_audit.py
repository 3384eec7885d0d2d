"""Read the audit chain in order and compute every hash again. Writes nothing."""

from dataclasses import dataclass
from typing import Final

from tenants.chain import GENESIS, chain_hash
from tenants.models import AuditEvent

CHECKED: Final = 5_000  # how many of the newest records a page or an API call reads


@dataclass(frozen=True, slots=True)
class ChainState:
    """What was found: records `first` to `last` hold together, `count` of them.

    `broken_at` is the sequence number of the first record that does not, or that is missing; None when all hold.
    `reason` is Gap, PrevHashMismatch or HashMismatch. `head` is the last good hash: kept elsewhere, it is what
    shows that the end of the trail was cut off, which the trail alone cannot show.
    """

    first: int
    last: int
    count: int
    head: str
    broken_at: int | None = None
    reason: str = ""

    @property
    def holds(self) -> bool:
        """True when no record is broken or missing."""
        return self.broken_at is None


def verify_audit(*, last: int | None = None) -> ChainState:
    """The state of the whole chain, or of its `last` so many records (then the hash before them is taken as given)."""
    events = AuditEvent.objects.order_by("seq")
    newest = AuditEvent.objects.order_by("-seq").values_list("seq", flat=True).first() or 0
    first = 1 if last is None else max(1, newest - last + 1)
    head = GENESIS
    if first > 1:
        head = events.filter(seq=first - 1).values_list("hash", flat=True).first() or ""
    expected = first
    for event in events.filter(seq__gte=first).iterator(chunk_size=1000):
        reason = _fault(event, expected, head)
        if reason:
            return ChainState(first, expected - 1, expected - first, head, expected, reason)
        expected, head = expected + 1, event.hash
    return ChainState(first, expected - 1, expected - first, head)


def _fault(event: AuditEvent, expected: int, head: str) -> str:
    if event.seq != expected:
        return "Gap"
    if event.prev_hash != head:
        return "PrevHashMismatch"
    return "" if chain_hash(event) == event.hash else "HashMismatch"
