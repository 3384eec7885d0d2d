"""Whether jobs can be kept apart from the portal and from each other on this machine: tried, not guessed."""

import os
import subprocess
import tempfile
import threading
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from portal.lib.text import gettext_noop

from . import launch
from .launcher import records
from .launcher.syscalls import can_shut_out_abstract_sockets
from .plan import limits_for
from .site import Site
from .view import HOME, base_view, bind

_LOOK: Final = "import os, sys; sys.exit(any(os.path.exists(path) for path in sys.argv[1:]))"
_MEMORY = 512 << 20

ISOLATED = gettext_noop(
    "Jobs run in namespaces of their own and see nothing of the portal or of each other; "
    "they share this machine's network."
)
SHARED_SOCKETS = gettext_noop(
    "Jobs run in namespaces of their own and see nothing of the portal or of each other; "
    "they share this machine's network and its abstract sockets."
)
NOT_ISOLATED = gettext_noop("This machine does not allow jobs to be isolated: only shipped programs run here.")
SWITCHED_OFF = gettext_noop("Isolation is switched off: only shipped programs run here.")


@dataclass(frozen=True, slots=True)
class Isolation:
    """`mode` is root, user or none (see `launcher/sandbox.py`); `cause` is the system's word why not."""

    mode: str
    detail: str
    cause: str = ""


def _ways() -> tuple[str, ...]:
    return ("root", "user") if os.geteuid() == 0 else ("user",)


class Prober:
    """Runs a harmless program isolated, and remembers the answer; a good one until the machine restarts.

    Should a remembered yes have become wrong, jobs fail to start; they never start without isolation.
    """

    def __init__(self, site: Site) -> None:
        self._site = site
        self._lock = threading.Lock()
        self._found: Isolation | None = None

    def isolation(self) -> Isolation:
        """How jobs are isolated here; takes a moment the first time."""
        with self._lock:
            if self._found is None:
                self._found = self._probe()
            return self._found

    def _probe(self) -> Isolation:
        if not self._site.options.isolate:
            return Isolation("none", SWITCHED_OFF)
        mode, causes = self._remembered(), []
        for candidate in () if mode else _ways():
            if cause := self._try(candidate):
                causes.append(f"{candidate}: {cause}")
            else:
                mode = candidate
                records.write(self._memory, {"conditions": self._conditions(), "mode": mode}, durable=False)
                break
        if mode:
            return Isolation(mode, ISOLATED if can_shut_out_abstract_sockets() else SHARED_SOCKETS)
        return Isolation("none", NOT_ISOLATED, "; ".join(causes))

    def _remembered(self) -> str:
        found = records.read(self._memory) or {}
        return str(found["mode"]) if found.get("conditions") == self._conditions() else ""

    @property
    def _memory(self) -> Path:
        return self._site.root / "isolation.json"

    def _conditions(self) -> list[str]:
        """What the answer depends on: this boot, who we are, which interpreter jobs get."""
        namespace = os.readlink("/proc/self/ns/user")
        return [records.boot_id(), str(os.geteuid()), namespace, str(self._site.options.python)]

    def _try(self, mode: str) -> str:
        """ "" when a program ran in isolation and could not see our folders, else why not."""
        parent = self._site.root / "probes"
        parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=parent) as name:
            folder = Path(name, "job", "members", "0")
            try:
                self._prepare(folder, Path(name), mode)
                launch.launch(folder, marker={}, foreground=True)
                ended = records.read(folder / records.EXIT)
            except (OSError, subprocess.SubprocessError) as error:
                return str(error)
        if ended is None:
            return "the launcher left no exit record"
        return "" if ended["ok"] else f"{ended['reason']}: {ended['message']}"

    def _prepare(self, folder: Path, base: Path, mode: str) -> None:
        (base / "work").mkdir(mode=0o700)
        launch.give_to_job(str(base / "work"), mode)
        view = base_view(self._site)
        view["binds"].append(bind(str(base / "work"), f"{HOME}/scratch", writable=True))
        plan = view | {
            "index": 0,
            "count": 1,
            "gang": False,
            "isolation": mode,
            "argv": [str(self._site.options.python), "-I", "-c", _LOOK, str(self._site.root)],
            "env": {"PATH": "/usr/bin:/bin"},
            "cwd": f"{HOME}/scratch",
            "root": str(folder / "root"),
            "cpus": [],
            "memory_bytes": _MEMORY,
            "cgroup": "",
            "limits": limits_for(self._site, _MEMORY),
            "time_limit_ms": 10_000,
            "grace_ms": 0,
            "port": 0,
            "health_path": "",
            "log_head_bytes": 4096,
            "log_tail_bytes": 4096,
            "devices": [],
            "groups": [],
        }
        launch.write_member(folder, plan, "{}")
