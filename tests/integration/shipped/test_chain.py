"""The chain on real bytes: data set, training, fine-tuning, evaluation, each reading what the one before wrote."""

import hashlib
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.integration.shipped.conftest import FEATURES, ROWS, STEPS
from tests.integration.shipped.programs import Job


def _rows(dataset: Path, split: str) -> Any:
    manifest = json.loads((dataset / "manifest.json").read_bytes())
    files = [entry["file"] for entry in manifest["files"] if entry["split"] == split]
    return np.concatenate([np.load(dataset / name, allow_pickle=False) for name in files])


def _folder_digest(folder: Path) -> str:
    """As the portal computes it when it archives a folder."""
    listing = hashlib.sha256()
    for path in sorted(p for p in folder.rglob("*") if p.is_file()):
        listing.update(f"{path.relative_to(folder).as_posix()}\0{_sha256(path)}\n".encode())
    return listing.hexdigest()


def _sha256(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def test_the_data_set_is_whole_and_its_manifest_names_every_byte(dataset: Path) -> None:
    manifest = json.loads((dataset / "manifest.json").read_bytes())
    assert {path.name for path in dataset.iterdir()} == {"manifest.json", *(f["file"] for f in manifest["files"])}
    for entry in manifest["files"]:
        assert (_sha256(dataset / entry["file"]), (dataset / entry["file"]).stat().st_size) == (
            entry["sha256"],
            entry["bytes"],
        )
    train, held = _rows(dataset, "train"), _rows(dataset, "held-out")
    assert train.shape[1] == held.shape[1] == FEATURES + 1
    assert len(train) + len(held) == ROWS
    assert abs(len(held) / ROWS - 0.2) < 0.01
    assert set(np.unique(train[:, -1])) == {0.0, 1.0}
    assert not {row.tobytes() for row in train} & {row.tobytes() for row in held}


@pytest.mark.parametrize("shape", ["two-moons", "linear"])
def test_the_rows_do_not_depend_on_how_many_members_made_them(shape: str, tmp_path: Path) -> None:
    made = []
    for count in (1, 3):
        given = {"rows": 2_500, "features": 3, "shape": shape}
        job = Job("data_processing", tmp_path / str(count), given, count=count)
        job.run().succeeded()
        made.append(job.output / "dataset")
    for split in ("train", "held-out"):
        assert _rows(made[0], split).tobytes() == _rows(made[1], split).tobytes()


def test_more_members_than_blocks_still_make_one_data_set(tmp_path: Path) -> None:
    job = Job("data_processing", tmp_path, {"rows": 100, "features": 2}, count=3)
    job.run().succeeded()
    assert len(_rows(job.output / "dataset", "train")) == 80
    assert set(job.artifacts()) == {"dataset"}


def test_outputs_are_listed_with_the_digests_the_portal_computes(dataset: Path, trained: Job) -> None:
    made = json.loads((dataset.parent / "artifacts.json").read_bytes())["artifacts"]
    assert [(entry["name"], entry["kind"], entry["path"]) for entry in made] == [("dataset", "dataset", "dataset")]
    assert made[0]["sha256"] == _folder_digest(dataset)
    assert made[0]["bytes"] == sum(path.stat().st_size for path in dataset.iterdir())
    listed = trained.artifacts()
    assert {name: entry["kind"] for name, entry in listed.items()} == {"checkpoint": "checkpoint", "metrics": "result"}
    for entry in listed.values():
        assert entry["sha256"] == _sha256(trained.output / entry["path"])


def test_training_learns_and_says_so_line_by_line(trained: Job) -> None:
    lines = [line for line in trained.log().read_text().splitlines() if line.startswith("step=")]
    losses = [float(line.split("loss=")[1]) for line in lines]
    assert lines[-1].startswith(f"step={STEPS}/{STEPS} ")
    assert losses[-1] < losses[0] / 2
    metrics = json.loads((trained.output / "metrics.json").read_bytes())
    assert (metrics["step"], metrics["resumed_at_step"]) == (STEPS, 0)
    assert metrics["train_accuracy"] > 0.85


def test_a_fine_tuned_checkpoint_names_its_parent_and_keeps_the_frozen_layer(
    dataset: Path, checkpoint: Path, tmp_path: Path
) -> None:
    given = {"steps": 50, "checkpoint_every": 25}
    job = Job("fine_tuning", tmp_path, given, {"dataset": dataset, "checkpoint": checkpoint})
    job.run().succeeded()
    parent, child = np.load(checkpoint), np.load(job.output / "checkpoint.npz")
    about = json.loads(child["about"].tobytes())
    assert about["parent_sha256"] == _sha256(checkpoint)
    assert about["data_sha256"] == _folder_digest(dataset)
    assert np.array_equal(parent["w1"], child["w1"])
    assert not np.array_equal(parent["w2"], child["w2"])


def test_an_unfrozen_first_layer_is_tuned_too(dataset: Path, checkpoint: Path, tmp_path: Path) -> None:
    given = {"steps": 5, "freeze_first_layer": False}
    job = Job("fine_tuning", tmp_path, given, {"dataset": dataset, "checkpoint": checkpoint})
    job.run().succeeded()
    assert not np.array_equal(np.load(checkpoint)["w1"], np.load(job.output / "checkpoint.npz")["w1"])


def test_an_evaluation_links_model_data_metric_and_consumption(dataset: Path, checkpoint: Path, tmp_path: Path) -> None:
    job = Job("evaluation", tmp_path, {}, {"dataset": dataset, "checkpoint": checkpoint})
    job.run().succeeded()
    result = json.loads((job.output / "result.json").read_bytes())
    assert result["model"] == {"sha256": _sha256(checkpoint), "step": STEPS, "parent_sha256": None}
    held = _rows(dataset, "held-out")
    assert result["data"] == {"sha256": _folder_digest(dataset), "split": "held-out", "rows": len(held)}
    assert result["metric"]["accuracy"] == pytest.approx(_accuracy(checkpoint, held))
    assert result["metric"]["accuracy"] > 0.8
    assert sum(
        result["metric"][name] for name in result["metric"] if "_positive" in name or "_negative" in name
    ) == len(held)
    assert all(result["consumption"][name] > 0 for name in ("cpu_ms", "wall_ms", "peak_rss_bytes"))


def _accuracy(checkpoint: Path, rows: Any) -> float:
    """Computed here again, from the checkpoint's own arrays."""
    model, features = np.load(checkpoint), rows[:, :-1].astype(np.float64)
    hidden = np.tanh((features - model["mean"]) / model["scale"] @ model["w1"] + model["b1"])
    return float(np.mean((hidden @ model["w2"] + model["b2"] > 0) == rows[:, -1]))
