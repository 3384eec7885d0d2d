"""What is known of a cluster beside what can be placed there: its fact sheet, and facts of networks. Pure."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any


@dataclass(frozen=True, slots=True)
class NetworkFact:
    """What is known of a node's network, or of its place in it; declared by a label unless it was measured."""

    name: str
    value: str
    source: str
    measured: bool = False


class Presence(StrEnum):
    """Whether a cluster has something. Not observed is never absent."""

    PRESENT = "present"
    ABSENT = "absent"
    NOT_OBSERVED = "not_observed"


@dataclass(frozen=True, slots=True)
class Topic:
    """One subject of a cluster's fact sheet. `why` is a word for what was not observed."""

    presence: Presence
    items: tuple[Mapping[str, Any], ...] = ()
    why: str = ""


@dataclass(frozen=True, slots=True)
class ClusterFacts:
    """What a cluster is made of beside its nodes, by subject."""

    topics: Mapping[str, Topic]
    at: datetime
