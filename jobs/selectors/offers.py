"""What a template offers a project at a time, and a request checked against it as a job that is not yet saved."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.translation import gettext_lazy as _

from jobs.models import Job, TemplateVersion
from jobs.params import said
from jobs.paths import PATHS
from jobs.reasons import Reason
from jobs.request import Checked, JobRequest, Size, check_request
from jobs.runtimes import RuntimeOffer, admits
from jobs.selectors.reach import kind_of, offered_classes, offered_pools
from jobs.selectors.runtime_choice import choose_runtime, runtimes_of
from jobs.selectors.templates import Choice, offered_inputs, schema_of
from jobs.states import JobState
from portal.lib.errors import Invalid
from resources.drivers.base import WHOLE_DEVICE
from resources.models import Pool, ResourceClass
from tenants.models import Project, User


@dataclass(frozen=True, slots=True)
class Offer:
    """What a template offers a project at a time: inputs by parameter, pools, classes, and runtimes of the kind of
    cluster it runs on. `refusing` are pools that take no jobs of its type."""

    inputs: Mapping[str, list[Choice]]
    pools: tuple[Pool, ...]
    classes: tuple[ResourceClass, ...]
    runtimes: tuple[RuntimeOffer, ...]
    refusing: tuple[Pool, ...] = ()


def offer_of(version: TemplateVersion, project: Project, now: datetime) -> Offer:
    """What may be chosen now."""
    granted = offered_pools(project, version.spec, now)
    task_type = version.spec["task_type"]
    pools = tuple(pool for pool in granted if admits(pool.task_types, pool.runtimes, task_type, None))
    devices = version.spec["devices"]["maximum"]
    return Offer(
        inputs=offered_inputs(version, project),
        pools=pools,
        classes=tuple(offered_classes([pool.key for pool in pools])) if devices else (),
        runtimes=runtimes_of(kind_of(version.spec)),
        refusing=tuple(pool for pool in granted if pool not in pools),
    )


def job_of(
    offer: Offer, *, actor: User, project: Project, version: TemplateVersion, request: JobRequest, now: datetime
) -> Job:
    """The unsaved job of a request checked against an offer. Asks nobody; raises Invalid with every refused field."""
    spec = version.spec
    checked = check_request(
        request,
        spec,
        schema_of(version),
        offered={name: {choice.id for choice in choices} for name, choices in offer.inputs.items()},
        device_classes={row.key for row in offer.classes},
        pools={pool.key for pool in offer.pools},
    )
    _refuse(checked)
    runtime = choose_runtime(offer, spec, checked.size, checked.pool)
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
        runtime_key=runtime,
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
