"""A training that is killed or stopped goes on at its recorded step and ends with the very same bytes."""

import json
import re
import signal
from pathlib import Path
from typing import Any

import pytest

from tests.integration.shipped.programs import Job

GIVEN: dict[str, Any] = {"steps": 4_000, "checkpoint_every": 200, "keep_checkpoints": 2, "hidden_units": 16}


@pytest.fixture(scope="module")
def uninterrupted(dataset: Path, tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The final checkpoint of a run nobody disturbed."""
    job = Job("training", tmp_path_factory.mktemp("whole"), GIVEN, {"dataset": dataset})
    job.run().succeeded()
    return (job.output / "checkpoint.npz").read_bytes()


def _job(root: Path, dataset: Path, **changes: Any) -> Job:
    return Job("training", root, GIVEN | changes, {"dataset": dataset})


def _resumed_step(text: str) -> int:
    found = re.search(r"^resumed step=(\d+) ", text, re.MULTILINE)
    assert found, text
    return int(found[1])


def test_killed_training_resumes_at_the_recorded_step_and_ends_the_same(
    dataset: Path, uninterrupted: bytes, tmp_path: Path
) -> None:
    job = _job(tmp_path, dataset)
    attempt = job.start()
    attempt.wait_for("checkpoint step=", times=3)
    attempt.signal(signal.SIGKILL)
    assert attempt.wait().codes == [-signal.SIGKILL]
    assert not (job.output / "artifacts.json").exists()
    recorded = json.loads((job.checkpoints / "latest.json").read_bytes())["step"]
    ended = job.run(resume=True).succeeded()
    assert _resumed_step(ended.out) == recorded >= 600
    assert (job.output / "checkpoint.npz").read_bytes() == uninterrupted
    assert json.loads((job.output / "metrics.json").read_bytes())["resumed_at_step"] == recorded


def test_stopped_training_saves_its_last_step_and_says_143(dataset: Path, uninterrupted: bytes, tmp_path: Path) -> None:
    job = _job(tmp_path, dataset, checkpoint_every=100_000)
    attempt = job.start()
    attempt.wait_for("step=", times=3)
    attempt.signal(signal.SIGTERM)
    ended = attempt.wait()
    assert ended.codes == [143]
    assert ended.out.endswith("stopped on request\n")
    ended = job.run(resume=True).succeeded()
    assert 0 < _resumed_step(ended.out) < GIVEN["steps"]
    assert (job.output / "checkpoint.npz").read_bytes() == uninterrupted


def test_a_damaged_checkpoint_is_passed_over_for_the_one_before(
    dataset: Path, uninterrupted: bytes, tmp_path: Path
) -> None:
    job = _job(tmp_path, dataset)
    attempt = job.start()
    attempt.wait_for("checkpoint step=", times=3)
    attempt.signal(signal.SIGTERM)
    attempt.wait()
    older, newest = sorted(job.checkpoints.glob("step-*.npz"))
    newest.write_bytes(newest.read_bytes()[:-100])
    ended = job.run().succeeded()  # it resumes by what it finds, told to or not
    assert f"step-{_resumed_step(ended.out):010d}.npz" == older.name
    assert (job.output / "checkpoint.npz").read_bytes() == uninterrupted


def test_only_the_last_checkpoints_are_kept(trained: Job, dataset: Path, tmp_path: Path) -> None:
    job = Job("training", tmp_path, dict(trained.given) | {"keep_checkpoints": 2}, {"dataset": dataset})
    job.run().succeeded()
    assert [path.name for path in sorted(job.checkpoints.iterdir())] == [
        "latest.json",
        "step-0000000200.npz",
        "step-0000000300.npz",
    ]


def test_a_gang_shares_each_batch_and_resumes_together(dataset: Path, tmp_path: Path) -> None:
    given = GIVEN | {"steps": 300, "checkpoint_every": 50}
    whole = Job("training", tmp_path / "whole", given, {"dataset": dataset}, count=2)
    whole.run().succeeded()
    stopped = Job("training", tmp_path / "stopped", given, {"dataset": dataset}, count=2)
    attempt = stopped.start()
    attempt.wait_for("checkpoint step=", times=2)
    attempt.signal(signal.SIGKILL)
    attempt.wait()
    ended = stopped.run(resume=True).succeeded()
    assert ended.out.count("resumed step=") == 2
    assert (stopped.output / "checkpoint.npz").read_bytes() == (whole.output / "checkpoint.npz").read_bytes()
    assert json.loads((whole.output / "metrics.json").read_bytes())["members"] == 2
    assert not list(whole.output.glob(".exchange-*"))


def test_a_stopped_gang_saves_once_and_all_members_say_143(dataset: Path, tmp_path: Path) -> None:
    job = Job("training", tmp_path, GIVEN | {"checkpoint_every": 100_000}, {"dataset": dataset}, count=2)
    attempt = job.start()
    attempt.wait_for("step=", times=3)
    attempt.signal(signal.SIGTERM)
    ended = attempt.wait()
    assert ended.codes == [143, 143]
    assert ended.out.count("checkpoint step=") == 1


def test_a_checkpoint_of_other_parameters_is_refused(dataset: Path, trained: Job, tmp_path: Path) -> None:
    job = Job("training", tmp_path, dict(trained.given) | {"seed": 7}, {"dataset": dataset})
    job.checkpoints.mkdir(exist_ok=True)
    for path in trained.checkpoints.iterdir():
        (job.checkpoints / path.name).write_bytes(path.read_bytes())
    ended = job.run(resume=True)
    assert ended.codes == [65]
    assert ended.err.startswith("error: BadInput: step-0000000300.npz belongs to other parameters")
