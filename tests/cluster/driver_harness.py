"""The Kubernetes driver on the real control plane: programs are scripts of the fake kubelet, named by the workload."""

import json
import multiprocessing
import os
import re
import uuid
from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

from controlplane.api import MERGE, Api
from controlplane.cluster import Cluster
from controlplane.kubelet.script import PREFIX, SCRIPTS
from resources.drivers.base import MemberSpec, Workload
from resources.drivers.kubernetes.connection import Connection
from resources.drivers.kubernetes.driver import KubernetesDriver
from tests.integration.drivers.steps import Script

NODES = ("cpu-1", "cpu-2")
_NEVER = 1e9


class KubernetesHarness:
    """See `steps.Harness`. A member was started as often as the cluster has an event that says so."""

    failpoints = ("kubernetes.apply.before_create", "kubernetes.apply.after_create")
    address = r"never"
    resolution, sees_idle = timedelta(seconds=1), False

    def __init__(self, cluster: Cluster, connection: Connection) -> None:
        self.cluster, self.connection = cluster, connection
        self.api: Api = cluster.api()
        self._scripts: dict[str, Mapping[str, str]] = {}

    def driver(self) -> KubernetesDriver:
        return KubernetesDriver(connection=self.connection)

    def workload(self, script: Script | str, **changes: Any) -> Workload:
        assert isinstance(script, Script), "nothing here runs a shell"
        key = uuid.uuid4().hex[:12]
        count, memory = changes.pop("members", 1), changes.pop("memory_bytes", 256 << 20)
        workload = Workload(
            name=f"j-{key}-a1",
            job_id=f"job-{key}",
            attempt_id=f"attempt-{key}",
            generation=1,
            task_type="batch",
            program="",
            command=("sh", "-c", script.shell),
            params={},
            members=tuple(MemberSpec(index, NODES[0], 1_000, memory) for index in range(count)),
            image="registry.invalid/tools:1",
        )
        workload = replace(workload, **changes)
        self._tell(workload.name, script.hints)
        return workload

    def unstartable(self, program: str) -> Workload:
        message = f'exec: "{program}": executable file not found in $PATH'
        return self.workload(
            Script(program, {"duration_ms": 0, "exit_code": 127, "end": "StartError", "said": message})
        )

    def starts(self, workload: Workload) -> list[str]:
        events = self.api.get(f"/api/v1/namespaces/{self.connection.namespace}/events")["items"]
        pattern = re.compile(rf"{workload.name}-(\d+)-[a-z0-9]+")
        started = [e["involvedObject"]["name"] for e in events if e["reason"] == "Started"]
        return sorted(found[1] for name in started if (found := pattern.fullmatch(name)))

    def caller(self, workload: Workload, failpoints: str = "", verb: str = "apply") -> "Caller":
        return Caller(self.connection, workload, failpoints, verb)

    def _tell(self, name: str, hints: Mapping[str, Any]) -> None:
        """Let the fake kubelet play these hints for every member of the workload."""
        self._scripts |= {f"{name}-*": _script(hints)}
        if "failing_member" in hints:
            fails = {"duration": hints.get("fail_ms", 0) / 1_000, "exit-code": hints["exit_code"]}
            self._scripts[f"{name}-*"] = _script({**hints, "exit_code": 0})
            self._scripts[f"{name}-{hints['failing_member']}-*"] = _texts(fails)
        self.tell()

    def also(self, workload: Workload, **words: object) -> None:
        """Words of the fake kubelet's own for the workload, beside its hints."""
        self._scripts[f"{workload.name}-*"] = {**self._scripts[f"{workload.name}-*"], **_texts(words)}
        self.tell()

    def tell(self) -> None:
        """Put all scripts where the fake kubelet reads them."""
        told = {f"{PREFIX}{SCRIPTS}": json.dumps(self._scripts)}
        path = f"/api/v1/namespaces/{self.connection.namespace}"
        self.api.patch(path, {"metadata": {"annotations": told}}, MERGE)


def _script(hints: Mapping[str, Any]) -> dict[str, str]:
    """The contract's hints in the fake kubelet's words."""
    memory_kill = "memory_bytes" in hints
    stop = hints.get("stop_ms", 0)
    words: dict[str, Any] = {
        "duration": (hints["fail_ms"] if memory_kill else hints.get("duration_ms", _NEVER)) / 1_000,
        "exit-code": 128 + hints["signal"] if "signal" in hints else hints.get("exit_code", 0),
        "stop-after": _NEVER if stop is None else stop / 1_000,
        "log-lines": json.dumps(hints.get("log", [])),
    }
    words |= {"reason": "OOMKilled"} if memory_kill else {}
    words |= {"reason": hints["end"], "message": hints["said"]} if "end" in hints else {}
    words |= {"stop-exit-code": hints["stop_exit_code"]} if "stop_exit_code" in hints else {}
    words |= {"goodbye": hints["goodbye"]} if "goodbye" in hints else {}
    return _texts(words)


def _texts(words: Mapping[str, Any]) -> dict[str, str]:
    return {key.replace("_", "-"): str(value) for key, value in words.items()}


class Caller:
    """A process of its own, forked from the test, that calls one verb of a driver."""

    def __init__(self, connection: Connection, workload: Workload, failpoints: str, verb: str) -> None:
        fork = multiprocessing.get_context("fork")
        self._process = fork.Process(target=_call, args=(connection, workload, failpoints, verb))
        self._process.start()

    def wait(self, timeout: float) -> int | None:
        """Its exit code, negative for a signal."""
        self._process.join(timeout)
        return self._process.exitcode


def _call(connection: Connection, workload: Workload, failpoints: str, verb: str) -> None:
    if failpoints:
        os.environ["PORTAL_FAILPOINTS"] = failpoints
    driver = KubernetesDriver(connection=connection)
    match verb:
        case "apply":
            driver.apply(workload)
        case "stop":
            driver.stop(workload.name, attempt_id=workload.attempt_id, grace_ms=1_000)
        case "forget":
            driver.forget(workload.name, attempt_id=workload.attempt_id)
