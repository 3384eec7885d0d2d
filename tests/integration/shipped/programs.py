"""Runs a shipped program as a driver does: a real process that sees the contract's variables and nothing else."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jobs.params.schema import read_schema
from jobs.params.values import validate
from jobs.shipped.catalogue import PROGRAMS, TEMPLATES
from jobs.shipped.template import input_variable

PATIENCE = 30.0
_ARTIFACT_ID = "00000000-0000-4000-8000-000000000000"


@dataclass
class Job:
    """One job of a shipped template: its folders live as long as the job, an attempt is a process per member."""

    program: str
    root: Path
    given: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, Path] = field(default_factory=dict)
    count: int = 1
    environment: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for name in ("checkpoints", "scratch"):
            (self.root / name).mkdir(parents=True, exist_ok=True)
        self.attempt = 0

    @property
    def output(self) -> Path:
        """The output folder of the current attempt."""
        return self.root / f"attempt-{self.attempt}"

    @property
    def checkpoints(self) -> Path:
        """The checkpoint folder, the same for all attempts."""
        return self.root / "checkpoints"

    def typed(self) -> dict[str, Any]:
        """The parameters as the portal would store them: validated by the template's own schema."""
        template = next(template for template in TEMPLATES if template.program == self.program)
        given = dict(self.given) | dict.fromkeys(self.inputs, _ARTIFACT_ID)
        checked = validate(read_schema(template.params), given)
        assert not checked.errors, checked.errors
        return dict(checked.values)

    def start(self, *, params: Any = None, resume: bool = False) -> "Attempt":
        """A new attempt of the job, all its members at once."""
        self.attempt += 1
        params_file = self.root / f"params-{self.attempt}.json"
        params_file.write_text(json.dumps(self.typed() if params is None else params))
        return Attempt(self, [self._member(index, params_file, resume) for index in range(self.count)])

    def _member(self, index: int, params_file: Path, resume: bool) -> subprocess.Popen[bytes]:
        environment = {
            "PATH": "/usr/bin:/bin",
            "PORTAL_JOB_ID": "job",
            "PORTAL_ATTEMPT_ID": f"attempt-{self.attempt}",
            "PORTAL_INDEX": str(index),
            "PORTAL_COUNT": str(self.count),
            "PORTAL_PARAMS_FILE": str(params_file),
            "PORTAL_OUTPUT_DIR": str(self.output),
            "PORTAL_CHECKPOINT_DIR": str(self.checkpoints),
            "PORTAL_RESUME": "1" if resume else "0",
            "PORTAL_SCRATCH_DIR": str(self.root / "scratch"),
            **{input_variable(name): str(path) for name, path in self.inputs.items()},
            **self.environment,
        }
        with self.log(index).open("wb") as out, self.log(index).with_suffix(".err").open("wb") as err:
            return subprocess.Popen(
                [sys.executable, str(PROGRAMS[self.program])],
                env=environment,
                cwd=self.root / "scratch",
                stdout=out,
                stderr=err,
            )

    def log(self, index: int = 0) -> Path:
        """What a member of the current attempt printed."""
        return self.root / f"attempt-{self.attempt}-member-{index}.log"

    def run(self, *, params: Any = None, resume: bool = False) -> "Ended":
        """An attempt from start to end."""
        return self.start(params=params, resume=resume).wait()

    def artifacts(self) -> dict[str, dict[str, Any]]:
        """What the current attempt lists as its outputs, by name."""
        listed = json.loads((self.output / "artifacts.json").read_bytes())["artifacts"]
        return {entry["name"]: entry for entry in listed}


@dataclass
class Attempt:
    """Running processes of one attempt."""

    job: Job
    members: list[subprocess.Popen[bytes]]

    def wait_for(self, text: str, *, times: int = 1, index: int = 0) -> None:
        """Until the member has printed a text so often. Fails when it ends before, and then leaves nothing running."""
        deadline = time.monotonic() + PATIENCE
        try:
            while self.job.log(index).read_text().count(text) < times:
                ended = self.members[index].poll()
                assert ended is None, f"ended with {ended} before {text!r}: {Ended.of(self)}"
                assert time.monotonic() < deadline, f"{text!r} was not printed in {PATIENCE} s"
                time.sleep(0.005)
        except BaseException:
            self.kill()
            raise

    def signal(self, number: signal.Signals) -> None:
        """Send a signal to all members."""
        for member in self.members:
            os.kill(member.pid, number)

    def wait(self) -> "Ended":
        """Until all members have ended."""
        try:
            for member in self.members:
                member.wait(PATIENCE)
        finally:
            self.kill()
        return Ended.of(self)

    def kill(self) -> None:
        """End what still runs."""
        for member in self.members:
            if member.poll() is None:
                member.kill()
                member.wait()


@dataclass(frozen=True)
class Ended:
    """How an attempt ended."""

    codes: list[int]
    out: str
    err: str

    @classmethod
    def of(cls, attempt: Attempt) -> "Ended":
        """Codes of all members, and what all of them printed."""
        logs = [attempt.job.log(index) for index in range(len(attempt.members))]
        out = "".join(path.read_text() for path in logs)
        err = "".join(path.with_suffix(".err").read_text() for path in logs)
        return cls([-1 if member.returncode is None else member.returncode for member in attempt.members], out, err)

    def succeeded(self) -> "Ended":
        """Itself, when every member ended well."""
        assert set(self.codes) == {0}, self
        return self
