"""The whole portal as one object, for browser tests, benches and kill tests."""

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from portal.embedded.errors import EmbeddedError
from portal.embedded.paths import CHECKOUT, StateFolder
from portal.embedded.process import ProcessId, tied
from portal.embedded.runfile import live_running

POLL_SECONDS = 0.05
STOP_SECONDS = 20.0


@dataclass(slots=True)
class Stack:
    """A running `up` in a state folder of its own; it stops with the process that started it."""

    process: subprocess.Popen[bytes]
    state: StateFolder
    url: str
    output: Path
    seconds_to_ready: float

    @property
    def pids(self) -> dict[str, int]:
        """Process numbers of the children by name, as of now."""
        running = live_running(self.state)
        return {name: child.pid for name, child in running.children.items()} if running else {}

    @property
    def identities(self) -> dict[str, ProcessId]:
        """The children by name with their start times."""
        running = live_running(self.state)
        return dict(running.children) if running else {}

    @property
    def environment(self) -> dict[str, str]:
        """The variables under which Django reaches this stack's servers."""
        running = live_running(self.state)
        return dict(running.environment) if running else {}

    @property
    def accounts(self) -> dict[str, str]:
        """Passwords of the demo accounts by user name."""
        rows = json.loads(self.state.accounts.read_text(encoding="utf-8"))
        return {row["username"]: row["password"] for row in rows}

    def stop(self) -> int:
        """Ask for an orderly stop and wait for it; the exit code."""
        if self.process.poll() is None:
            self.process.terminate()
        return self.process.wait(STOP_SECONDS)

    def kill(self) -> None:
        """SIGKILL for the supervisor alone."""
        self.process.kill()
        self.process.wait()


def start_stack(
    state_dir: Path, port: int | None = None, *, within: float = 120.0, extra: Mapping[str, str] | None = None
) -> Stack:
    """`up` on that state folder, ready for requests; a free port unless one is given.

    None of the caller's PORTAL_* variables reach it, only `extra`; without one it has no simulated fleet, which would
    keep the machine busy for a minute. Raises EmbeddedError with its output.
    """
    port = port or free_port()
    state_dir.mkdir(parents=True, exist_ok=True)
    state = StateFolder(state_dir)
    env = {name: value for name, value in os.environ.items() if not name.startswith("PORTAL_")}
    env |= {"PORTAL_STATE_DIR": str(state_dir), "PORTAL_DEMO": "machine", **(extra or {})}
    command = tied((sys.executable, str(CHECKOUT / "manage.py"), "up", "--port", str(port)), signal.SIGTERM)
    output = state_dir / "up.log"
    began = time.monotonic()
    with output.open("ab") as log:
        process = subprocess.Popen(
            command,
            env=env,
            cwd=CHECKOUT,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=log,
            start_new_session=True,
        )
    url = _await_ready(process, state, output, within)
    return Stack(process, state, url, output, time.monotonic() - began)


def free_port() -> int:
    """A port nobody listens on at this moment."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _await_ready(process: subprocess.Popen[bytes], state: StateFolder, output: Path, within: float) -> str:
    deadline = time.monotonic() + within
    while process.poll() is None and time.monotonic() < deadline:
        running = live_running(state)
        if running and running.is_ready:
            return running.url
        time.sleep(POLL_SECONDS)
    process.terminate()
    process.wait(STOP_SECONDS)
    raise EmbeddedError(f"`up` did not become ready:\n{output.read_text(errors='replace')}")
