"""Whether the service of a member answers, asked from outside it."""

import contextlib
import os
import socket
import threading
from collections.abc import Callable

from . import records
from .processes import descendants

_TIME_OUT = 1.0
_WHILE_STARTING = 0.1
_WHEN_READY = 5.0
_FAILURES_TO_REPORT = 3
_LISTENING = "0A"


class HealthWatch(threading.Thread):
    """Asks the health path again and again; keeps `health.json`: ready_at, healthy, message."""

    def __init__(self, folder: str, first: int, port: int, path: str) -> None:
        super().__init__(daemon=True)
        self._record = f"{folder}/{records.HEALTH}"
        self._first, self._port, self._path = first, port, path
        self._stopped = threading.Event()
        self._state: records.Record = {}

    def run(self) -> None:
        """Until stopped."""
        failures = 0
        while not self._stopped.wait(_WHEN_READY if self._state.get("ready_at") else _WHILE_STARTING):
            fault = ask(self._port, self._path, lambda: owns_port(self._first, self._port))
            failures = failures + 1 if fault else 0
            if not fault or failures >= _FAILURES_TO_REPORT:
                self._keep(fault)

    def stop(self) -> None:
        """Ask no more."""
        self._stopped.set()

    def _keep(self, fault: str) -> None:
        ready_at = self._state.get("ready_at") or (None if fault else records.now_ms())
        state = {"ready_at": ready_at, "healthy": not fault, "message": fault}
        if state != self._state:
            with contextlib.suppress(OSError):
                records.write(self._record, state, durable=False)
                self._state = state


def ask(port: int, path: str, is_ours: Callable[[], bool]) -> str:
    """ "" when the service answers 200, else what is wrong. A stranger that took the port is not the service."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=_TIME_OUT) as connection:
            if not is_ours():
                return f"port {port} belongs to another process"
            connection.sendall(f"GET {path} HTTP/1.0\r\nHost: 127.0.0.1\r\n\r\n".encode("ascii"))
            words = connection.recv(256).split(b" ", 2)
    except OSError as error:
        return f"no answer on port {port}: {error.strerror or error}"
    if len(words) < 2 or words[1] != b"200":
        return f"{path} answers {words[1].decode('ascii', 'replace') if len(words) > 1 else 'no HTTP'}"
    return ""


def owns_port(first: int, port: int) -> bool:
    """Whether a process below `first` listens on this loopback port."""
    links = {f"socket:[{inode}]" for inode in _listeners(port)}
    for pid in descendants(first):
        with contextlib.suppress(OSError):
            for name in os.listdir(f"/proc/{pid}/fd"):
                with contextlib.suppress(OSError):
                    if os.readlink(f"/proc/{pid}/fd/{name}") in links:
                        return True
    return False


def _listeners(port: int) -> list[str]:
    """Socket inodes of listeners on the port, from /proc/net/tcp and tcp6 (proc(5))."""
    inodes = []
    for name in ("tcp", "tcp6"):
        with contextlib.suppress(FileNotFoundError), open(f"/proc/self/net/{name}", encoding="ascii") as file:
            for fields in (line.split() for line in list(file)[1:]):
                if fields[3] == _LISTENING and int(fields[1].rpartition(":")[2], 16) == port:
                    inodes.append(fields[9])
    return inodes
