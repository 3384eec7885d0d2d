"""What a program and the portal owe each other: variables, parameters, inputs, outputs and ends.

The programs of this folder import its `portal_` modules and nothing else of the project: the folder is laid
into a job as it is. The contract is written down in ../README.md. Standard library only.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import re
import signal
import sys
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

STOPPING = threading.Event()
"""Set by TERM; long loops look at it."""
INDEX = int(os.environ.get("PORTAL_INDEX") or "0")
COUNT = int(os.environ.get("PORTAL_COUNT") or "1")


class Failure(Exception):
    """Ends the program with one line on stderr: reason and sentence, and with the exit code of the reason."""

    def __init__(self, code: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.code, self.reason, self.message = code, reason, message


class Stopped(Exception):
    """TERM arrived, and what had to be saved is saved."""


def bad_parameters(message: str) -> Failure:
    """The parameters or variables are not what this program needs."""
    return Failure(64, "BadParameters", message)


def bad_input(message: str) -> Failure:
    """An input is there, but damaged or of another form."""
    return Failure(65, "BadInput", message)


def log(message: str) -> None:
    """One plain line, at once."""
    print(message, flush=True)


def folder(variable: str) -> Path:
    """A folder the portal gives the job to write in."""
    if not os.environ.get(variable):
        raise bad_parameters(f"{variable} is not set")
    path = Path(os.environ[variable])
    path.mkdir(parents=True, exist_ok=True)
    return path


def input_path(name: str) -> Path:
    """Where the portal laid an input, read-only."""
    variable = f"PORTAL_INPUT_{name.upper()}"
    given = os.environ.get(variable)
    if not given or not Path(given).exists():
        raise Failure(66, "MissingInput", f"the input {name} is not there ({variable}={given or ''})")
    return Path(given)


def read_params() -> dict[str, Any]:
    """The typed parameters of this job."""
    try:
        params = json.loads(Path(os.environ["PORTAL_PARAMS_FILE"]).read_bytes())
    except (KeyError, OSError, ValueError) as error:
        raise bad_parameters(f"the parameters cannot be read: {error!r}") from error
    if not isinstance(params, dict):
        raise bad_parameters("the parameters are no object")
    return params


def number(params: Mapping[str, Any], name: str, low: float, high: float) -> Any:
    """A number among the parameters, within its bounds (inclusive)."""
    value = params.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
        raise bad_parameters(f"{name} must be a number from {low} to {high}, not {value!r}")
    return value


def whole(params: Mapping[str, Any], name: str, low: int, high: int) -> int:
    """A whole number among the parameters, within its bounds (inclusive)."""
    value = number(params, name, low, high)
    if not isinstance(value, int):
        raise bad_parameters(f"{name} must be a whole number, not {value!r}")
    return value


def write_whole(path: Path, data: bytes) -> None:
    """Replace a file so that a reader, or a restart after a crash, sees old bytes or new, never a part."""
    partial = path.with_name(f".{path.name}.{os.getpid()}")
    with partial.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(path)
    descriptor = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def write_json(path: Path, content: Any) -> None:
    """A JSON file, the same bytes for the same content."""
    write_whole(path, json.dumps(content, indent=1, sort_keys=True).encode())


def files_below(path: Path) -> list[Path]:
    """All regular files of a folder, in the order of their digest."""
    return sorted(file for file in path.rglob("*") if file.is_file() and not file.is_symlink())


def digest(path: Path) -> str:
    """SHA-256 of a file; of a folder, of its sorted relative paths and digests, as the portal does it."""
    if path.is_file():
        with path.open("rb") as stream:
            return hashlib.file_digest(stream, "sha256").hexdigest()
    listing = hashlib.sha256()
    for file in files_below(path):
        listing.update(f"{file.relative_to(path).as_posix()}\0{digest(file)}\n".encode())
    return listing.hexdigest()


def publish(outputs: Mapping[str, tuple[str, Path]]) -> None:
    """Add this member's outputs, {name: (kind, path below the output folder)}, to artifacts.json.

    Members of one job share the output folder and may end at once: they write one after the other.
    """
    root = folder("PORTAL_OUTPUT_DIR")
    parts = root / ".artifacts"
    parts.mkdir(exist_ok=True)
    listed = [_entry(root, name, kind, path) for name, (kind, path) in outputs.items()]
    with (parts / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        write_json(parts / f"{INDEX:05d}.json", listed)
        joined = [entry for part in sorted(parts.glob("*.json")) for entry in json.loads(part.read_bytes())]
        write_json(root / "artifacts.json", {"artifacts": joined})


def _entry(root: Path, name: str, kind: str, path: Path) -> dict[str, Any]:
    size = path.stat().st_size if path.is_file() else sum(file.stat().st_size for file in files_below(path))
    relative = path.relative_to(root).as_posix()
    return {"name": name, "kind": kind, "path": relative, "bytes": size, "sha256": digest(path)}


def run(main: Callable[[], None]) -> None:
    """Run the program: 0 done, 143 stopped on request, otherwise one line and the code of its reason."""
    signal.signal(signal.SIGTERM, lambda *_: STOPPING.set())
    try:
        main()
    except Stopped:
        log("stopped on request")
        sys.exit(143)
    except Failure as failure:
        _end(failure.code, failure.reason, failure.message)
    except MemoryError:
        _end(71, "OutOfMemory", "the work does not fit into memory")
    except OSError as error:
        _end(73, "CannotWrite", str(error))


def _end(code: int, reason: str, message: str) -> None:
    """Exactly one line, whatever the message holds."""
    print(f"error: {reason}: {re.sub(r'[^ -~]+', ' ', message)[:500]}", file=sys.stderr, flush=True)
    sys.exit(code)
