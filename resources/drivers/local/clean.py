"""Removing what a job left in its scratch folder, whatever shape it gave it.

A job can nest folders deeper than any path or any recursion: each inner folder is first moved up to the top, so that
no more than two levels are ever looked at. Nothing of the job runs any more, and links are never followed.
"""

import os
import stat
from collections.abc import Iterator

_BLOCK = 512
_MOVED = ".armillary-moved-"


def measure_and_flatten(path: str) -> tuple[int, int]:
    """(files, bytes on disk) below `path`, folders not counted; leaves every folder at the top. Repeatable."""
    files = size = 0
    for folder in _flat_folders(path):
        with os.scandir(folder) as entries:
            for entry in entries:
                if not entry.is_dir(follow_symlinks=False):
                    files += 1
                    size += entry.stat(follow_symlinks=False).st_blocks * _BLOCK
    return files, size


def remove(path: str) -> None:
    """Remove everything below `path` and the folder itself."""
    if not os.path.isdir(path):
        return
    for folder in _flat_folders(path):
        for entry in list(os.scandir(folder)):
            if not entry.is_dir(follow_symlinks=False):
                os.unlink(entry.path)
        if folder != path:
            os.rmdir(folder)
    os.rmdir(path)


def _flat_folders(path: str) -> Iterator[str]:
    """Folders one level below `path` with nothing but files in them, then `path`; inner folders are moved up."""
    if not os.path.isdir(path):
        return
    os.chmod(path, stat.S_IRWXU)
    number = _first_free(path)
    waiting = [entry.path for entry in os.scandir(path) if entry.is_dir(follow_symlinks=False)]
    while waiting:
        folder = waiting.pop()
        os.chmod(folder, stat.S_IRWXU)
        for entry in list(os.scandir(folder)):
            if entry.is_dir(follow_symlinks=False):
                os.chmod(entry.path, stat.S_IRWXU)  # a folder we may not write to cannot be moved
                moved = f"{path}/{_MOVED}{number}"
                number += 1
                os.rename(entry.path, moved)
                waiting.append(moved)
        yield folder
    yield path


def _first_free(path: str) -> int:
    """A number above those an interrupted call has used."""
    taken = [name.removeprefix(_MOVED) for name in os.listdir(path) if name.startswith(_MOVED)]
    return 1 + max((int(number) for number in taken if number.isascii() and number.isdigit()), default=0)
