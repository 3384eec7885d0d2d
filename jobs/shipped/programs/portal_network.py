"""The two file formats of the shipped chain, data set and checkpoint, and the network a checkpoint holds.

Both are read with every byte checked and without pickle. Standard library and numpy only.
"""

from __future__ import annotations

import hashlib
import io
import json
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
from portal_contract import bad_input, digest, write_whole

DATASET_FORMAT = "armillary-dataset/1"
CHECKPOINT_FORMAT = "armillary-checkpoint/1"
WEIGHTS = ("w1", "b1", "w2", "b2")
TRAIN, HELD_OUT = "train", "held-out"

Arrays = dict[str, Any]


def load_dataset(path: Path, split: str) -> tuple[Any, Any, str]:
    """float64[row, feature] and float64[row] (labels 0 and 1) of a split, and the data set's digest."""
    try:
        manifest = json.loads((path / "manifest.json").read_bytes())
        if manifest["format"] != DATASET_FORMAT:
            raise ValueError(f"its format is {manifest['format']!r}")
        parts = [_part(path, part, manifest["features"]) for part in manifest["files"] if part["split"] == split]
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise bad_input(f"{path.name} is not a whole data set: {error!r}") from error
    rows = np.concatenate(parts).astype(np.float64) if parts else np.empty((0, 1))
    if not len(rows):
        raise bad_input(f"{path.name} has no {split} rows")
    return rows[:, :-1], rows[:, -1], digest(path)


def _part(path: Path, part: dict[str, Any], features: int) -> Any:
    data = (path / Path(part["file"]).name).read_bytes()
    if hashlib.sha256(data).hexdigest() != part["sha256"]:
        raise ValueError(f"{part['file']} does not have the digest its manifest names")
    rows = np.load(io.BytesIO(data), allow_pickle=False)
    if rows.shape != (part["rows"], features + 1):
        raise ValueError(f"{part['file']} has the shape {rows.shape}")
    return rows


def save_checkpoint(path: Path, about: dict[str, Any], arrays: Arrays) -> None:
    """An .npz with fixed dates, so that equal states are equal files; replaced whole."""
    members = arrays | {"about": np.frombuffer(json.dumps(about, sort_keys=True).encode(), dtype=np.uint8)}
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name in sorted(members):
            with archive.open(zipfile.ZipInfo(f"{name}.npy", (1980, 1, 1, 0, 0, 0)), "w") as file:
                np.lib.format.write_array(file, np.ascontiguousarray(members[name]), version=(1, 0))
    write_whole(path, buffer.getvalue())


def load_checkpoint(path: Path) -> tuple[dict[str, Any], Arrays]:
    """What a checkpoint says of itself, and its arrays."""
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
        about = json.loads(arrays.pop("about").tobytes())
        if about["format"] != CHECKPOINT_FORMAT:
            raise ValueError(f"its format is {about['format']!r}")
        features, hidden = about["features"], about["hidden_units"]
        fits = {"w1": (features, hidden), "b1": (hidden,), "w2": (hidden,), "b2": (1,)}
        fits |= {f"velocity_{name}": fits[name] for name in WEIGHTS}
        fits |= {"mean": (features,), "scale": (features,)}
        if {name: array.shape for name, array in arrays.items()} != fits:
            raise ValueError("its arrays have other shapes than it says")
    except (OSError, ValueError, KeyError, TypeError, EOFError, AttributeError, zipfile.BadZipFile) as error:
        raise bad_input(f"{path.name} is not a whole checkpoint: {error!r}") from error
    return about, arrays


def hidden_layer(model: Arrays, rows: Any) -> tuple[Any, Any]:
    """The scaled rows and their hidden activations, float64[row, hidden unit]."""
    scaled = (rows - model["mean"]) / model["scale"]
    return scaled, np.tanh(scaled @ model["w1"] + model["b1"])


def squash(score: Any) -> Any:
    """The logistic function, without overflow."""
    return 1.0 / (1.0 + np.exp(-np.clip(score, -500.0, 500.0)))


def probability(model: Arrays, rows: Any) -> Any:
    """float64[row] of belonging to class 1, for rows float64[row, feature]; NaN where numbers are too large."""
    with np.errstate(all="ignore"):
        return squash(hidden_layer(model, rows)[1] @ model["w2"] + model["b2"])
