"""A request checked against its template, as a job that is not yet saved: preview and submit start from here."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.utils.translation import gettext_lazy as _

from jobs.models import Job, TemplateVersion
from jobs.params import said
from jobs.paths import PATHS
from jobs.reasons import Reason
from jobs.request import Checked, JobRequest, Size, check_request
from jobs.selectors.reach import kind_of, offered_classes, offered_pools
from jobs.selectors.templates import offered_inputs, schema_of
from jobs.states import JobState
from portal.lib.errors import Invalid
from resources.drivers.base import WHOLE_DEVICE
from resources.models import Runtime
from tenants import access
from tenants.models import Project, User


def build_job(*, actor: User, project: Project, version: TemplateVersion, request: JobRequest, now: datetime) -> Job:
    """The unsaved job, QUEUED at `now`. Raises Denied without `job.ask`, Invalid with every refused field."""
    access.require(actor, "job.ask", project)
    spec = version.spec
    offered = offered_inputs(version, project)
    pools = [pool.key for pool in offered_pools(project, spec, now)]
    checked = check_request(
        request,
        spec,
        schema_of(version),
        offered={name: {choice.id for choice in choices} for name, choices in offered.items()},
        device_classes=set(offered_classes(pools).values_list("key", flat=True)),
        pools=pools,
    )
    _refuse(checked)
    path = PATHS[spec["task_type"]]
    return Job(
        project=project,
        submitter=actor,
        template_version=version,
        name=checked.name,
        task_type=spec["task_type"],
        state=JobState.QUEUED,
        reason=Reason.NOT_EVALUATED,
        reason_at=now,
        params=dict(checked.params),
        alternatives=_alternatives(checked.size),
        pool_keys=[checked.pool] if checked.pool else [],
        inputs=_inputs(spec["inputs"], checked.params),
        runtime_key=_runtime(checked.size, spec),
        gang=spec["gang"],
        priority_class=path.priority_class,
        time_limit_ms=checked.time_limit_ms,
        max_wait_ms=checked.max_wait_ms,
        grace_ms=spec["grace_ms"],
        max_attempts=1 + path.retries,
        submitted_at=now,
        eligible_at=now,
    )


def _refuse(checked: Checked) -> None:
    fields = [said.of_input(name, bad) for name, bad in checked.errors]
    fields += said.of_values(checked.param_errors)
    if fields:
        raise Invalid("InvalidInput", _("Some fields need a correction."), fields=tuple(fields))


def _alternatives(size: Size) -> list[dict[str, Any]]:
    lines: list[list[Any]] = [["cpu", "cpu", size.cpu_milli], ["memory", "memory", size.memory_bytes]]
    if size.devices:
        lines.append([size.device_class, "device", size.devices * WHOLE_DEVICE])
    pods = {"name": "main", "count": size.members, "lines": lines}
    return [{"key": size.device_class or "cpu", "pod_sets": [pods]}]


def _inputs(needed: Sequence[Mapping[str, Any]], params: Mapping[str, Any]) -> list[dict[str, str]]:
    return [
        {"variable": item["variable"], "artifact": params[item["param"]], "kind": item["kind"]}
        for item in needed
        if params.get(item["param"])
    ]


def _runtime(size: Size, spec: Mapping[str, Any]) -> str:
    """The first runtime that can run the program and is declared for what the job asks; "" leaves it to the driver."""
    rows = list(Runtime.objects.filter(driver_kind=kind_of(spec)).order_by("key").values_list("key", "kinds"))
    wanted = "CPU" if not size.devices else None
    return next((key for key, kinds in rows if wanted is None or wanted in kinds), "")
