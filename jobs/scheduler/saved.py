"""A pass as one file: the facts and the rules it decided by, so that it can be decided again anywhere."""

from __future__ import annotations

from dataclasses import dataclass

from jobs.scheduler import codec
from jobs.scheduler.cycle import cycle
from jobs.scheduler.decision import CycleResult
from jobs.scheduler.rules import Rules
from jobs.scheduler.snapshot import FORMAT, Snapshot


@dataclass(frozen=True, slots=True)
class SavedCycle:
    """What a pass begins with."""

    rules: Rules
    snapshot: Snapshot

    def decide(self) -> CycleResult:
        """The pass itself: the same bytes every time and everywhere."""
        return cycle(self.snapshot, self.rules)

    def to_json(self) -> bytes:
        """Canonical bytes."""
        return codec.to_json(self)

    @classmethod
    def from_json(cls, data: bytes) -> SavedCycle:
        """The pass `to_json` wrote. Raises ValueError on other bytes or another format."""
        saved = codec.from_json(cls, data)
        if saved.snapshot.format != FORMAT:
            raise ValueError(f"snapshot format {saved.snapshot.format} is not {FORMAT}")
        return saved
