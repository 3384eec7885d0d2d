"""Bad parameters, missing or damaged inputs, diverging numbers: one line with the reason, and its exit code."""

import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from jobs.shipped.catalogue import PROGRAMS
from tests.integration.shipped.programs import Ended, Job


def _fails(ended: Ended, code: int, reason: str) -> None:
    assert ended.codes == [code], ended
    (line,) = ended.err.splitlines()
    assert line.startswith(f"error: {reason}: ")
    assert line.isprintable() and len(line) < 600


def _copy(dataset: Path, to: Path) -> Path:
    shutil.copytree(dataset, to)
    return to


def _with_nan(dataset: Path, to: Path) -> Path:
    """The data set with one cell that is no number, and a manifest that agrees."""
    _copy(dataset, to)
    manifest = json.loads((to / "manifest.json").read_bytes())
    for entry in manifest["files"]:
        rows = np.load(to / entry["file"])
        rows[:, 0] = np.nan
        np.save(to / entry["file"], rows)
        entry["sha256"] = hashlib.sha256((to / entry["file"]).read_bytes()).hexdigest()
    (to / "manifest.json").write_text(json.dumps(manifest))
    return to


@pytest.mark.parametrize("program", sorted(PROGRAMS))
def test_parameters_that_are_no_object_are_refused(
    program: str, dataset: Path, checkpoint: Path, tmp_path: Path
) -> None:
    inputs = {"dataset": dataset, "checkpoint": checkpoint}
    job = Job(program, tmp_path, inputs=inputs, environment={"PORTAL_TOKEN_SHA256": "no digest", "PORTAL_PORT": "0"})
    _fails(job.run(params=["no", "object"]), 64, "BadParameters")


@pytest.mark.parametrize(
    ("program", "params"),
    [
        ("data_processing", {"shape": "spiral"}),
        ("batch", {"operation": "rm -rf /", "duration": 0, "seed": 1, "size_mib": 1}),
        ("experiment", {"time_to_live": True, "heartbeat": 1}),
        ("experiment", {"time_to_live": float("nan"), "heartbeat": 1}),
    ],
)
def test_parameters_out_of_bounds_are_refused(program: str, params: dict[str, Any], tmp_path: Path) -> None:
    _fails(Job(program, tmp_path).run(params=params), 64, "BadParameters")


def test_a_batch_larger_than_the_data_is_refused_with_both_numbers(dataset: Path, tmp_path: Path) -> None:
    ended = Job("training", tmp_path, {"batch_size": 5_000}, {"dataset": dataset}).run()
    _fails(ended, 64, "BadParameters")
    assert "5000" in ended.err and "2402" in ended.err


def test_a_missing_input_is_named(tmp_path: Path) -> None:
    ended = Job("training", tmp_path, {}, {"dataset": tmp_path / "nowhere"}).run()
    _fails(ended, 66, "MissingInput")
    assert "the input dataset" in ended.err


def test_a_folder_that_is_no_data_set_is_refused(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    _fails(Job("training", tmp_path / "job", {}, {"dataset": tmp_path / "empty"}).run(), 65, "BadInput")


def test_one_changed_byte_in_the_data_is_noticed(dataset: Path, checkpoint: Path, tmp_path: Path) -> None:
    copy = _copy(dataset, tmp_path / "data")
    path = copy / "part-00000-held-out.npy"
    path.write_bytes(path.read_bytes()[:-1] + b"\x7f")
    ended = Job("evaluation", tmp_path / "job", {}, {"dataset": copy, "checkpoint": checkpoint}).run()
    _fails(ended, 65, "BadInput")
    assert path.name in ended.err


@pytest.mark.parametrize("content", [b"", b"PK\x03\x04 broken", b"\x80\x04\x95pickle"])
def test_a_file_that_is_no_checkpoint_is_refused_and_never_unpickled(
    content: bytes, dataset: Path, tmp_path: Path
) -> None:
    path = tmp_path / "checkpoint.npz"
    path.write_bytes(content)
    ended = Job("evaluation", tmp_path / "job", {}, {"dataset": dataset, "checkpoint": path}).run()
    _fails(ended, 65, "BadInput")


def test_a_checkpoint_for_other_data_is_refused(checkpoint: Path, tmp_path: Path) -> None:
    wide = Job("data_processing", tmp_path / "wide", {"rows": 200, "features": 6})
    wide.run().succeeded()
    inputs = {"dataset": wide.output / "dataset", "checkpoint": checkpoint}
    for program in ("evaluation", "fine_tuning"):
        ended = Job(program, tmp_path / program, {}, inputs).run()
        _fails(ended, 65, "BadInput")
        assert "4 features" in ended.err and "6" in ended.err


def test_numbers_that_are_none_end_training_and_evaluation(dataset: Path, checkpoint: Path, tmp_path: Path) -> None:
    data = _with_nan(dataset, tmp_path / "nan")
    ended = Job("training", tmp_path / "training", {}, {"dataset": data}).run()
    _fails(ended, 70, "Diverged")
    assert "step 0" in ended.err
    ended = Job("evaluation", tmp_path / "evaluation", {}, {"dataset": data, "checkpoint": checkpoint}).run()
    _fails(ended, 70, "Diverged")


def test_an_output_folder_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "attempt-1").write_text("a file where the folder should be")
    _fails(Job("data_processing", tmp_path, {"rows": 100}).run(), 73, "CannotWrite")
