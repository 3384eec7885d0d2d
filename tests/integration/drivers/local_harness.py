"""A local driver over a temporary state folder, and a process of its own that uses one."""

import dataclasses
import multiprocessing
import os
import pickle
import subprocess
import sys
import uuid
from datetime import timedelta
from pathlib import Path
from typing import Any

from portal.lib.failpoints import FAILPOINTS
from resources.drivers.base import MemberSpec, Workload
from resources.drivers.local.driver import LocalDriver
from resources.drivers.local.launcher import records
from resources.drivers.local.site import LocalOptions
from tests.integration.drivers.steps import Script, lines

REPO = Path(__file__).resolve().parents[3]
NODE = "this-machine"
AS_USER = ("unshare", "--user", "--map-user=1000", "--map-group=1000")
"""Makes a root test process look like an ordinary user to the driver, which then takes the rootless way."""


class LocalHarness:
    """See `steps.ProgramHarness`. `state` is what a portal would call its state folder."""

    failpoints = tuple(name for name in FAILPOINTS if name.startswith("local.apply."))
    address = r"127\.0\.0\.1:[0-9]+"
    resolution, sees_idle = timedelta(), True

    def __init__(self, state: Path, *, isolated: bool = True, **options: Any) -> None:
        self.state = state
        self.isolated = isolated
        self.settings: dict[str, Any] = {
            "root": state / "local",
            "node_name": NODE,
            "programs": {},
            "listens_beyond_loopback": False,
            "allowed_write": (state / "data",),
            "options": LocalOptions(isolate=isolated, **options),
        }
        (state / "data").mkdir(parents=True, exist_ok=True)
        self.made: list[Workload] = []

    def driver(self, **changes: Any) -> LocalDriver:
        settings = self.settings | changes
        return LocalDriver(settings.pop("root"), **settings)

    def workload(self, script: Script | str, **changes: Any) -> Workload:
        shell = script if isinstance(script, str) else script.shell
        key = uuid.uuid4().hex[:12]
        count, memory = changes.pop("members", 1), changes.pop("memory_bytes", 256 << 20)
        workload = Workload(
            name=f"j-{key}-a1",
            job_id=changes.pop("job_id", f"job-{key}"),
            attempt_id=f"attempt-{key}",
            generation=changes.pop("generation", 1),
            task_type="batch",
            program="",
            command=("sh", "-c", shell),
            params=changes.pop("params", {}),
            members=tuple(MemberSpec(index, NODE, 1_000, memory) for index in range(count)),
            output_dir=str(self.state / "data" / key),
            shipped=not self.isolated,
        )
        workload = dataclasses.replace(workload, **changes)
        self.made.append(workload)
        return workload

    def unstartable(self, program: str) -> Workload:
        return dataclasses.replace(self.workload(""), command=(program,))

    def starts(self, workload: Workload) -> list[str]:
        return sorted(lines(self.output(workload) / "starts"))

    def output(self, workload: Workload) -> Path:
        return Path(workload.output_dir)

    def caller(self, workload: Workload, failpoints: str = "", verb: str = "apply") -> "Caller":
        return Caller(self, workload, failpoints, verb)

    def end_everything(self) -> None:
        """Stop what the test left running, wait for it, and forget it."""
        driver = self.driver()
        for workload in self.made:
            driver.stop(workload.name, attempt_id=workload.attempt_id, grace_ms=0)
        for workload in self.made:
            for _ in range(500):
                if driver.release(workload.name, attempt_id=workload.attempt_id).objects_left == 0:
                    break
                driver.stop(workload.name, attempt_id=workload.attempt_id, grace_ms=0)
            else:
                raise AssertionError(f"{workload.name} cannot be ended")
            driver.forget(workload.name, attempt_id=workload.attempt_id)


class Caller:
    """A process of its own, forked from the test, that calls one verb of a driver."""

    def __init__(self, harness: LocalHarness, workload: Workload, failpoints: str, verb: str) -> None:
        fork = multiprocessing.get_context("fork")
        self._process = fork.Process(target=call_verb, args=(harness, workload, failpoints, verb))
        self._process.start()

    def wait(self, timeout: float) -> int | None:
        """Its exit code, negative for a signal."""
        self._process.join(timeout)
        return self._process.exitcode


def call_verb(harness: LocalHarness, workload: Workload, failpoints: str, verb: str) -> None:
    """What a caller does."""
    if failpoints:
        os.environ["PORTAL_FAILPOINTS"] = failpoints
    driver = harness.driver()
    if verb == "apply":
        driver.apply(workload)
    elif verb == "stop":
        driver.stop(workload.name, attempt_id=workload.attempt_id, grace_ms=300)
    else:
        getattr(driver, verb)(workload.name, attempt_id=workload.attempt_id)


def apply_as_user(harness: LocalHarness, workload: Workload) -> str:
    """Apply from an interpreter that looks like an ordinary user; gives the way of isolation it took."""
    order = pickle.dumps((harness.settings, workload))
    environment = {**os.environ, "PYTHONPATH": str(REPO)}
    command = [*AS_USER, sys.executable, "-m", "tests.integration.drivers.local_harness"]
    done = subprocess.run(command, input=order, env=environment, cwd="/", capture_output=True, check=True)
    return done.stdout.decode().strip()


if __name__ == "__main__":
    settings, ordered = pickle.load(sys.stdin.buffer)
    user_driver = LocalDriver(settings.pop("root"), **settings)
    user_driver.apply(ordered)
    print(records.read(user_driver._store.root / "isolation.json")["mode"])  # type: ignore[index]
