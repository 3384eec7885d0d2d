"""The pod of a workload, written whole from an allow-list; tests/data/pods holds what it must be, byte for byte."""

import json
import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from resources.drivers.base import MemberSpec, Toleration, WorkloadRejected
from resources.drivers.kubernetes.build import job_of
from tests.unit.drivers.kubernetes_things import workload

GOLDEN = Path(__file__).parents[2] / "data" / "pods"
AT = datetime(2026, 5, 4, 12, tzinfo=UTC)
ONE = (MemberSpec(0, "n1", 500, 64 << 20),)
CASES: dict[str, dict[str, Any]] = {
    "training-on-two-nodes": {},
    "a-small-one": {"members": ONE, "time_limit_ms": None, "runtime_class": "", "environment": {}, "params": {}},
    "by-the-rules-of-a-pool": {
        "members": ONE,
        "scheduler_name": "second-scheduler",
        "tolerations": (Toleration("gpu", "NoSchedule", "yes"), Toleration("vendor.example/npu", "NoExecute")),
        "image_user": True,
    },
    "no-gang": {"gang": False, "task_type": "batch", "grace_ms": 1},
}


def built(**changes: Any) -> dict[str, Any]:
    return job_of(workload(**changes), namespace="armillary-jobs", applied_at=AT)


@pytest.mark.parametrize("name", CASES)
def test_the_job_is_what_the_golden_file_says(name: str) -> None:
    path = GOLDEN / f"{name}.json"
    assert built(**CASES[name]) == json.loads(path.read_text(encoding="utf-8"))


@pytest.mark.parametrize("name", CASES)
def test_every_pod_is_restricted_and_holds_no_more_than_it_asks_for(name: str) -> None:
    spec = built(**CASES[name])["spec"]["template"]["spec"]
    (container,) = spec["containers"]
    assert container["resources"]["requests"] == container["resources"]["limits"]
    assert spec["automountServiceAccountToken"] is False and spec["restartPolicy"] == "Never"
    assert not {"hostNetwork", "hostPID", "hostIPC", "serviceAccountName", "initContainers"} & spec.keys()
    assert all(set(volume) == {"name", "emptyDir"} for volume in spec["volumes"])
    assert "envFrom" not in container
    assert [e["name"] for e in container["env"] if "valueFrom" in e] == ["PORTAL_INDEX"]


@pytest.mark.parametrize("text", ["$(PORTAL_JOB_ID)", "$$(PORTAL_JOB_ID)", "$$$(A)$", "a$b", "$$", "数 $(", "$()"])
def test_what_a_user_writes_stays_text(text: str) -> None:
    job = built(params={"said": text}, environment={"SAID": text}, command=("sh", text))
    (container,) = job["spec"]["template"]["spec"]["containers"]
    env = {e["name"]: expanded(e["value"]) for e in container["env"] if "value" in e}
    assert (env["SAID"], json.loads(env["PORTAL_PARAMS"])["said"]) == (text, text)
    assert [expanded(part) for part in container["command"]] == ["sh", text]


def expanded(text: str) -> str:
    """What Kubernetes makes of a value: `$$` is a dollar sign, `$(NAME)` another variable."""
    return re.sub(r"\$\$|\$\(([^)]*)\)", lambda m: "$" if m[0] == "$$" else f"<{m[1]}>", text)


@pytest.mark.parametrize(
    "name",
    ["NVIDIA_VISIBLE_DEVICES", "ASCEND_RT_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES",
     "NEURON_RT_VISIBLE_CORES", "LD_PRELOAD", "KUBERNETES_SERVICE_HOST", "PORTAL_JOB_ID", "A=B", "", "A B", "1A"],
)  # fmt: skip
def test_variables_that_hand_out_devices_or_the_cluster_cannot_be_set(name: str) -> None:
    with pytest.raises(WorkloadRejected) as refusal:
        built(environment={name: "all"})
    assert refusal.value.reason == "EnvironmentForbidden"


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"image": ""}, "ImageMissing"),
        ({"command": ()}, "CommandMissing"),
        ({"serves": True}, "ServicesNotSupported"),
        ({"params": {"x": "y" * 300_000}}, "ParametersTooLarge"),
        ({"members": (*ONE, MemberSpec(1, "n2", 1_000, 64 << 20))}, "MembersDiffer"),
    ],
)
def test_what_no_pod_can_be_made_of_is_rejected(changes: dict[str, Any], reason: str) -> None:
    with pytest.raises(WorkloadRejected) as refusal:
        built(**changes)
    assert refusal.value.reason == reason
