"""Each task type's own path through the scheduler: its defaults, shown to users and editable per pool later (R-12)."""

from __future__ import annotations

from dataclasses import dataclass

from jobs.scheduler.snapshot import PriorityClass


@dataclass(frozen=True, slots=True)
class Path:
    """What a task type gets unless a pool's policy says otherwise."""

    priority_class: PriorityClass
    preemptible: bool
    retries: int
    """Further attempts after an end that was not the application's own doing."""


PATHS: dict[str, Path] = {
    "training": Path(PriorityClass.STANDARD, preemptible=True, retries=3),
    "fine_tuning": Path(PriorityClass.STANDARD, preemptible=True, retries=3),
    "inference": Path(PriorityClass.PRODUCTION, preemptible=False, retries=3),
    "data_processing": Path(PriorityClass.STANDARD, preemptible=True, retries=1),
    "batch": Path(PriorityClass.STANDARD, preemptible=True, retries=1),
    "experiment": Path(PriorityClass.BEST_EFFORT, preemptible=True, retries=0),
    "evaluation": Path(PriorityClass.STANDARD, preemptible=True, retries=1),
}
