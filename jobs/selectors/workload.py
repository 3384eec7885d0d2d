"""A job's attempt as the Workload a driver applies: typed template fields only."""

import uuid

from jobs import storage
from jobs.models import Artifact, Attempt, Job
from resources.drivers.base import MemberSpec, Mount, Toleration, Workload
from resources.models import Runtime

NOBODYS_TOKEN = "0" * 64
"""A digest no token has: a service of a project without a token runs, and refuses every call."""


def workload_of(job: Job, attempt: Attempt) -> Workload:
    """Deterministic: the same attempt always gives the same workload."""
    spec = job.template_version.spec
    runtime = Runtime.objects.filter(key=job.runtime_key).first() if job.runtime_key else None
    rules = attempt.pod_rules
    where = storage.folders(job, attempt)
    return Workload(
        name=attempt.workload_name,
        job_id=str(job.pk),
        attempt_id=str(attempt.pk),
        generation=attempt.number,
        task_type=job.task_type,
        program=spec.get("program", ""),
        command=tuple(spec.get("command") or ()),
        params=job.params,
        members=tuple(_member(raw) for raw in attempt.placement),
        mounts=_mounts(job),
        output_dir=str(where.output),
        checkpoint_dir=str(where.checkpoints) if spec.get("checkpoints") else "",
        resume=attempt.resumed,
        gang=job.gang,
        serves=bool(spec.get("serves")),
        token_sha256=(job.project.service_token_sha256 or NOBODYS_TOKEN) if spec.get("serves") else "",
        time_limit_ms=job.time_limit_ms,
        grace_ms=job.grace_ms,
        image=runtime.image if runtime else "",
        runtime_class=runtime.runtime_class if runtime else "",
        scheduler_name=rules.get("scheduler_name", ""),
        tolerations=tuple(Toleration(**row) for row in rules.get("tolerations", ())),
        image_user=rules.get("relaxation") == "image_user",
        shipped=job.template_version.template.project_id is None,
    )


def _member(raw: dict[str, object]) -> MemberSpec:
    devices = raw.get("devices") or {}
    assert isinstance(devices, dict)
    return MemberSpec(
        index=int(str(raw["index"])),
        node=str(raw["node"]),
        cpu_milli=int(str(raw["cpu"])),
        memory_bytes=int(str(raw["memory"])),
        devices={name: tuple(ids) for name, ids in devices.items()},
    )


def _mounts(job: Job) -> tuple[Mount, ...]:
    keys = [uuid.UUID(i["artifact"]) for i in job.inputs]
    found = {a.pk: a for a in Artifact.objects.filter(pk__in=keys, project_id=job.project_id)}
    return tuple(
        Mount(variable=i["variable"], source=found[uuid.UUID(i["artifact"])].location)
        for i in job.inputs
        if uuid.UUID(i["artifact"]) in found
    )
