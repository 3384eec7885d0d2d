"""A hostile program: tries everything it is told to and writes what worked. Standard library only.

Run as a job it must get nothing; run outside by the portal's user it must get all, else the tests prove nothing.
"""

import json
import os
import signal
import socket
import sys
from collections.abc import Callable
from pathlib import Path


def read(path: str) -> str:
    """A file's text, or a folder's entries."""
    target = Path(path)
    return ",".join(sorted(os.listdir(target))) if target.is_dir() else target.read_text(errors="replace")[:200]


def connect(path: str) -> str:
    """What the server behind a unix socket says; `@name` is an abstract one."""
    with socket.socket(socket.AF_UNIX) as client:
        client.settimeout(2)
        client.connect("\0" + path[1:] if path.startswith("@") else path)
        return client.recv(100).decode()


def write(folder: str) -> str:
    """Leave a file in a folder."""
    path = Path(folder, "intruder-was-here")
    path.write_text("x")
    path.unlink()
    return "written"


def kill(pid: str) -> str:
    """Signal a process."""
    os.kill(int(pid), signal.SIGCONT)
    return "signalled"


def look_at(command: str) -> str:
    """The pid of a process with this word in its command line, found in /proc."""
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                if command in Path("/proc", name, "cmdline").read_text():
                    return name
            except OSError:
                continue
    raise LookupError(command)


def walk(word: str) -> str:
    """A file with this word in its name, found anywhere but in system folders."""
    for folder, inner, files in os.walk("/"):
        inner[:] = [name for name in inner if f"{folder}/{name}" not in ("//proc", "//sys", "//usr")]
        if found := [name for name in files if word in name]:
            return f"{folder}/{found[0]}"
    raise LookupError(word)


ACTIONS: dict[str, Callable[[str], str]] = {
    "read": read,
    "connect": connect,
    "write": write,
    "kill": kill,
    "look_at": look_at,
    "walk": walk,
}


def attempt_all(attempts: dict[str, list[str]]) -> dict[str, str]:
    """Name of each attempt → what it got; those that failed are left out."""
    got = {}
    for name, (action, argument) in attempts.items():
        try:
            got[name] = ACTIONS[action](argument)
        except (OSError, LookupError) as error:
            print(f"{name}: {error}", file=sys.stderr)
    return got


if __name__ == "__main__":
    orders = json.loads(Path(os.environ["PORTAL_PARAMS_FILE"]).read_text())
    Path(os.environ["PORTAL_OUTPUT_DIR"], "got.json").write_text(json.dumps(attempt_all(orders)))
