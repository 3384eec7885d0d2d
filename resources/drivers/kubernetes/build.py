"""A workload as a Kubernetes Job: the one place where a pod is written, field by field from an allow-list.

Whatever is not written here cannot be in a pod: no user supplies a piece of it. Every pod passes Pod Security
`restricted`. Pure but for the client library's types, which know every field's name.
"""

import json
import re
from datetime import datetime
from functools import lru_cache
from typing import Any

from kubernetes import client as k8s

from resources.drivers.base import MemberSpec, Toleration, Workload, WorkloadRejected
from resources.drivers.kubernetes import names

UID = 10_001
"""Who runs in a pod: a number, as `restricted` wants it, and nobody on the node."""
_MOUNTED = {"output": "/outputs", "scratch": "/tmp"}  # noqa: S108 - inside the pod
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,100}")
# What hands devices, libraries or the cluster to a container belongs to the device plugin and to us.
_NOT_BY_USERS = re.compile(r"VISIBLE_DEVICES$|VISIBLE_CORES$|^(NVIDIA|ASCEND|CAMBRICON|KUBERNETES|LD|PORTAL)_")
_MOST_ENVIRONMENT = 256 << 10


def job_of(workload: Workload, *, namespace: str, applied_at: datetime) -> dict[str, Any]:
    """The Job as JSON. Deterministic but for `applied_at`. Raises WorkloadRejected for what no pod may be made of."""
    _check(workload)
    count = len(workload.members)
    spec = k8s.V1JobSpec(
        completion_mode="Indexed",
        completions=count,
        parallelism=count,
        template=k8s.V1PodTemplateSpec(
            metadata=k8s.V1ObjectMeta(
                labels=_labels(workload), annotations=_annotations(workload, applied_at), finalizers=[names.EVIDENCE]
            ),
            spec=_pod(workload),
        ),
        # An attempt is tried once: what may be tried again is a new attempt, decided by the portal.
        pod_replacement_policy="Failed",
        backoff_limit=0 if workload.gang else None,
        backoff_limit_per_index=None if workload.gang else 0,
        max_failed_indexes=None if workload.gang else count,
    )
    job = k8s.V1Job(
        api_version="batch/v1",
        kind="Job",
        metadata=k8s.V1ObjectMeta(
            name=workload.name,
            namespace=namespace,
            labels=_labels(workload),
            annotations=_annotations(workload, applied_at) | {names.DEVICES: _devices(workload)},
        ),
        spec=spec,
    )
    built: dict[str, Any] = _serializer().sanitize_for_serialization(job)  # type: ignore[no-untyped-call]
    return built


@lru_cache(maxsize=1)
def _serializer() -> k8s.ApiClient:
    return k8s.ApiClient(k8s.Configuration())


def _check(workload: Workload) -> None:
    first = workload.members[0]
    if any(_asked(member) != _asked(first) for member in workload.members):
        raise WorkloadRejected("members of one Job have the same size", reason="MembersDiffer")
    if not workload.image:
        raise WorkloadRejected("no image: the runtime names none", reason="ImageMissing")
    if not workload.command:
        raise WorkloadRejected("no command: programs of this machine are not in an image", reason="CommandMissing")
    if workload.serves:
        raise WorkloadRejected("services do not run on this kind of cluster yet", reason="ServicesNotSupported")
    for name in workload.environment:
        if not _NAME.fullmatch(name) or _NOT_BY_USERS.search(name):
            raise WorkloadRejected(f"the variable {name!r} cannot be set", reason="EnvironmentForbidden")
    size = sum(len(n) + len(v) for n, v in workload.environment.items()) + len(_params(workload))
    if size > _MOST_ENVIRONMENT:
        raise WorkloadRejected(f"{size} bytes of parameters", reason="ParametersTooLarge")


def _asked(member: MemberSpec) -> dict[str, int]:
    return {
        "cpu": member.cpu_milli,
        "memory": member.memory_bytes,
        **{resource: len(uuids) for resource, uuids in sorted(member.devices.items())},
    }


def _labels(workload: Workload) -> dict[str, str]:
    return {names.JOB: workload.job_id, names.ATTEMPT: workload.attempt_id}


def _annotations(workload: Workload, applied_at: datetime) -> dict[str, str]:
    return {
        names.WORKLOAD: workload.name,
        names.GENERATION: str(workload.generation),
        names.MEMBER_COUNT: str(len(workload.members)),
        names.GANG: "true" if workload.gang else "false",
        names.APPLIED_AT: names.stamp(applied_at),
    }


def _devices(workload: Workload) -> str:
    """What the portal granted, by its own names: a release has to answer for each of them."""
    granted = {uuid for member in workload.members for uuids in member.devices.values() for uuid in uuids}
    return json.dumps(sorted(granted))


def _pod(workload: Workload) -> k8s.V1PodSpec:
    limit = workload.time_limit_ms
    return k8s.V1PodSpec(
        containers=[_container(workload)],
        restart_policy="Never",
        affinity=k8s.V1Affinity(node_affinity=_on({member.node for member in workload.members})),
        active_deadline_seconds=None if limit is None else max(1, _seconds(limit)),
        termination_grace_period_seconds=max(1, _seconds(workload.grace_ms)),
        runtime_class_name=workload.runtime_class or None,
        scheduler_name=workload.scheduler_name or None,
        tolerations=[_toleration(one) for one in workload.tolerations] or None,
        automount_service_account_token=False,
        enable_service_links=False,
        security_context=k8s.V1PodSecurityContext(
            run_as_non_root=True,
            run_as_user=None if workload.image_user else UID,
            run_as_group=None if workload.image_user else UID,
            fs_group=UID,
            seccomp_profile=k8s.V1SeccompProfile(type="RuntimeDefault"),
        ),
        volumes=[k8s.V1Volume(name=name, empty_dir=k8s.V1EmptyDirVolumeSource()) for name in _MOUNTED],
    )


def _container(workload: Workload) -> k8s.V1Container:
    member = workload.members[0]
    amounts = {"cpu": f"{member.cpu_milli}m", "memory": str(member.memory_bytes)}
    amounts |= {resource: str(len(uuids)) for resource, uuids in sorted(member.devices.items()) if uuids}
    return k8s.V1Container(
        name=names.CONTAINER,
        image=workload.image,
        command=[_literal(part) for part in workload.command],
        env=_environment(workload),
        resources=k8s.V1ResourceRequirements(requests=amounts, limits=dict(amounts)),
        volume_mounts=[k8s.V1VolumeMount(name=name, mount_path=path) for name, path in _MOUNTED.items()],
        termination_message_policy="FallbackToLogsOnError",
        security_context=k8s.V1SecurityContext(
            allow_privilege_escalation=False,
            privileged=False,
            run_as_non_root=True,
            capabilities=k8s.V1Capabilities(drop=["ALL"]),
        ),
    )


def _environment(workload: Workload) -> list[k8s.V1EnvVar]:
    index = k8s.V1ObjectFieldSelector(field_path=f"metadata.annotations['{names.INDEX}']")
    ours = {
        "PORTAL_JOB_ID": workload.job_id,
        "PORTAL_ATTEMPT_ID": workload.attempt_id,
        "PORTAL_GENERATION": str(workload.generation),
        "PORTAL_COUNT": str(len(workload.members)),
        "PORTAL_TASK_TYPE": workload.task_type,
        "PORTAL_PARAMS": _params(workload),
        "PORTAL_RESUME": "1" if workload.resume else "",
        "PORTAL_OUTPUT_DIR": _MOUNTED["output"],
        "PORTAL_SCRATCH_DIR": _MOUNTED["scratch"],
    }
    return [
        k8s.V1EnvVar(name="PORTAL_INDEX", value_from=k8s.V1EnvVarSource(field_ref=index)),
        *(
            k8s.V1EnvVar(name=name, value=_literal(value))
            for name, value in sorted((dict(workload.environment) | ours).items())
        ),
    ]


def _toleration(one: Toleration) -> k8s.V1Toleration:
    operator = "Exists" if one.value is None else "Equal"
    return k8s.V1Toleration(key=one.key, operator=operator, value=one.value, effect=one.effect)


def _literal(value: str) -> str:
    """As it is: Kubernetes would put other variables in place of `$(NAME)`, and takes `$$` for a dollar sign."""
    return value.replace("$", "$$")


def _params(workload: Workload) -> str:
    return json.dumps(dict(workload.params), ensure_ascii=False, sort_keys=True)


def _on(nodes: set[str]) -> k8s.V1NodeAffinity:
    """The nodes the portal chose; which member goes to which of them is the cluster's to say (R-24)."""
    terms = [
        k8s.V1NodeSelectorTerm(
            match_fields=[k8s.V1NodeSelectorRequirement(key="metadata.name", operator="In", values=[node])]
        )
        for node in sorted(nodes)
    ]
    return k8s.V1NodeAffinity(
        required_during_scheduling_ignored_during_execution=k8s.V1NodeSelector(node_selector_terms=terms)
    )


def _seconds(milliseconds: int) -> int:
    return -(-milliseconds // 1_000)
