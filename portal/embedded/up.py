"""`manage.py up`: the whole portal on one machine, until Ctrl-C.

It runs before Django is loaded: there is no database yet, and a light parent starts sooner.
"""

import argparse
import json
import os
import socket
import sys
import time
from collections.abc import Mapping
from pathlib import Path

from portal.embedded import applications
from portal.embedded.errors import EmbeddedError, StopRequested
from portal.embedded.paths import StateFolder, socket_folder, state_folder
from portal.embedded.runfile import end_leftovers, hold
from portal.embedded.servers import OWNER_URL, START_SECONDS, Servers, new_child
from portal.embedded.supervisor import Supervisor
from portal.embedded.terminal import tell, warn

DEFAULT_BIND = "127.0.0.1:8000"
PREPARE_SECONDS = 300.0
WEB_SECONDS = 60.0
DEMO_SECONDS = 600.0


def main(argv: list[str]) -> int:
    """Run until stopped; 0 after an orderly stop, 1 with a sentence when it cannot start."""
    options = _parse(argv)
    state = state_folder(os.environ)
    try:
        state.create()
        with hold(state):
            end_leftovers(state)
            _check_port(options.host, options.port)
            with socket_folder(os.environ) as sockets:
                return Up(state, sockets, options.host, options.port, os.environ, empty=options.empty).run()
    except (EmbeddedError, OSError) as error:
        warn(str(error))
        return 1


class Up:
    """One run of the portal, from the first line to the last."""

    def __init__(
        self,
        state: StateFolder,
        sockets: Path,
        host: str,
        port: int,
        environ: Mapping[str, str],
        *,
        empty: bool = False,
    ) -> None:
        self.state = state
        self.host = host
        self.port = port
        self.empty = empty
        self.began = time.monotonic()
        self.supervisor = Supervisor(state, sockets, self.say)
        self.servers = Servers(state, sockets, environ)
        self.env = self._environment(environ)

    def run(self) -> int:
        """Start everything in order, keep it running, stop it."""
        with self.supervisor.stopping_on_signals():
            try:
                self._start()
                self.supervisor.watch()
            except StopRequested:
                pass
            finally:
                self.say("stopping")
                self.supervisor.stop()
        self.say("stopped")
        return 0

    def say(self, line: str) -> None:
        """One line for the terminal, with the seconds since the start."""
        tell(f"{time.monotonic() - self.began:7.1f} s  {line}")

    def _start(self) -> None:
        self.say(f"state folder {self.state.root}")
        if not sys.platform.startswith("linux"):
            self.say("note: on this system children outlive a supervisor killed with -9; the next start ends them")
        self._start_servers()
        self._start_portal()

    def _start_servers(self) -> None:
        if self.servers.create():
            self.say("PostgreSQL: new database created")
        for child in self.servers.children():
            self.supervisor.bring_up(child, within=START_SECONDS)
            self.say(f"{child.spec.title} is up")

    def _start_portal(self) -> None:
        owner = {**self.env, OWNER_URL: self.servers.environment[OWNER_URL]}
        self.supervisor.run_once(new_child(self.state, applications.prepare(owner)), within=PREPARE_SECONDS)
        self.say("tables and demo data are ready")
        web = new_child(self.state, applications.web(self.env, self.host, self.port))
        self.supervisor.bring_up(web, within=WEB_SECONDS)
        # After the first page, not beside it: they load the same code, and a small machine has few cores.
        for spec in applications.background(self.env, str(self.state.root / "beat-schedule")):
            self.supervisor.launch(new_child(self.state, spec))
        self._announce()
        self._seed()

    def _announce(self) -> None:
        url = f"http://{_shown(self.host)}:{self.port}/"
        self.supervisor.announce(self.servers.environment, url)
        self.say(f"ready at {url}")
        if self.state.accounts.exists():
            tell(accounts_table(self.state.accounts.read_text(encoding="utf-8")))

    def _seed(self) -> None:
        """Add the demo fleet; the portal works without it, and the next start tries again."""
        if self.env.get("PORTAL_DEMO", "fleet") != "fleet":
            return
        began = time.monotonic()
        self.say("adding the simulated demo fleet and its past; everything else works meanwhile")
        try:
            self.supervisor.run_once(new_child(self.state, applications.demo(self.env)), within=DEMO_SECONDS)
        except EmbeddedError as error:
            self.say(f"the demo fleet is not complete: {error}")
        else:
            self.say(f"the demo fleet is complete after {time.monotonic() - began:.0f} s")

    def _environment(self, environ: Mapping[str, str]) -> dict[str, str]:
        """What the portal's processes see: the caller's variables, our servers, never the owner's address."""
        env = {"PORTAL_MODE": "embedded", **environ, **self.servers.environment}
        if self.empty:
            env["PORTAL_DEMO"] = "none"
        env.pop(OWNER_URL, None)
        return {**env, "PORTAL_BIND": f"{self.host}:{self.port}", "PYTHONUNBUFFERED": "1"}


def accounts_table(text: str) -> str:
    """The demo accounts, one a line; `text` is a JSON list of {username, name, role, password}."""
    rows = [("account", "password", "role", "name")]
    rows += [(row["username"], row["password"], row["role"], row["name"]) for row in json.loads(text)]
    widths = [max(len(row[column]) for row in rows) for column in range(3)]
    return "\n".join(
        "    " + "  ".join(cell.ljust(width) for cell, width in zip(row, (*widths, 0), strict=True)) for row in rows
    )


def _parse(argv: list[str]) -> argparse.Namespace:
    host, _, port = os.environ.get("PORTAL_BIND", DEFAULT_BIND).rpartition(":")
    parser = argparse.ArgumentParser(prog="./dev up", description=main.__doc__)
    parser.add_argument("--port", type=int, default=port, help="port of the web server (default %(default)s)")
    parser.add_argument("--host", default=host or "127.0.0.1", help="address to listen on (default %(default)s)")
    parser.add_argument("--empty", action="store_true", help="no demo: one administrator, who sets everything up")
    return parser.parse_args(argv)


def _check_port(host: str, port: int) -> None:
    """Raises EmbeddedError when another program listens there; better now than after half a minute."""
    with socket.socket(socket.AF_INET6 if ":" in host else socket.AF_INET) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((host.strip("[]"), port))
        except OSError as error:
            raise EmbeddedError(
                f"Cannot listen on {host}:{port} ({error.strerror}). Choose another port: ./dev up --port {port + 1}"
            ) from error


def _shown(host: str) -> str:
    return "127.0.0.1" if host in ("0.0.0.0", "") else host  # noqa: S104
