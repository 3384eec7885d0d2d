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
from jobs.selectors.reach import kind_of, offered_classes, offered_pools
from jobs.selectors.templates import Choice, offered_inputs, schema_of
from jobs.states import JobState
from portal.lib.errors import Invalid
from resources.drivers.base import WHOLE_DEVICE
from resources.models import Pool, ResourceClass, Runtime
from tenants.models import Project, User


@dataclass(frozen=True, slots=True)
class Offer:
    """What a template offers a project at a time: inputs by parameter, pools, classes, and the runtimes that fit."""

    inputs: Mapping[str, list[Choice]]
    pools: tuple[Pool, ...]
    classes: tuple[ResourceClass, ...]
    runtimes: tuple[tuple[str, tuple[str, ...]], ...]


def offer_of(version: TemplateVersion, project: Project, now: datetime) -> Offer:
    """What may be chosen now."""
    pools = tuple(offered_pools(project, version.spec, now))
    devices = version.spec["devices"]["maximum"]
    rows = Runtime.objects.filter(driver_kind=kind_of(version.spec)).order_by("key").values_list("key", "kinds")
    return Offer(
        inputs=offered_inputs(version, project),
        pools=pools,
        classes=tuple(offered_classes([pool.key for pool in pools])) if devices else (),
        runtimes=tuple((key, tuple(kinds)) for key, kinds in rows),
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
        runtime_key=_runtime(checked.size, offer),
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


def _runtime(size: Size, offer: Offer) -> str:
    """The first runtime that can run the program and is declared for what the job asks; "" leaves it to the driver."""
    wanted = "CPU" if not size.devices else None
    return next((key for key, kinds in offer.runtimes if wanted is None or wanted in kinds), "")
