"""Trains on from a checkpoint of an earlier job, with its own rate and, if wished, a frozen first layer."""

from typing import Any

from portal_contract import bad_input, digest, input_path, log, run
from portal_network import WEIGHTS, load_checkpoint
from portal_training import Start, train


def from_parent(_params: dict[str, Any], rows: Any) -> Start:
    """The parent's weights and scaling; its digest goes into every checkpoint made from it."""
    path = input_path("checkpoint")
    about, arrays = load_checkpoint(path)
    if about["features"] != rows.shape[1]:
        raise bad_input(f"the checkpoint has {about['features']} features, the data {rows.shape[1]}")
    parent = digest(path)
    log(f"parent step={about['step']} sha256={parent}")
    return Start({name: arrays[name] for name in (*WEIGHTS, "mean", "scale")}, parent)


if __name__ == "__main__":
    run(lambda: train(from_parent))
