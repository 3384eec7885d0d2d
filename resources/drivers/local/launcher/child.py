"""The launcher's child: makes the member's namespaces, becomes its first process and starts its program.

Three processes: the *stem* only makes the namespaces (a pid namespace holds children, not its maker) and ends; the
*first* process is pid 1 inside, reaps orphans and reports to the launcher; the program is its child. When the first
process ends the kernel ends all others of the pid namespace; without one, `first` hunts them down itself.
"""

import contextlib
import json
import os
import resource
import select
import signal
import socket
import time
from collections.abc import Callable
from typing import NoReturn

from . import sandbox, syscalls
from .processes import end_all_below, kill_all_below
from .records import Record, now_ms

Failpoint = Callable[[str], None]
"""Called with the name of a point in the code; normally does nothing."""

TERMINATE, KILL, GO = b"T", b"K", b"G"
"""What the launcher says; everything the child says is a JSON object."""

_OUT_OF_MEMORY_SCORE = "500"  # the kernel should end a job before the portal
_NICENESS = 5  # the launcher must get its turn whatever the program does
_TAKEN_SIGNALS = ("SIGPIPE", "SIGXFSZ", "SIGHUP", "SIGINT", "SIGTERM", "SIGCHLD", "SIGUSR1")


def run_stem(plan: Record, control: socket.socket, output: int) -> NoReturn:
    """Never returns. The stem's whole life: namespaces, fork, end."""
    try:
        os.umask(0o022)
        _forget_signal_handlers()
        _close_all_but(control.fileno(), output)
        if plan["cgroup"]:
            _write(f"{plan['cgroup']}/cgroup.procs", "0")
        with contextlib.suppress(OSError):
            _write("/proc/self/oom_score_adj", _OUT_OF_MEMORY_SCORE)
        sandbox.leave_namespaces(plan["isolation"])
        pid = os.fork()
        if pid == 0:
            _run_first(plan, control, output)
        _say(control, {"first": pid})
    except BaseException as error:
        _say(control, {"error": f"{type(error).__name__}: {error}"})
    os._exit(0)


def _run_first(plan: Record, control: socket.socket, output: int) -> NoReturn:
    try:
        _listen(control)  # the launcher is our parent now, the stem is gone
        if plan["isolation"] == "none":  # without a pid namespace we must live to end the others: see _obey
            syscalls.adopt_orphans()
            syscalls.forbid_new_privileges()
        else:
            syscalls.die_with_parent(signal.SIGKILL)
            _ask(control, {"armed": True})  # it still lives: the order to die cannot be lost any more
            sandbox.enter(plan, lambda: _ask(control, {"map": True}))
        syscalls.hide_memory()
        wake = wake_on(signal.SIGCHLD)
        _watch(_start_program(plan, control, output), control, wake)
    except BaseException as error:
        _say(control, {"error": f"{type(error).__name__}: {error}"})
    os._exit(0)


def _start_program(plan: Record, control: socket.socket, output: int) -> int:
    failed_read, failed_write = os.pipe2(os.O_CLOEXEC)
    program = os.fork()
    if program == 0:
        _become_program(plan, output, failed_write)
    os.close(failed_write)
    os.close(output)
    failure = os.read(failed_read, 4096)
    os.close(failed_read)
    if failure:
        raise RuntimeError(failure.decode(errors="replace"))
    # Only this process may read its own namespace link: see hide_memory.
    _say(control, {"started": now_ms(), "pid_namespace": os.readlink("/proc/self/ns/pid")})
    return program


def _become_program(plan: Record, output: int, failed: int) -> NoReturn:
    try:
        _forget_signal_handlers()
        os.setsid()
        null = os.open("/dev/null", os.O_RDONLY)
        os.dup2(null, 0)
        os.dup2(output, 1)
        os.dup2(output, 2)
        os.nice(_NICENESS)
        os.chdir(plan["cwd"])
        for name, limit in plan["limits"].items():
            _lower(getattr(resource, name), limit)
        os.execvpe(plan["argv"][0], plan["argv"], plan["env"])
    except BaseException as error:
        os.write(failed, f"{plan['argv'][0]}: {error}"[:4000].encode(errors="replace"))
    os._exit(127)


def _forget_signal_handlers() -> None:
    """What Python or our parent had set: a program must find every signal at its default."""
    signal.set_wakeup_fd(-1)
    for name in _TAKEN_SIGNALS:
        signal.signal(getattr(signal, name), signal.SIG_DFL)


def _lower(kind: int, limit: int) -> None:
    hard = resource.getrlimit(kind)[1]
    value = limit if hard == resource.RLIM_INFINITY else min(limit, hard)
    resource.setrlimit(kind, (value, value))


def wake_on(*numbers: int) -> int:
    """A descriptor that becomes readable when one of these signals arrives."""
    read, write = os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK)
    for number in numbers:
        signal.signal(number, lambda *_: None)
    signal.set_wakeup_fd(write, warn_on_full_buffer=False)
    return read


def clear_wake(wake: int) -> bytes:
    """The numbers of the signals that arrived since the last call."""
    try:
        return os.read(wake, 4096)
    except BlockingIOError:
        return b""


def _watch(program: int, control: socket.socket, wake: int) -> None:
    """Obey the launcher until the program has ended and nothing of it is left, then report."""
    while True:
        status = _reap(program)
        if status is not None:
            break
        ready = select.select([control.fileno(), wake], [], [])[0]
        clear_wake(wake)
        if control.fileno() in ready:
            _obey(control.recv(1), program)
    ended = now_ms()
    end_all_below()
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    _say(control, {"ended": ended, "status": status, "max_rss_bytes": usage.ru_maxrss * 1024})


def _obey(order: bytes, program: int) -> None:
    if order == TERMINATE:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(program, signal.SIGTERM)
    else:  # KILL, or the launcher is gone
        kill_all_below()
        time.sleep(0.01)


def _reap(program: int) -> int | None:
    """Bury every dead child; the program's wait status once it is among them."""
    found = None
    with contextlib.suppress(ChildProcessError):
        while True:
            pid, status = os.waitpid(-1, os.WNOHANG)
            if pid == 0:
                break
            if pid == program:
                found = status
    return found


def _listen(control: socket.socket) -> None:
    if not control.recv(1):
        os._exit(1)


def _ask(control: socket.socket, message: Record) -> None:
    _say(control, message)
    _listen(control)


def _say(control: socket.socket, message: Record) -> None:
    with contextlib.suppress(OSError):
        control.send(json.dumps(message).encode())


def _close_all_but(*kept: int) -> None:
    null = os.open("/dev/null", os.O_RDWR)
    for standard in (0, 1, 2):
        os.dup2(null, standard)
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and int(name) not in kept:
            with contextlib.suppress(OSError):
                os.close(int(name))


def _write(path: str, text: str) -> None:
    with open(path, "wb", buffering=0) as file:
        file.write(text.encode())
