"""Measures a checkpoint on data it has not seen; one record links model, data, metric and consumption."""

from __future__ import annotations

import resource
import time
from typing import Any

import numpy as np
from portal_contract import (
    STOPPING,
    Failure,
    Stopped,
    bad_input,
    bad_parameters,
    digest,
    folder,
    input_path,
    log,
    publish,
    read_params,
    run,
    write_json,
)
from portal_network import HELD_OUT, TRAIN, load_checkpoint, load_dataset, probability

CHUNK = 65_536


def measure(model: dict[str, Any], rows: Any, labels: Any) -> dict[str, Any]:
    """Accuracy, logarithmic loss and the four counts behind them, over all rows."""
    loss, counts = 0.0, np.zeros(4, dtype=np.int64)
    for start in range(0, len(rows), CHUNK):
        if STOPPING.is_set():
            raise Stopped
        truth = labels[start : start + CHUNK]
        chance = np.clip(probability(model, rows[start : start + CHUNK]), 1e-12, 1 - 1e-12)
        loss -= float(np.sum(truth * np.log(chance) + (1.0 - truth) * np.log(1.0 - chance)))
        counts += np.bincount(2 * truth.astype(np.int64) + (chance > 0.5), minlength=4)
        log(f"rows={min(start + CHUNK, len(rows))}/{len(rows)}")
    names = ("true_negative", "false_positive", "false_negative", "true_positive")
    right = int(counts[0] + counts[3]) / len(rows)
    return {"accuracy": right, "log_loss": loss / len(rows)} | dict(zip(names, counts.tolist(), strict=True))


def consumption(began: float) -> dict[str, int]:
    """What this process has used, as the operating system counts it."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    return {
        "cpu_ms": round((used.ru_utime + used.ru_stime) * 1000),
        "wall_ms": round((time.monotonic() - began) * 1000),
        "peak_rss_bytes": used.ru_maxrss * 1024,
    }


def main() -> None:
    """Evaluate one checkpoint on one split of one data set."""
    began, output = time.monotonic(), folder("PORTAL_OUTPUT_DIR")
    split = read_params().get("split")
    if split not in (TRAIN, HELD_OUT):
        raise bad_parameters(f"split must be {TRAIN} or {HELD_OUT}, not {split!r}")
    path = input_path("checkpoint")
    about, model = load_checkpoint(path)
    rows, labels, data_digest = load_dataset(input_path("dataset"), split)
    if about["features"] != rows.shape[1]:
        raise bad_input(f"the checkpoint has {about['features']} features, the data {rows.shape[1]}")
    metric = measure(model, rows, labels)
    if not np.isfinite(metric["log_loss"]):
        raise Failure(70, "Diverged", "the metric is not a finite number: the model or the data hold none")
    result = {
        "format": "armillary-evaluation/1",
        "model": {"sha256": digest(path), "step": about["step"], "parent_sha256": about["parent_sha256"]},
        "trained_on": {"sha256": about["data_sha256"]},
        "data": {"sha256": data_digest, "split": split, "rows": len(rows)},
        "metric": metric,
        "consumption": consumption(began),
    }
    write_json(output / "result.json", result)
    publish({"evaluation": ("result", output / "result.json")})
    log(f"done accuracy={metric['accuracy']:.4f} log_loss={metric['log_loss']:.6f} rows={len(rows)}")


if __name__ == "__main__":
    run(main)
