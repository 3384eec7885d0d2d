"""What a program left in its folders, read with suspicion: it may put anything there."""

import json
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, BinaryIO

from jobs import storage
from portal.lib.text import BadInput, clean_line

KINDS = ("dataset", "checkpoint", "model", "result")
MOST_ENTRIES = 1_000
LARGEST_MANIFEST = 1 << 20
LARGEST_OUTPUT = 64 << 30
"""Bytes of one output beyond which it is not digested: a sparse file of any size costs its maker nothing."""
_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Output:
    """One output as listed, its path proved to lie in the job's own folders."""

    name: str
    kind: str
    path: Path


def listed_outputs(output: Path, checkpoints: Path) -> Iterator[Output | None]:
    """The entries of artifacts.json, None for each that cannot be believed. No manifest is no entry."""
    for item in _manifest(output)[:MOST_ENTRIES]:
        root = checkpoints if item.get("root") == "checkpoints" else output
        path = storage.within(root, str(item.get("path", "")))
        try:
            name = clean_line(item.get("name") or (path.name if path else ""), maximum=200)
        except BadInput:
            name = ""
        kind = item.get("kind")
        yield Output(name, kind, path) if path is not None and name and kind in KINDS else None


def measure(path: Path) -> tuple[int, str]:
    """Bytes and SHA-256 of a file; of a folder, of its sorted list of relative paths and file digests.

    Raises OSError for what is neither, leads elsewhere by a link, or is larger than LARGEST_OUTPUT.
    """
    if not path.is_dir():
        return _measure_file(path)
    total, listing = 0, sha256()
    for child in sorted(p for p in path.rglob("*") if not p.is_dir() and not p.is_symlink()):
        size, digest = _measure_file(child)
        total += size
        listing.update(f"{child.relative_to(path).as_posix()}\0{digest}\n".encode(errors="surrogateescape"))
    return total, listing.hexdigest()


def open_plain(path: Path) -> BinaryIO:
    """The file for reading. Raises OSError unless it is a regular one: a pipe would wait for ever."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    facts = os.fstat(descriptor)
    if not stat.S_ISREG(facts.st_mode) or facts.st_size > LARGEST_OUTPUT:
        os.close(descriptor)
        raise OSError(f"{path.name} is no regular file of a size that is kept")
    return os.fdopen(descriptor, "rb")


def _measure_file(path: Path) -> tuple[int, str]:
    digest, size = sha256(), 0
    with open_plain(path) as file:
        while chunk := file.read(_CHUNK):
            digest.update(chunk)
            size += len(chunk)
    return size, digest.hexdigest()


def _manifest(output: Path) -> list[dict[str, Any]]:
    path = storage.within(output, "artifacts.json")
    if path is None:
        return []
    try:
        with open_plain(path) as file:
            text = file.read(LARGEST_MANIFEST + 1)
        raw = json.loads(text) if len(text) <= LARGEST_MANIFEST else []
    except (OSError, ValueError, RecursionError):
        return []
    items = raw.get("artifacts", []) if isinstance(raw, dict) else raw
    return [item for item in items if isinstance(item, dict)] if isinstance(items, list) else []
