"""Runs one operation of a fixed list on seeded bytes, again and again for a time, and checks every answer.

Commands come from the table below as an argument list; no shell, nothing of the user's in it.
Parallel members work on bytes of their own.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from portal_contract import (
    INDEX,
    STOPPING,
    Failure,
    Stopped,
    bad_parameters,
    folder,
    log,
    publish,
    read_params,
    run,
    whole,
    write_json,
)

COMMANDS = {"word-count": ("wc", "-w"), "sha256-sum": ("sha256sum", "--binary")}
COMMAND_PATH = "/usr/bin:/bin:/usr/local/bin"
WORD = 8
"""Bytes of a word with the space behind it."""


def write_words(path: Path, mebibytes: int, rng: Any) -> dict[str, str]:
    """A file of seeded words, and the right answer of each command on it, known from the making."""
    vocabulary = np.array([f"{number:07x}\n" if number % 16 == 0 else f"{number:07x} " for number in range(4096)], "S8")
    sha256, words = hashlib.sha256(), 0
    with path.open("wb") as file:
        for _ in range(mebibytes):
            data = vocabulary[rng.integers(0, len(vocabulary), size=(1 << 20) // WORD)].tobytes()
            words += len(data) // WORD
            sha256.update(data)
            file.write(data)
    return {"word-count": str(words), "sha256-sum": sha256.hexdigest()}


def run_command(operation: str, path: Path) -> str:
    """The first word the command prints. Raises Stopped on TERM, with the command ended."""
    name, *flags = COMMANDS[operation]
    program = shutil.which(name, path=COMMAND_PATH)
    if program is None:
        raise Failure(69, "CommandMissing", f"{name} is not in {COMMAND_PATH}")
    argv = [program, *flags, str(path)]
    with subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, env={"LC_ALL": "C"}) as process:
        while process.poll() is None:
            if STOPPING.wait(0.01):
                process.kill()
                raise Stopped
        said = process.stdout.read().decode("ascii", "replace") if process.stdout else ""
    if process.returncode:
        raise Failure(70, "CommandFailed", f"{name} ended with {process.returncode}")
    return said.split()[0] if said.split() else ""


def multiply(size: int, rng: Any) -> str:
    """One product of two seeded matrices, proved by Freivalds' check, as its trace."""
    left, right, probe = rng.normal(size=(size, size)), rng.normal(size=(size, size)), rng.normal(size=size)
    product = left @ right
    if not np.allclose(product @ probe, left @ (right @ probe), rtol=1e-6, atol=1e-6 * size):
        raise Failure(70, "WrongAnswer", "the matrix product fails its check")
    return f"{np.trace(product):.9g}"


def passes(params: dict[str, Any], scratch: Path) -> Callable[[], str]:
    """One pass of the chosen operation, checked; returns its answer."""
    operation = params.get("operation")
    rng = np.random.default_rng([whole(params, "seed", 0, 2**53), INDEX])
    if operation == "matrix-multiply":
        size = whole(params, "matrix_size", 1, 16_384)
        return lambda: multiply(size, rng)
    if operation not in COMMANDS:
        raise bad_parameters(f"operation {operation!r} is not in the list")
    path = scratch / f"words-{INDEX}.txt"
    right = write_words(path, whole(params, "size_mib", 1, 4096), rng)[operation]
    log(f"wrote file={path.name} bytes={path.stat().st_size}")

    def one() -> str:
        answer = run_command(operation, path)
        if answer != right:
            raise Failure(70, "WrongAnswer", f"{operation} said {answer!r}, right is {right!r}")
        return answer

    return one


def main() -> None:
    """Repeat the operation until its time is over, at least once."""
    params, output, scratch = read_params(), folder("PORTAL_OUTPUT_DIR"), folder("PORTAL_SCRATCH_DIR")
    duration = whole(params, "duration", 0, 10**10) / 1000
    one, began, done, answer = passes(params, scratch), time.monotonic(), 0, ""
    told = began
    while done == 0 or time.monotonic() - began < duration:
        if STOPPING.is_set():
            raise Stopped
        answer, done = one(), done + 1
        if done == 1 or time.monotonic() - told >= 1.0:
            told = time.monotonic()
            log(f"pass={done} seconds={told - began:.1f} answer={answer}")
    result = {"operation": params["operation"], "member": INDEX, "passes": done, "answer": answer}
    result["wall_ms"] = round((time.monotonic() - began) * 1000)
    path = output / f"result-{INDEX}.json"
    write_json(path, result)
    publish({path.stem: ("result", path)})
    log(f"done passes={done} answer={answer}")


if __name__ == "__main__":
    run(main)
