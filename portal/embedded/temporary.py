"""State folders that last as long as one command, also when it is killed before it can tidy up."""

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from portal.embedded.errors import AlreadyRunning
from portal.embedded.paths import StateFolder
from portal.embedded.runfile import end_leftovers, hold

PREFIX = "armillary-temporary-"


@contextmanager
def temporary_state() -> Iterator[StateFolder]:
    """A new state folder, removed at the end; those which killed commands left behind are removed first."""
    base = Path(tempfile.gettempdir())
    for folder in base.glob(f"{PREFIX}*"):
        _remove_if_abandoned(StateFolder(folder))
    state = StateFolder(Path(tempfile.mkdtemp(prefix=PREFIX, dir=base)))
    try:
        yield state
    finally:
        shutil.rmtree(state.root, ignore_errors=True)


def _remove_if_abandoned(state: StateFolder) -> None:
    """Nobody holds the lock of an abandoned folder; one without a lock was just made by somebody else."""
    if not state.lock.exists() or state.root.stat().st_uid != os.geteuid():
        return
    try:
        with hold(state):
            end_leftovers(state)
            shutil.rmtree(state.root, ignore_errors=True)
    except (AlreadyRunning, OSError):
        return
