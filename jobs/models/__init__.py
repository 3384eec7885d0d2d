"""Who uses what now: templates, jobs, attempts, allocations, release proofs, artifacts."""

from jobs.models.allocation import Allocation, AllocationLine, DeviceHold, ReleaseRecord
from jobs.models.artifact import Artifact
from jobs.models.job import Attempt, Cycle, IdempotencyKey, Job, JobEvent
from jobs.models.template import JobTemplate, TemplateVersion

__all__ = [
    "Allocation",
    "AllocationLine",
    "Artifact",
    "Attempt",
    "Cycle",
    "DeviceHold",
    "IdempotencyKey",
    "Job",
    "JobEvent",
    "JobTemplate",
    "ReleaseRecord",
    "TemplateVersion",
]
