"""Jobs and pods of the API, as small as a test needs them."""

from datetime import UTC, datetime
from typing import Any

from resources.drivers.base import MemberSpec, Workload

NOW = datetime(2026, 5, 4, 12, 0, 30, tzinfo=UTC)
APPLIED = "2026-05-04T12:00:00.250000+00:00"


def workload(**changes: Any) -> Workload:
    """A training on two nodes with eight devices each."""
    cards = [tuple(f"n{n}/nvidia.com/gpu/{i}" for i in range(8)) for n in (1, 2)]
    fields: dict[str, Any] = {
        "name": "j-0a1b2c3d4e5f-a2",
        "job_id": "0a1b2c3d-0000-4000-8000-000000000001",
        "attempt_id": "0a1b2c3d-0000-4000-8000-000000000002",
        "generation": 2,
        "task_type": "training",
        "program": "",
        "command": ("python", "-m", "train"),
        "params": {"rate": 0.1, "said": "a $(PORTAL_JOB_ID) 数"},
        "members": tuple(
            MemberSpec(n, f"n{n + 1}", 64_000, 400 << 30, devices={"nvidia.com/gpu": cards[n]}) for n in (0, 1)
        ),
        "environment": {"LOG_LEVEL": "info"},
        "image": "registry.example.com/train@sha256:" + "0" * 64,
        "runtime_class": "nvidia",
        "time_limit_ms": 3_600_500,
        "grace_ms": 60_000,
    }
    return Workload(**(fields | changes))


def job(*, members: int = 1, gang: bool = True, stop: str = "", failed: str = "", **more: Any) -> dict[str, Any]:
    """A Job of ours."""
    annotations = {
        "armillary/generation": "2",
        "armillary/members": str(members),
        "armillary/gang": "true" if gang else "false",
        "armillary/applied-at": APPLIED,
    } | ({"armillary/stop-asked-at": stop} if stop else {})
    labels = {"armillary/job": "job", "armillary/attempt": "attempt"}
    failure = {"type": "Failed", "status": "True", "reason": failed, "lastTransitionTime": at(20)}
    about = {"name": "j-a", "labels": labels, "annotations": annotations}
    return {"metadata": about, "status": {"conditions": [failure] if failed else []}, **more}


def pod(index: int = 0, phase: str = "Running", **status: Any) -> dict[str, Any]:
    """A pod of that Job on node n1, bound at second 1. `about` and `state` are its metadata and container state."""
    about, state = status.pop("about", {}), status.pop("state", {})
    conditions = [
        {"type": "PodScheduled", "status": "True", "lastTransitionTime": at(1)},
        *status.pop("conditions", []),
    ]
    return {
        "metadata": {
            "name": f"j-a-{index}-x",
            "uid": f"uid-{index}",
            "creationTimestamp": at(0),
            "ownerReferences": [{"kind": "Job", "name": "j-a", "controller": True}],
            "labels": {"armillary/job": "job", "armillary/attempt": "attempt"},
            "annotations": {
                "batch.kubernetes.io/job-completion-index": str(index),
                "armillary/members": "1",
                "armillary/generation": "2",
                "armillary/applied-at": APPLIED,
            },
            **about,
        },
        "spec": {"nodeName": "n1"},
        "status": {
            "phase": phase,
            "conditions": conditions,
            "containerStatuses": [{"name": "main", "state": state}],
            **status,
        },
    }


def at(second: int) -> str:
    """A second of the test's minute, as the API writes it."""
    return f"2026-05-04T12:00:{second:02}Z"


def ended(code: int, reason: str = "", *, began: int = 3, ended_at: int = 9, **more: Any) -> dict[str, Any]:
    """The state of a container that ended."""
    word = reason or ("Completed" if code == 0 else "Error")
    return {
        "terminated": {"exitCode": code, "reason": word, "startedAt": at(began), "finishedAt": at(ended_at), **more}
    }
