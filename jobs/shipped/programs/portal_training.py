"""Momentum descent that can be killed at any moment and ends, resumed, with the very same bytes.

Each step's batch depends on (seed, step) alone and a checkpoint holds the whole state. Several members share
each batch and add their gradients in member order through files in the output folder; with another number of
members the sums round differently, so only runs of equal size are equal to the bit.
Standard library and numpy only.
"""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

# More threads would add in another order and change the last bits of the result.
for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_variable] = "1"

import numpy as np  # noqa: E402 - it reads the thread counts when it is imported
from portal_contract import (  # noqa: E402
    COUNT,
    INDEX,
    STOPPING,
    Failure,
    Stopped,
    bad_input,
    bad_parameters,
    digest,
    folder,
    input_path,
    log,
    number,
    publish,
    read_params,
    whole,
    write_json,
)
from portal_network import (  # noqa: E402
    CHECKPOINT_FORMAT,
    TRAIN,
    WEIGHTS,
    Arrays,
    hidden_layer,
    load_checkpoint,
    load_dataset,
    probability,
    save_checkpoint,
    squash,
)

MEMBER_PATIENCE = 120.0
"""Seconds without a sign of another member before this one gives up."""


@dataclass(frozen=True)
class Start:
    """Where a training begins: weights, the scaling of their inputs, and the checkpoint they came from."""

    model: Arrays
    parent_sha256: str | None = None


class Exchange:
    """Adds one vector of every member, step by step, through files in the folder they share."""

    def __init__(self, output: Path) -> None:
        self.path = output / f".exchange-{os.environ.get('PORTAL_ATTEMPT_ID') or 'local'}"
        if COUNT > 1:
            self.path.mkdir(exist_ok=True)

    def total(self, step: int, mine: Any) -> Any:
        """The sum over all members, added in member order so that all have the same bits."""
        if COUNT == 1:
            return mine
        partial = self.path / f".{step}-{INDEX}"
        partial.write_bytes(mine.tobytes())
        partial.replace(self.path / f"{step}-{INDEX}")
        total = sum(np.frombuffer(self.wait(f"{step}-{member}", member)) for member in range(COUNT))
        # All wrote this step, so all have read the one before.
        (self.path / f"{step - 1}-{INDEX}").unlink(missing_ok=True)
        return total

    def wait(self, name: str, member: int) -> bytes:
        """The bytes of a file once it is there. Raises Stopped on TERM, Failure when nobody writes it."""
        deadline = time.monotonic() + MEMBER_PATIENCE
        while not (self.path / name).exists():
            if STOPPING.is_set():
                raise Stopped
            if time.monotonic() > deadline:
                raise Failure(75, "MemberLost", f"member {member} sent nothing for {MEMBER_PATIENCE:.0f} s")
            time.sleep(0.0005)
        return (self.path / name).read_bytes()

    def finish(self) -> None:
        """Member 0 removes the folder once all have read the last step."""
        if COUNT > 1:
            (self.path / f"done-{INDEX}").touch()
        if COUNT > 1 and INDEX == 0:
            for member in range(COUNT):
                self.wait(f"done-{member}", member)
            shutil.rmtree(self.path)


class Run:
    """The whole state of a training: what a checkpoint holds, and what it is made from."""

    def __init__(self, params: dict[str, Any], start: Callable[[dict[str, Any], Any], Start]) -> None:
        self.steps = whole(params, "steps", 1, 10**9)
        self.every = whole(params, "checkpoint_every", 1, 10**9)
        self.keep = whole(params, "keep_checkpoints", 1, 1000)
        self.batch = whole(params, "batch_size", 1, 10**6)
        self.rate = number(params, "learning_rate", 0, 1000)
        self.momentum = number(params, "momentum", 0, 1)
        self.seed = whole(params, "seed", 0, 2**53)
        self.frozen = ("w1", "b1") if params.get("freeze_first_layer") is True else ()
        self.rows, self.labels, self.data_digest = load_dataset(input_path("dataset"), TRAIN)
        if not COUNT <= self.batch <= len(self.rows):
            raise bad_parameters(f"batch_size must be {COUNT} to {len(self.rows)} here, not {self.batch}")
        begun = start(params, self.rows)
        self.model, self.parent_digest = begun.model, begun.parent_sha256
        self.velocity = {name: np.zeros_like(self.model[name]) for name in WEIGHTS}
        self.step, self.loss = 0, float("nan")
        self._order: tuple[int, Any] = (-1, None)

    def about(self) -> dict[str, Any]:
        """What a checkpoint says of itself; nothing of time or attempt, so equal runs make equal bytes."""
        return {
            "format": CHECKPOINT_FORMAT,
            "features": self.rows.shape[1],
            "hidden_units": self.model["w1"].shape[1],
            "step": self.step,
            "steps": self.steps,
            "batch_size": self.batch,
            "learning_rate": self.rate,
            "momentum": self.momentum,
            "seed": self.seed,
            "frozen": list(self.frozen),
            "data_sha256": self.data_digest,
            "parent_sha256": self.parent_digest,
        }

    def advance(self, exchange: Exchange) -> None:
        """One step, complete or not at all. Raises Stopped, Failure."""
        with np.errstate(all="ignore"):
            total = exchange.total(self.step, self._sums(self._batch()[INDEX::COUNT])) / self.batch
        if not np.isfinite(total).all():
            message = f"the loss is not a finite number at step {self.step}; lower the rate or check the data"
            raise Failure(70, "Diverged", message)
        self.loss, at = float(total[0]), 1
        for name in WEIGHTS:
            size = self.model[name].size
            change = total[at : at + size].reshape(self.model[name].shape)
            at += size
            if name not in self.frozen:
                self.velocity[name] = self.momentum * self.velocity[name] - self.rate * change
                self.model[name] = self.model[name] + self.velocity[name]
        self.step += 1

    def _batch(self) -> Any:
        """Row numbers of this step's batch: an epoch's order comes from (seed, epoch) alone."""
        epoch, place = divmod(self.step, len(self.rows) // self.batch)
        if self._order[0] != epoch:
            self._order = epoch, np.random.default_rng([self.seed, epoch]).permutation(len(self.rows))
        return self._order[1][place * self.batch : (place + 1) * self.batch]

    def _sums(self, chosen: Any) -> Any:
        """Sums over the chosen rows, in one vector: the loss, then the gradient of each of WEIGHTS."""
        rows, hidden = hidden_layer(self.model, self.rows[chosen])
        labels, score = self.labels[chosen], hidden @ self.model["w2"] + self.model["b2"]
        loss = np.sum(np.logaddexp(0.0, score) - labels * score)
        error = squash(score) - labels
        back = np.outer(error, self.model["w2"]) * (1.0 - hidden**2)
        return np.concatenate([[loss], (rows.T @ back).ravel(), back.sum(axis=0), hidden.T @ error, [error.sum()]])

    def write(self, path: Path) -> None:
        """The state as a checkpoint file."""
        velocities = {f"velocity_{name}": self.velocity[name] for name in WEIGHTS}
        save_checkpoint(path, self.about(), self.model | velocities)

    def save(self, checkpoints: Path) -> None:
        """Write a checkpoint, point to it, drop the oldest. Only member 0 writes: all have the same state."""
        if INDEX != 0:
            return
        path = checkpoints / f"step-{self.step:010d}.npz"
        self.write(path)
        write_json(checkpoints / "latest.json", {"file": path.name, "sha256": digest(path), "step": self.step})
        for old in sorted(checkpoints.glob("step-*.npz"))[: -self.keep]:
            old.unlink(missing_ok=True)
        log(f"checkpoint step={self.step} file={path.name} sha256={digest(path)}")

    def resume(self, checkpoints: Path) -> None:
        """Take up the newest whole checkpoint of this job, if there is one."""
        for path in _candidates(checkpoints):
            try:
                about, arrays = load_checkpoint(path)
            except Failure as failure:
                log(f"checkpoint passed over: {failure.message}")
                continue
            if about | {"step": 0} != self.about() | {"step": 0}:
                raise bad_input(f"{path.name} belongs to other parameters, data or parent")
            self.step = about["step"]
            self.model = {name: arrays[name] for name in self.model}
            self.velocity = {name: arrays[f"velocity_{name}"] for name in WEIGHTS}
            log(f"resumed step={self.step} file={path.name}")
            return
        if os.environ.get("PORTAL_RESUME") == "1":
            log("no whole checkpoint to resume from: starting at step=0")


def _candidates(checkpoints: Path) -> list[Path]:
    """Checkpoints to try: the one pointed to unless its digest is wrong, then all others from the newest."""
    newest = sorted(checkpoints.glob("step-*.npz"), reverse=True)
    try:
        latest = json.loads((checkpoints / "latest.json").read_bytes())
        pointed = checkpoints / Path(latest["file"]).name
        others = [path for path in newest if path != pointed]
        return [pointed, *others] if digest(pointed) == latest["sha256"] else others
    except (OSError, ValueError, KeyError, TypeError):
        return newest


def new_weights(params: dict[str, Any], rows: Any) -> Start:
    """Random weights from the seed, and the scaling of this data."""
    hidden, rng = whole(params, "hidden_units", 1, 65_536), np.random.default_rng(params["seed"])
    features = rows.shape[1]
    model = {
        "w1": rng.normal(size=(features, hidden)) / np.sqrt(features),
        "b1": np.zeros(hidden),
        "w2": rng.normal(size=hidden) / np.sqrt(hidden),
        "b2": np.zeros(1),
        "mean": rows.mean(axis=0),
        "scale": rows.std(axis=0) + 1e-12,
    }
    return Start(model)


def train(start: Callable[[dict[str, Any], Any], Start]) -> None:
    """A whole program: train from the start, or from where a killed attempt of this job got to."""
    output, checkpoints = folder("PORTAL_OUTPUT_DIR"), folder("PORTAL_CHECKPOINT_DIR")
    state, exchange = Run(read_params(), start), Exchange(output)
    state.resume(checkpoints)
    resumed_at = state.step
    log(f"training rows={len(state.rows)} steps={state.steps} from={resumed_at} member={INDEX + 1}/{COUNT}")
    _descend(state, checkpoints, exchange)
    if INDEX == 0:
        _finish(state, output, resumed_at)
    exchange.finish()


def _descend(state: Run, checkpoints: Path, exchange: Exchange) -> None:
    """Step until the end; on TERM save the last complete step and stop."""
    told = max(1, state.steps // 100)
    try:
        while state.step < state.steps:
            if STOPPING.is_set():
                raise Stopped
            state.advance(exchange)
            if state.step % told == 0 or state.step == state.steps:
                log(f"step={state.step}/{state.steps} loss={state.loss:.6f}")
            if state.step % state.every == 0:
                state.save(checkpoints)
    except Stopped:
        state.save(checkpoints)
        raise


def _finish(state: Run, output: Path, resumed_at: int) -> None:
    """Write the final checkpoint and what was reached, and tell the portal."""
    right = float(np.mean((probability(state.model, state.rows) > 0.5) == state.labels))
    loss = None if np.isnan(state.loss) else state.loss  # None: resumed at the very end, no step was taken
    metrics = {"loss": loss, "train_accuracy": right, "resumed_at_step": resumed_at, "members": COUNT}
    state.write(output / "checkpoint.npz")
    write_json(output / "metrics.json", state.about() | metrics)
    publish(
        {
            "checkpoint": ("checkpoint", output / "checkpoint.npz"),
            "metrics": ("result", output / "metrics.json"),
        }
    )
    log(f"done step={state.step} train_accuracy={right:.4f} sha256={digest(output / 'checkpoint.npz')}")
