"""The validation matrix (R-47): what runs have shown of a task type on a class in a runtime. Pure.

A cell is verified by a run only while what it ran on is still there: the driver and container runtime of some node of
the class, and the runtime as it is declared. Nothing is claimed that no run has shown.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from datetime import datetime
from typing import Final, NamedTuple
from uuid import UUID

from jobs.health import PLATFORM
from jobs.reasons import Reason

STATES: Final = ("verified", "failed", "not_verified", "simulated", "not_declared")
TELLING: Final = PLATFORM | {
    Reason.RUNTIME_MISMATCH, Reason.IMAGE_MISMATCH, Reason.REJECTED_BY_CLUSTER,
}  # fmt: skip
"""Failures that say something about class and runtime. Of a validation job every one does; of a person's, the
application's own errors do not."""


class Place(NamedTuple):
    """What a node of the class has. "" was not observed, None was not written down when the run took place."""

    driver: str | None
    container: str | None


class Run(NamedTuple):
    """The newest run of its kind: same cell, same place, same runtime, same outcome."""

    task_type: str
    class_key: str
    runtime: str
    simulated: bool
    passed: bool
    """Succeeded, and everything it held was seen free; else it failed."""
    place: Place
    runtime_as: str | None
    at: datetime
    job: UUID
    reason: str


class Changed(NamedTuple):
    """What is no longer as it was when the run passed; `now` are all there are."""

    fact: str
    was: str | None
    now: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Cell:
    """A state of STATES, the run behind it, what changed since, and places of the class that no run has shown."""

    state: str
    run: Run | None = None
    changed: tuple[Changed, ...] = ()
    unproved: tuple[Place, ...] = ()


def cell_of(runs: Iterable[Run], places: Collection[Place], runtime_as: str) -> Cell:
    """From the runs of one cell, what nodes of the class have now, and the runtime as it is declared now."""
    newest = sorted(runs, key=lambda run: run.at, reverse=True)
    real = [run for run in newest if not run.simulated]
    current = [run for run in real if run.place in places and run.runtime_as == runtime_as]
    proofs = [run for run in current if run.passed]
    if proofs:
        shown = {run.place for run in proofs}
        return Cell("verified", proofs[0], unproved=tuple(sorted(set(places) - shown, key=repr)))
    failed = next((run for run in current if not run.passed), None)
    if failed:
        return Cell("failed", failed)
    past = next((run for run in real if run.passed), None)
    if past:
        return Cell("not_verified", past, tuple(_changes(past, places, runtime_as)))
    rehearsed = next((run for run in newest if run.simulated and run.passed), None)
    return Cell("simulated", rehearsed) if rehearsed else Cell("not_verified")


def _changes(run: Run, places: Collection[Place], runtime_as: str) -> list[Changed]:
    drivers = tuple(sorted({place.driver or "" for place in places}))
    containers = tuple(sorted({place.container or "" for place in places}))
    found = []
    if run.place.driver not in drivers:
        found.append(Changed("driver", run.place.driver, drivers))
    if run.place.container not in containers:
        found.append(Changed("container", run.place.container, containers))
    if run.runtime_as != runtime_as:
        found.append(Changed("runtime", run.runtime_as, (runtime_as,)))
    return found or [Changed("place", f"{run.place.driver}, {run.place.container}", ())]
