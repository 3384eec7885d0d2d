"""Where a kept file or folder lies, and a folder as one stream."""

import os
import stat
import tarfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from django.utils.translation import gettext_lazy as _

from jobs import storage
from jobs.models import Artifact, Job
from portal.lib.errors import Conflict

MOST_FILES = 10_000
MOST_BYTES = 4 << 30
_CHUNK = 1 << 18
_OPEN = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


@dataclass(frozen=True, slots=True)
class Inside:
    """A regular file of a folder: its path below it, and its bytes when it was looked at."""

    path: str
    bytes: int


def kept_file(artifact: Artifact) -> Path | None:
    """The artifact's file; None for a folder, and for anything that is not below the data folder any more."""
    path = _kept(artifact)
    return path if path is not None and path.is_file() else None


def kept_folder(artifact: Artifact) -> Path | None:
    """The artifact's folder; None for a file, and for anything that is not below the data folder any more."""
    path = _kept(artifact)
    return path if path is not None and path.is_dir() else None


def files_inside(folder: Path) -> list[Inside]:
    """Regular files below the folder in the order of their paths; links are left out, never followed.

    Raises Conflict for more than MOST_FILES files or MOST_BYTES bytes.
    """
    found: list[Inside] = []
    total = 0
    for root, _folders, names, handle in os.fwalk(folder, follow_symlinks=False):
        for name in names:
            facts = os.stat(name, dir_fd=handle, follow_symlinks=False)
            if stat.S_ISREG(facts.st_mode):
                found.append(Inside((Path(root) / name).relative_to(folder).as_posix(), facts.st_size))
                total += facts.st_size
        if len(found) > MOST_FILES or total > MOST_BYTES:
            raise Conflict(
                "FolderTooLarge",
                _("This folder has more than {most} files or {bytes} bytes. Use it as the input of a job instead."),
                facts={"most": MOST_FILES, "bytes": MOST_BYTES},
            )
    return sorted(found, key=lambda entry: entry.path)


def files_of(job: Job) -> Iterator[tuple[Artifact, list[Inside]]]:
    """What the job's artifacts consist of: one entry without a path for a file, its files for a folder."""
    for artifact in Artifact.objects.filter(job=job, deleted_at__isnull=True).order_by("kind", "name", "pk"):
        folder = kept_folder(artifact)
        if folder is not None:
            yield artifact, files_inside(folder)
        elif kept_file(artifact) is not None:
            yield artifact, [Inside("", artifact.bytes)]


def tar_stream(artifact: Artifact, folder: Path) -> Iterator[bytes]:
    """The folder as a tar file, part by part; the same bytes for the same files.

    Raises Conflict before the first part for a folder that is too large, and OSError in the middle for a file
    that changed meanwhile: the reader then gets no whole file.
    """
    entries = files_inside(folder)
    return _tar(entries, folder, Path(artifact.name).name or "folder", int(artifact.created_at.timestamp()))


def _tar(entries: list[Inside], folder: Path, name: str, made: int) -> Iterator[bytes]:
    for entry in entries:
        head = tarfile.TarInfo(f"{name}/{entry.path}")
        head.size, head.mtime, head.mode = entry.bytes, made, 0o644
        yield head.tobuf(tarfile.PAX_FORMAT)
        with _open_below(folder, entry.path) as file:
            yield from _exactly(file, entry)
        yield bytes(-entry.bytes % tarfile.BLOCKSIZE)
    yield bytes(2 * tarfile.BLOCKSIZE)


def _exactly(file: BinaryIO, entry: Inside) -> Iterator[bytes]:
    left = entry.bytes
    while left:
        data = file.read(min(left, _CHUNK))
        if not data:
            raise OSError(f"{entry.path} became shorter while it was read")
        left -= len(data)
        yield data


def _open_below(folder: Path, path: str) -> BinaryIO:
    """The regular file at that path, opened step by step, so that no link on the way is followed."""
    handle = os.open(folder, _OPEN | os.O_DIRECTORY)
    *folders, name = path.split("/")
    try:
        for step in folders:
            below = os.open(step, _OPEN | os.O_DIRECTORY, dir_fd=handle)
            os.close(handle)
            handle = below
        descriptor = os.open(name, _OPEN, dir_fd=handle)
    finally:
        os.close(handle)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(f"{path} is no regular file any more")
    return os.fdopen(descriptor, "rb")


def _kept(artifact: Artifact) -> Path | None:
    root = storage.data_root()
    path = Path(artifact.location)
    if not path.is_relative_to(root):
        return None
    return storage.within(root, str(path.relative_to(root)))
