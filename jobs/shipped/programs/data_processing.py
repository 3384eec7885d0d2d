"""Writes a seeded data set for binary classification, one part per parallel member, and its manifest.

Rows are made in blocks of 1,024, each from (seed, block number), so the data set holds the same rows however
many members share the work. The member that finishes last joins the parts into the manifest.
"""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np
from portal_contract import (
    COUNT,
    INDEX,
    STOPPING,
    Stopped,
    bad_parameters,
    digest,
    folder,
    log,
    number,
    publish,
    read_params,
    run,
    whole,
    write_json,
)
from portal_network import DATASET_FORMAT, HELD_OUT, TRAIN

BLOCK = 1024
SHAPES = ("two-moons", "linear")


def read_work() -> dict[str, Any]:
    """The parameters, checked."""
    params = read_params()
    if params.get("shape") not in SHAPES:
        raise bad_parameters(f"shape must be one of {SHAPES}, not {params.get('shape')!r}")
    return {
        "shape": params["shape"],
        "rows": whole(params, "rows", 16, 10**8),
        "features": whole(params, "features", 2, 1024),
        "noise": number(params, "noise", 0, 100),
        "held_out_percent": whole(params, "held_out_percent", 1, 90),
        "seed": whole(params, "seed", 0, 2**53),
    }


def make_block(work: dict[str, Any], block: int) -> Any:
    """float32[row, feature + label] of one block; the label, 0 or 1, is the last column."""
    rows = block_rows(work, block)
    rng = np.random.default_rng([work["seed"], block])
    features = rng.normal(size=(rows, work["features"]))
    noise = work["noise"] * rng.normal(size=(rows, 2))
    if work["shape"] == "two-moons":
        label = rng.integers(0, 2, size=rows)
        angle = rng.uniform(0.0, np.pi, size=rows)
        features[:, 0] = np.where(label, 1.0 - np.cos(angle), np.cos(angle)) + noise[:, 0]
        features[:, 1] = np.where(label, 0.5 - np.sin(angle), np.sin(angle)) + noise[:, 1]
    else:
        plane = np.random.default_rng(work["seed"]).normal(size=work["features"])
        label = features @ plane + noise[:, 0] > 0.0
    return np.column_stack([features, label]).astype("<f4")


def block_rows(work: dict[str, Any], block: int) -> int:
    """Rows of a block; the last may be short."""
    return min(BLOCK, int(work["rows"]) - block * BLOCK)


def held_rows(work: dict[str, Any], block: int) -> int:
    """Rows at the front of a block that no training sees."""
    return block_rows(work, block) * int(work["held_out_percent"]) // 100


def write_part(path: Path, blocks: range, work: dict[str, Any], split: str) -> dict[str, Any]:
    """This member's rows of one split, written block by block. Returns its manifest entry."""
    held = sum(held_rows(work, block) for block in blocks)
    rows = held if split == HELD_OUT else sum(block_rows(work, block) for block in blocks) - held
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    with partial.open("wb") as file:
        header = {"descr": "<f4", "fortran_order": False, "shape": (rows, work["features"] + 1)}
        np.lib.format.write_array_header_1_0(file, header)
        for block in blocks:
            if STOPPING.is_set():
                raise Stopped
            front, data = held_rows(work, block), make_block(work, block)
            file.write((data[:front] if split == HELD_OUT else data[front:]).tobytes())
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
    size = path.stat().st_size
    log(f"part={INDEX + 1}/{COUNT} split={split} rows={rows} bytes={size}")
    return {"file": path.name, "split": split, "rows": rows, "bytes": size, "sha256": digest(path)}


def join(output: Path, parts: list[Path], work: dict[str, Any]) -> None:
    """The manifest of all parts. Two members may do this at once: they write the same bytes."""
    files = [entry for part in parts for entry in json.loads(part.read_bytes())]
    rows = {split: sum(e["rows"] for e in files if e["split"] == split) for split in (TRAIN, HELD_OUT)}
    manifest = {"format": DATASET_FORMAT, "task": "binary-classification", "features": work["features"]}
    # Laid beside the data set first: its digest must never see a half-written manifest.
    joined = output / ".parts" / f"manifest-{INDEX:05d}.json"
    write_json(joined, manifest | {"rows": rows, "made_from": work, "files": files})
    joined.replace(output / "dataset" / "manifest.json")
    publish({"dataset": ("dataset", output / "dataset")})
    log(f"dataset rows={rows[TRAIN]}+{rows[HELD_OUT]} files={len(files)} sha256={digest(output / 'dataset')}")


def main() -> None:
    """Write this member's part; join them when it is the last."""
    output, work = folder("PORTAL_OUTPUT_DIR"), read_work()
    for name in ("dataset", ".parts"):
        (output / name).mkdir(exist_ok=True)
    blocks = -(-work["rows"] // BLOCK)
    mine = range(blocks * INDEX // COUNT, blocks * (INDEX + 1) // COUNT)
    log(f"part={INDEX + 1}/{COUNT} blocks={mine.start}..{mine.stop} of {blocks} shape={work['shape']}")
    parts = [output / ".parts" / f"part-{index:05d}.json" for index in range(COUNT)]
    files = [
        write_part(output / "dataset" / f"part-{INDEX:05d}-{split}.npy", mine, work, split)
        for split in (TRAIN, HELD_OUT)
    ]
    write_json(parts[INDEX], files)
    if all(part.exists() for part in parts):
        join(output, parts, work)


if __name__ == "__main__":
    run(main)
