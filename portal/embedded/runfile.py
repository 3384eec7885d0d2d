"""What runs on a state folder right now: who holds it, its addresses and processes."""

import contextlib
import fcntl
import json
import os
import signal
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from portal.embedded.errors import AlreadyRunning
from portal.embedded.paths import StateFolder, remove_socket_folder, write_private
from portal.embedded.process import ProcessId

LEFTOVER_PATIENCE_SECONDS = 5.0


@dataclass(slots=True)
class Running:
    """The contents of run.json: addresses as environment variables, every child by its true identity."""

    supervisor: ProcessId
    socket_folder: str
    url: str = ""
    is_ready: bool = False
    environment: dict[str, str] = field(default_factory=dict)
    children: dict[str, ProcessId] = field(default_factory=dict)

    def write(self, state: StateFolder) -> None:
        """Replace the file; it is private, as its addresses let the reader in."""
        write_private(state.run_file, json.dumps(asdict(self), indent=2))


def read_running(state: StateFolder) -> Running | None:
    """What the file says, whether or not it is still true; None without a readable file."""
    try:
        raw: dict[str, Any] = json.loads(state.run_file.read_text(encoding="utf-8"))
        raw["supervisor"] = ProcessId(**raw["supervisor"])
        raw["children"] = {name: ProcessId(**child) for name, child in raw["children"].items()}
        return Running(**raw)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def live_running(state: StateFolder) -> Running | None:
    """What runs now; None when its supervisor is gone."""
    running = read_running(state)
    return running if running and running.supervisor.is_alive() else None


@contextlib.contextmanager
def hold(state: StateFolder) -> Iterator[None]:
    """Be the only one who starts servers here. Raises AlreadyRunning.

    The kernel drops the lock with its process, so a stale file never blocks; its text is for the message.
    """
    handle = os.open(state.lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise AlreadyRunning(_already_running(state, os.pread(handle, 64, 0).decode())) from None
        os.ftruncate(handle, 0)
        os.pwrite(handle, str(os.getpid()).encode(), 0)
        yield
    finally:
        os.close(handle)


def _already_running(state: StateFolder, holder: str) -> str:
    running = live_running(state)
    where = f" at {running.url}" if running and running.url else ""
    return (
        f"Armillary already runs on {state.root} (process {holder or 'unknown'}){where}. Stop it with Ctrl-C "
        f"or `kill {holder}`, or choose another folder with PORTAL_STATE_DIR."
    )


def end_leftovers(state: StateFolder) -> None:
    """End the children of a killed supervisor, by number and start time, and remove its sockets."""
    running = read_running(state)
    if running is None:
        return
    _signal(running.children.values(), signal.SIGINT)
    deadline = time.monotonic() + LEFTOVER_PATIENCE_SECONDS
    while any(child.is_alive() for child in running.children.values()) and time.monotonic() < deadline:
        time.sleep(0.05)
    _signal(running.children.values(), signal.SIGKILL)
    remove_socket_folder(Path(running.socket_folder))
    state.run_file.unlink(missing_ok=True)


def _signal(children: Iterable[ProcessId], number: signal.Signals) -> None:
    for child in children:
        if child.is_alive():
            with contextlib.suppress(ProcessLookupError):
                os.killpg(child.pid, number)
