"""Child processes that end with their parent, and the identity of a process beyond its number."""

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from signal import Signals

import psutil

from portal.embedded.paths import CHECKOUT

LOG_LIMIT_BYTES = 5 * 1024 * 1024
POLL_SECONDS = 0.02
NEXT_SIGNAL_SECONDS = 2.0


@dataclass(frozen=True, slots=True)
class ProcessId:
    """A process number with its start time: the pair is never reused."""

    pid: int
    started: str

    @classmethod
    def of(cls, pid: int) -> "ProcessId | None":
        """The identity of a live process; None when there is none (a zombie counts as none)."""
        try:
            return cls(pid, _start_mark(pid))
        except (OSError, psutil.Error, IndexError):
            return None

    @classmethod
    def this(cls) -> "ProcessId":
        """The identity of the calling process."""
        return cls(os.getpid(), _start_mark(os.getpid()))

    def is_alive(self) -> bool:
        """Whether this very process still runs."""
        return ProcessId.of(self.pid) == self


def _start_mark(pid: int) -> str:
    if not sys.platform.startswith("linux"):
        return str(psutil.Process(pid).create_time())
    # Clock ticks since boot: unlike a time of day they do not move when the clock is set.
    state, *rest = Path(f"/proc/{pid}/stat").read_text(encoding="ascii", errors="replace").rpartition(")")[2].split()
    if state in "ZX":
        raise ProcessLookupError
    return rest[18]


def tied(argv: tuple[str, ...], death_signal: Signals) -> tuple[str, ...]:
    """The command, made to receive the signal when the calling process dies, however it dies.

    The kernel watches the thread that starts the child, so start children from the main thread. The shell in
    between closes the gap in which the parent died before the watch began. Where the system has no such watch
    (macOS) the command is returned as it is.
    """
    setpriv = shutil.which("setpriv")
    if setpriv is None or not sys.platform.startswith("linux"):
        return argv
    guard = '[ "$PPID" = "$0" ] && exec "$@"'
    name = death_signal.name.removeprefix("SIG")
    return (setpriv, "--pdeathsig", name, "/bin/sh", "-c", guard, str(os.getpid()), *argv)


@dataclass(frozen=True, slots=True)
class Spec:
    """How to run one child: command, environment, readiness, and the signals that stop it, gentlest first.

    `run_as` is a command prefix that changes who runs it. `death_signal` is sent by the kernel when the
    supervisor vanishes: there is nobody left to follow it with a stronger one.
    """

    name: str
    title: str
    argv: tuple[str, ...]
    env: Mapping[str, str]
    is_ready: Callable[[int], bool]
    stop_signals: tuple[Signals, ...] = (signal.SIGTERM,)
    death_signal: Signals = signal.SIGKILL
    run_as: tuple[str, ...] = ()


@dataclass(slots=True)
class Child:
    """One supervised process in a session of its own, so that its whole group can be ended."""

    spec: Spec
    log: Path
    process: subprocess.Popen[bytes] | None = None
    started_at: float = 0.0
    signals_sent: int = 0

    @property
    def pid(self) -> int | None:
        """The number of the running process."""
        return self.process.pid if self.process else None

    def start(self) -> None:
        """Start the process; its output is added to the log."""
        command = self.spec.run_as + tied(self.spec.argv, self.spec.death_signal)
        with self.log.open("ab") as log:
            self.process = subprocess.Popen(
                command,
                env=dict(self.spec.env),
                cwd=CHECKOUT,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self.started_at = time.monotonic()

    def collect(self) -> int | None:
        """The exit code once it has ended, else None. Takes the rest of its group along: a dead master's
        workers would keep its port."""
        if self.process is None:
            return None
        code = self.process.poll()
        if code is not None:
            self._signal_group(signal.SIGKILL)
            self.process = None
        return code

    def is_running(self) -> bool:
        """Whether it was started and has not ended."""
        return self.process is not None and self.collect() is None

    def press(self, elapsed: float, within: float) -> None:
        """Send the stop signal that is due after that many seconds of waiting."""
        if self.process is None:
            return
        if elapsed > within:
            self._signal_group(signal.SIGKILL)
            return
        due = min(int(elapsed / NEXT_SIGNAL_SECONDS) + 1, len(self.spec.stop_signals))
        if self.signals_sent < due:
            with contextlib.suppress(ProcessLookupError):
                os.kill(self.process.pid, self.spec.stop_signals[self.signals_sent])
            self.signals_sent += 1

    def is_ready(self) -> bool:
        """Whether it runs and answers."""
        return self.pid is not None and self.spec.is_ready(self.pid)

    def log_tail(self, lines: int = 15) -> str:
        """The last lines it wrote."""
        with self.log.open("rb") as log:
            log.seek(max(0, self.log.stat().st_size - 16_384))
            return "\n".join(log.read().decode(errors="replace").splitlines()[-lines:])

    def _signal_group(self, number: Signals) -> None:
        if self.process is not None:
            with contextlib.suppress(ProcessLookupError, PermissionError):
                os.killpg(self.process.pid, number)


def rotate(log: Path) -> None:
    """Put a log over its limit aside (one old one is kept), so that logs stay bounded over restarts."""
    if log.exists() and log.stat().st_size > LOG_LIMIT_BYTES:
        log.replace(log.with_name(f"{log.name}.1"))


def stop(children: list[Child], *, within: float) -> None:
    """End the children together: each gets its stop signals in turn, and SIGKILL at the deadline."""
    begin = time.monotonic()
    for child in children:
        child.signals_sent = 0
    while alive := [child for child in children if child.is_running()]:
        elapsed = time.monotonic() - begin
        for child in alive:
            child.press(elapsed, within)
        time.sleep(POLL_SECONDS)
