"""The launcher's loop: starts one member, guards its limits, ends it when it must end, records how it ended.

Plain classes on purpose: importing `dataclasses` would be a quarter of the launcher's start.
"""

import contextlib
import json
import os
import select
import signal
import socket
import time

from . import cgroup, child, records, sandbox, syscalls
from .health import HealthWatch
from .processes import end_all_below, memory_used
from .pump import Pump
from .records import Record, now_ms

_TICK_S = 0.1
_LOOK_AROUND_S = 0.25
_LAST_RESORT_S = 3.0
_WEIGHING_SHARE = 10  # at most a tenth of the time goes into weighing
_LAST_OUTPUT_S = 1.0


class Cause:
    """Why the launcher ends the member, and when each step of the ladder is due (monotonic seconds)."""

    def __init__(self, reason: str, message: str, kill_at: float) -> None:
        self.reason, self.message, self.kill_at = reason, message, kill_at
        self.told_at: int | None = None
        """When the program was told, milliseconds since the epoch; None: not yet."""
        self.killed = False


class Ending:
    """What is known of the end so far; None where nothing is. Times in milliseconds since the epoch."""

    def __init__(self) -> None:
        self.started_at: int | None = None
        self.finished_at: int | None = None
        self.status: int | None = None
        self.error = ""
        self.max_rss_bytes = self.peak_bytes = 0


class Supervisor:
    """One member from fork to exit record. `folder` is its control folder."""

    def __init__(self, folder: str, plan: Record, hit: child.Failpoint) -> None:
        self.folder, self.plan, self.hit = folder, plan, hit
        self.cause: Cause | None = None
        self.end = Ending()
        self._health: HealthWatch | None = None
        self._first = 0
        self._deadline = float("inf")
        self._next_look = self._next_weighing = 0.0

    def run(self) -> None:
        """Returns once the exit record is written."""
        self._wake = child.wake_on(signal.SIGCHLD, signal.SIGUSR1, signal.SIGTERM)
        try:
            self._start()
        except (OSError, ValueError) as error:
            self._finish_unstarted(f"{type(error).__name__}: {error}")
            return
        while not self._over():
            self._turn()
        self._finish()

    # --- start

    def _start(self) -> None:
        plan = self.plan
        if plan["cpus"]:
            os.sched_setaffinity(0, plan["cpus"])  # the pump's work counts as the member's
        if plan["cgroup"]:
            cgroup.create(
                plan["cgroup"],
                cpu_milli=plan["cpu_milli"],
                memory_bytes=plan["memory_bytes"],
                processes=plan["limits"]["RLIMIT_NPROC"],
            )
        syscalls.adopt_orphans()
        self._control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        output, output_write = os.pipe2(os.O_CLOEXEC)
        stem = os.fork()
        if stem == 0:
            child.run_stem(plan, theirs, output_write)
        theirs.close()
        os.close(output_write)
        self._pump = Pump(
            output,
            f"{self.folder}/{records.LOG}",
            head_bytes=plan["log_head_bytes"],
            tail_bytes=plan["log_tail_bytes"],
        )
        first = json.loads(self._receive() or b"{}")
        os.waitpid(stem, 0)
        if "first" in first:
            self._first = first["first"]
            self._say(child.GO)
        else:
            self.end.error = first.get("error", "the first process did not start")

    # --- one turn of the loop

    def _turn(self) -> None:
        watched = [self._control.fileno(), self._wake] + ([self._pump.source] if self._pump.open else [])
        ready = select.select(watched, [], [], _TICK_S)[0]
        woken = child.clear_wake(self._wake)
        if signal.SIGTERM in woken:
            self._give_up("HostStopping", "the launcher was asked to end", self.plan["grace_ms"])
        if self._pump.open and self._pump.source in ready:
            self._pump.feed()
        if self._control.fileno() in ready:
            self._listen()
        now = time.monotonic()
        if woken or now >= self._next_look:
            self._next_look = now + _LOOK_AROUND_S
            self._look_around()
        if now >= self._deadline:
            limit = self.plan["time_limit_ms"]
            self._give_up("TimeLimit", f"ran {limit} ms, its limit", self.plan["grace_ms"])
        if now >= self._next_weighing:
            self._weigh(now)
        self._climb(now)

    def _listen(self) -> None:
        message = json.loads(self._receive() or b"{}")
        if "armed" in message:
            self._say(child.GO)
        elif "map" in message:
            sandbox.map_ids(self._first, sandbox.JOB_ID, sandbox.JOB_ID)
            self._say(child.GO)
        elif "started" in message:
            self._note_start(message["started"], message["pid_namespace"])
        elif "ended" in message:
            self.end.status, self.end.finished_at = message["status"], message["ended"]
            self.end.max_rss_bytes = message["max_rss_bytes"]
        elif "error" in message:
            self.end.error = message["error"]

    def _note_start(self, at: int, pid_namespace: str) -> None:
        self.hit("local.launcher.after_start")
        plan = self.plan
        self.end.started_at = at
        if plan["time_limit_ms"] is not None:
            self._deadline = time.monotonic() + plan["time_limit_ms"] / 1000
        state = {
            "started_at": at,
            "first_pid": self._first,
            "first_ticks": records.start_ticks(self._first),
            "pid_namespace": pid_namespace,
        }
        with contextlib.suppress(OSError):  # on a full disk the exit record will tell
            records.write(f"{self.folder}/{records.STATE}", state, durable=False)
        if plan["health_path"]:
            self._health = HealthWatch(self.folder, self._first, plan["port"], plan["health_path"])
            self._health.start()

    def _look_around(self) -> None:
        """The stop request and the fate of the other members, read from their records."""
        stop = records.read(f"{self.folder}/../../{records.STOP}")
        if stop:
            self._give_up("Stopped", "stopped on request", stop["grace_ms"])
        elif self.plan["gang"]:
            for index in range(self.plan["count"]):
                if index != self.plan["index"] and _failed(f"{self.folder}/../{index}"):
                    self._give_up("GangFailed", f"member {index} failed", self.plan["grace_ms"])

    def _weigh(self, now: float) -> None:
        limit = self.plan["memory_bytes"]
        used = memory_used(self._first, limit)
        self.end.peak_bytes = max(self.end.peak_bytes, used)
        # A member far below its limit is weighed less often, and one with very many processes too.
        pause = _TICK_S if used * 2 > limit else 2 * _TICK_S
        self._next_weighing = now + max(pause, _WEIGHING_SHARE * (time.monotonic() - now))
        if used > limit:
            self._give_up("MemoryLimit", f"held {used} bytes, its limit is {limit}", 0)

    def _give_up(self, reason: str, message: str, grace_ms: int) -> None:
        """The first cause stands; a later one may only shorten the grace."""
        kill_at = time.monotonic() + grace_ms / 1000
        if self.cause is None:
            self.cause = Cause(reason, message, kill_at)
        else:
            self.cause.kill_at = min(self.cause.kill_at, kill_at)

    def _climb(self, now: float) -> None:
        """The ladder: TERM to the program's group, KILL to all after the grace, then the first process itself."""
        cause = self.cause
        if cause is None or self.end.finished_at is not None:
            return
        if cause.told_at is None:
            cause.told_at = now_ms()
            self._say(child.TERMINATE)
        if now >= cause.kill_at and not cause.killed:
            cause.killed = True
            self._say(child.KILL)
        if now >= cause.kill_at + _LAST_RESORT_S and self._first:
            cause.kill_at = now
            with contextlib.suppress(ProcessLookupError):
                os.kill(self._first, signal.SIGKILL)  # our unreaped child: the number cannot be a stranger's

    def _receive(self, flags: int = 0) -> bytes:
        try:
            return self._control.recv(1 << 16, flags)
        except ConnectionResetError:  # it ended with an order unread; what it had said is still to be read
            return self._control.recv(1 << 16, flags)

    def _say(self, order: bytes) -> None:
        with contextlib.suppress(OSError):
            self._control.send(order)

    # --- end

    def _over(self) -> bool:
        """Whether the first process, and with it everything below it, is gone."""
        if not self._first:
            return True
        pid, _ = os.waitpid(self._first, os.WNOHANG)
        return pid == self._first

    def _finish(self) -> None:
        if self._health:
            self._health.stop()
        end_all_below()  # what fell to us because the first process was killed
        self._drain()
        self._pump.finish()
        out_of_memory = False
        if self.plan["cgroup"]:
            out_of_memory = cgroup.ran_out_of_memory(self.plan["cgroup"])
            self.end.peak_bytes = cgroup.peak_memory(self.plan["cgroup"]) or self.end.peak_bytes
            cgroup.remove(self.plan["cgroup"])
        self._record(*self._verdict(out_of_memory))

    def _finish_unstarted(self, error: str) -> None:
        if self.plan["cgroup"]:
            cgroup.remove(self.plan["cgroup"])
        self._record("StartFailed", error)

    def _drain(self) -> None:
        """The last words the first process sent, and the output still in the pipe."""
        while select.select([self._control], [], [], 0)[0]:
            if not self._receive(socket.MSG_PEEK):
                break
            self._listen()
        until = time.monotonic() + _LAST_OUTPUT_S
        while self._pump.open and time.monotonic() < until:
            select.select([self._pump.source], [], [], _TICK_S)
            self._pump.feed()

    def _verdict(self, out_of_memory: bool) -> tuple[str, str]:
        end, cause = self.end, self.cause
        if out_of_memory:
            return "OOMKilled", f"the kernel ended it at its limit of {self.plan['memory_bytes']} bytes"
        if cause and cause.told_at and (end.finished_at is None or cause.told_at <= end.finished_at):
            return cause.reason, cause.message
        if end.error:
            return "StartFailed", end.error
        if end.status is None:
            return "Killed", "its first process was killed from outside"
        if os.WIFSIGNALED(end.status):
            return "Error", f"ended by {signal.Signals(os.WTERMSIG(end.status)).name}"
        code = os.WEXITSTATUS(end.status)
        return ("Completed", "") if code == 0 else ("Error", f"exit code {code}")

    def _record(self, reason: str, message: str) -> None:
        self.hit("local.launcher.before_exit_record")
        end, status = self.end, self.end.status
        record = {
            "ok": reason == "Completed",
            "reason": reason,
            "message": message[:1000],
            "started_at": end.started_at,
            "finished_at": end.finished_at or now_ms(),
            "exit_code": os.WEXITSTATUS(status) if status is not None and os.WIFEXITED(status) else None,
            "signal": os.WTERMSIG(status) if status is not None and os.WIFSIGNALED(status) else None,
            "max_rss_bytes": end.max_rss_bytes,
            "peak_bytes": end.peak_bytes,
        }
        if status is None and not end.error and end.started_at:
            record["signal"] = int(signal.SIGKILL)
        records.write(f"{self.folder}/{records.EXIT}", record, spare=True)


def _failed(folder: str) -> bool:
    """Whether another member has surely failed: its record says so, or its launcher died without writing one."""
    ended = records.read(f"{folder}/{records.EXIT}")
    if ended is None:
        start = records.read(f"{folder}/{records.START}")
        if start is None or records.same_process(start["pid"], start["ticks"], start["boot"]):
            return False
        ended = records.read(f"{folder}/{records.EXIT}")  # written just before its launcher ended
    return ended is None or not ended["ok"]
