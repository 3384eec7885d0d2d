"""Keeps the children of one installation alive, and ends them together."""

import os
import signal
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType

from portal.embedded.errors import EmbeddedError, StopRequested
from portal.embedded.paths import StateFolder
from portal.embedded.process import POLL_SECONDS, Child, ProcessId, stop
from portal.embedded.runfile import Running
from portal.embedded.terminal import warn

LONGEST_DELAY_SECONDS = 10.0
STEADY_AFTER_SECONDS = 20.0
WATCH_SECONDS = 0.1
START_ATTEMPTS = 5
SERVERS = ("postgres", "valkey")
STOP_SECONDS = 9.5
APPLICATION_STOP_SECONDS = 6.0
STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def restart_delay(failures: int) -> float:
    """Seconds to wait before start number `failures` after the first: at once, then doubling to a bound."""
    return 0.0 if failures <= 1 else min(0.1 * 2**failures, LONGEST_DELAY_SECONDS)


@dataclass(slots=True)
class Watched:
    """A child with its recent failures and the moment of its next start."""

    child: Child
    failures: int = 0
    due: float | None = None

    def plan_restart(self, now: float) -> None:
        """Set the moment of the next start; a child that ran steadily before has a clean record."""
        if now - self.child.started_at > STEADY_AFTER_SECONDS:
            self.failures = 0
        self.failures += 1
        self.due = now + restart_delay(self.failures)


class Supervisor:
    """The parent of all children of a state folder, and the writer of its run file."""

    def __init__(self, state: StateFolder, sockets: os.PathLike[str], say: Callable[[str], None] | None = None) -> None:
        self.state = state
        self.running = Running(supervisor=ProcessId.this(), socket_folder=os.fspath(sockets))
        self.watched: list[Watched] = []
        self.say = say or warn
        self.one_shot: Child | None = None
        self.stop_requested = False
        # Before the first child: should this process be killed now, the next one finds the socket folder.
        self.record()

    @contextmanager
    def stopping_on_signals(self) -> Iterator[None]:
        """Turn Ctrl-C, TERM and a closed terminal into an orderly stop while the block runs."""
        # What the caller ignores (nohup) stays ignored.
        heeded = [number for number in STOP_SIGNALS if signal.getsignal(number) != signal.SIG_IGN]
        before = {number: signal.signal(number, self._request_stop) for number in heeded}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def pause(self, seconds: float) -> None:
        """Sleep; raises StopRequested as soon as a stop was asked for."""
        end = time.monotonic() + seconds
        while not self.stop_requested and (left := end - time.monotonic()) > 0:
            time.sleep(min(left, WATCH_SECONDS))
        if self.stop_requested:
            raise StopRequested

    def launch(self, child: Child) -> None:
        """Start the child without waiting for it, and keep it running from now on."""
        self.watched.append(Watched(child))
        child.start()
        self.record()

    def await_ready(self, child: Child, *, within: float) -> None:
        """Wait until the launched child answers. Raises EmbeddedError with the end of its log."""
        deadline = time.monotonic() + within
        watched = next(watched for watched in self.watched if watched.child is child)
        while not child.is_ready():
            if watched.failures >= START_ATTEMPTS or time.monotonic() > deadline:
                raise EmbeddedError(f"{child.spec.title} does not start. {child.log} ends with:\n{child.log_tail()}")
            self.heal()
            self.pause(POLL_SECONDS)

    def bring_up(self, child: Child, *, within: float) -> None:
        """Launch the child and wait until it answers."""
        self.launch(child)
        self.await_ready(child, within=within)

    def run_once(self, child: Child, *, within: float) -> None:
        """Run a child to its end. Raises EmbeddedError with the end of its log unless it ends well."""
        deadline = time.monotonic() + within
        self.one_shot = child
        child.start()
        while (code := child.collect()) is None and time.monotonic() < deadline:
            self.heal()
            self.pause(POLL_SECONDS)
        if code != 0:
            raise EmbeddedError(f"{child.spec.title} failed. {child.log} ends with:\n{child.log_tail()}")
        self.one_shot = None

    def watch(self) -> None:
        """Start again whatever ends, until a stop is requested."""
        while not self.stop_requested:
            self.heal()
            time.sleep(WATCH_SECONDS)

    def heal(self) -> None:
        """One look at every child: what has ended is started again when its turn comes."""
        for watched in self.watched:
            self._heal(watched)

    def stop(self) -> None:
        """End the applications, then the servers they use; within ten seconds in all."""
        begin = time.monotonic()
        children = [watched.child for watched in self.watched] + ([self.one_shot] if self.one_shot else [])
        stop([child for child in children if child.spec.name not in SERVERS], within=APPLICATION_STOP_SECONDS)
        stop(
            [child for child in children if child.spec.name in SERVERS],
            within=STOP_SECONDS - (time.monotonic() - begin),
        )
        self.watched.clear()
        self.state.run_file.unlink(missing_ok=True)

    def announce(self, environment: Mapping[str, str], url: str = "") -> None:
        """Say in the run file that others may use these servers, and by which variables."""
        self.running.environment = dict(environment)
        self.running.url = url
        self.running.is_ready = True
        self.record()

    def record(self) -> None:
        """Write the run file."""
        pids = {watched.child.spec.name: watched.child.pid for watched in self.watched}
        known = {name: ProcessId.of(pid) for name, pid in pids.items() if pid}
        self.running.children = {name: process for name, process in known.items() if process}
        self.running.write(self.state)

    def _heal(self, watched: Watched) -> None:
        child, now = watched.child, time.monotonic()
        code = child.collect()
        if code is not None:
            watched.plan_restart(now)
            self.say(f"{child.spec.title} ended ({_cause(code)}); starting it again. Its log: {child.log}")
        if watched.due is not None and now >= watched.due:
            watched.due = None
            try:
                child.start()
                self.record()
            except OSError as error:
                # No process or no disk space left: that may pass, and ending the others would not help.
                watched.plan_restart(now)
                self.say(f"{child.spec.title} cannot be started now: {error}")

    def _request_stop(self, _number: int, _frame: FrameType | None) -> None:
        self.stop_requested = True


def _cause(code: int) -> str:
    return f"exit code {code}" if code >= 0 else signal.Signals(-code).name
