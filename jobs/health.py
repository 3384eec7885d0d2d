"""Which nodes are taken out of service for what happened to jobs there: a rule on ended attempts. Pure.

A failure of the application never counts. One that the platform caused is transient until several different jobs met
it on one node; a fault of a device is fatal at once.
"""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, NamedTuple
from uuid import UUID

from jobs.reasons import Kind, Reason, Side

MOST_FAILURES: Final = 3
WINDOW: Final = timedelta(hours=24)
FATAL: Final = frozenset({Reason.DEVICE_FAULT})
PLATFORM: Final = frozenset(r for r in Reason if r.kind is Kind.FAILURE and r.side is Side.PLATFORM)


class Failure(NamedTuple):
    """An attempt that the platform failed, on the one node it can be laid to."""

    at: datetime
    job: UUID
    node: UUID
    reason: str


@dataclass(frozen=True, slots=True)
class Quarantine:
    """Why a node is to be taken out: the cause, the jobs with the newest first, and the first failure."""

    cause: str
    jobs: tuple[UUID, ...]
    since: datetime


def to_quarantine(failures: Iterable[Failure], healthy_since: Mapping[UUID, datetime | None]) -> dict[UUID, Quarantine]:
    """By node. Failures at or before the moment since which it counts as healthy are forgotten."""
    by_node: dict[UUID, list[Failure]] = defaultdict(list)
    for one in failures:
        begun = healthy_since.get(one.node)
        if one.reason in PLATFORM and (begun is None or one.at > begun):
            by_node[one.node].append(one)
    judged = {node: _judged(sorted(found, reverse=True)) for node, found in by_node.items()}
    return {node: verdict for node, verdict in judged.items() if verdict is not None}


def _judged(newest_first: Sequence[Failure]) -> Quarantine | None:
    jobs = tuple(dict.fromkeys(one.job for one in newest_first))
    since = newest_first[-1].at
    if any(one.reason in FATAL for one in newest_first):
        return Quarantine("DeviceFault", jobs, since)
    return Quarantine("RepeatedFailures", jobs, since) if len(jobs) >= MOST_FAILURES else None
