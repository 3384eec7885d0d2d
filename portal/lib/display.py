"""Shapes a page hands to the interface components: plain facts, no markup. PURE.

They live on the floor because `jobs/web` and `metering/web` fill them and `portal/web` draws them.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Literal

StageStatus = Literal["done", "now", "bad", "warn", "next"]
Observed = Literal["seen", "missing", "unobserved", "waiting"]
Tone = Literal["ok", "wait", "warn", "bad", "sim", "off"]


@dataclass(frozen=True, slots=True)
class RailStage:
    """One stage of a job. `time` is when it began or how long it took; `cause` is a few words."""

    key: str
    label: str
    status: StageStatus
    time: datetime | str | None = None
    cause: str = ""


@dataclass(frozen=True, slots=True)
class ProofLevel:
    """One level of a release proof. `after_ms` counts from the end of the last process; None: not seen.

    `read_at` is when the reading behind it was made; a level not seen yet has it too once it was read.
    """

    label: str
    observed: Observed
    text: str
    after_ms: int | None = None
    read_at: datetime | None = None


@dataclass(frozen=True, slots=True)
class Fact:
    """A label and its value, one line of a read-out. `url` makes it a drill-down; `short` is what lacks."""

    label: str
    value: str
    unit: str = ""
    url: str = ""
    short: bool = False


@dataclass(frozen=True, slots=True)
class Step:
    """A next step that works with one click: its state word, what changes, what that costs."""

    text: str
    state: str = ""
    word: str = ""
    note: str = ""
    url: str = ""
    action: str = ""
    main: bool = False
    post: bool = False


@dataclass(frozen=True, slots=True)
class VerdictCard:
    """Would it start? `word` is now, wait, never or unknown; `aside` is the short answer in the head."""

    word: Literal["now", "wait", "never", "unknown"]
    message: str
    aside: str = ""
    facts: Sequence[Fact] = field(default_factory=tuple)
    steps: Sequence[Step] = field(default_factory=tuple)


@dataclass(frozen=True, slots=True)
class BarRow:
    """A bar of a small chart: a value >= 0 in any unit and the text that states it. None: not measured."""

    label: str
    value: int | None
    text: str
    url: str = ""
    kind: str = ""


@dataclass(frozen=True, slots=True)
class Link:
    """A tab, filter or crumb. `count` stands behind the label; None shows nothing."""

    label: str
    url: str = ""
    count: int | None = None
    current: bool = False
    state: str = ""
