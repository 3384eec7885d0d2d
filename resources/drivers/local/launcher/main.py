"""Entry of the launcher: `python -I -S -c … FOLDER [foreground]`, FOLDER being a member's control folder.

A member is started at most once, whoever asks and however often: its launcher holds the member's lock for life and
writes the start record before anything runs; with a start or exit record in place no launcher runs it again.
"""

import contextlib
import fcntl
import os
import sys
import time

from . import child, records
from .records import Record
from .supervisor import Supervisor

_LOCK_TIME_OUT_S = 3.0


def main(folder: str, mode: str = "") -> None:
    """Run the member in `folder`; in the background unless `mode` is `foreground`."""
    if mode != "foreground":
        _detach()
    hit = _failpoint()
    hit("local.launcher.before_claim")
    if not _take_lock(folder):
        return
    if _claim(folder):
        hit("local.launcher.after_claim")
        plan = records.read(f"{folder}/{records.PLAN}")
        if plan is None:
            raise SystemExit(f"{folder} has no plan")
        Supervisor(folder, plan, hit).run()
    os._exit(0)  # at once: whoever reads the exit record finds nothing of the member left


def _detach() -> None:
    """Leave the caller's session and family, so that nothing that happens to it happens to us."""
    if os.fork():
        os._exit(0)
    os.setsid()
    os.umask(0o077)
    os.chdir("/")


def _take_lock(folder: str) -> bool:
    """Take the member's lock for as long as this process lives; False when it is settled or its folder is gone."""
    try:
        lock = os.open(f"{folder}/{records.LOCK}", os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    until = time.monotonic() + _LOCK_TIME_OUT_S
    while not _settled(folder) and time.monotonic() < until:
        with contextlib.suppress(BlockingIOError):
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
            return True
        time.sleep(0.01)
    return False


def _settled(folder: str) -> bool:
    return any(os.path.exists(f"{folder}/{name}") for name in (records.START, records.EXIT))


def _claim(folder: str) -> bool:
    """Write the start record; False when the member was settled before the lock was ours, or is to be stopped.

    A member whose workload is to be stopped is left to the driver, which closes it under the same lock.
    """
    if _settled(folder) or records.read(f"{folder}/../../{records.STOP}"):
        return False
    claim: Record = {
        "pid": os.getpid(),
        "ticks": records.start_ticks(os.getpid()),
        "boot": records.boot_id(),
        "at": records.now_ms(),
    }
    try:
        records.set_aside(f"{folder}/{records.EXIT}")
        records.write(f"{folder}/{records.START}", claim)
    except FileNotFoundError:  # forgotten meanwhile
        return False
    return True


def _failpoint() -> child.Failpoint:
    """The portal's failpoints when a test has armed them, else nothing: this process imports none of our code."""
    if "PORTAL_FAILPOINTS" not in os.environ:
        return lambda name: None
    import importlib.util  # noqa: PLC0415 -- only under test

    path = os.path.join(os.path.dirname(__file__), *[".."] * 4, "portal", "lib", "failpoints.py")
    spec = importlib.util.spec_from_file_location("failpoints", path)
    if spec is None or spec.loader is None:
        raise SystemExit(f"no failpoints at {path}")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    hit: child.Failpoint = module.failpoint
    return hit


if __name__ == "__main__":
    main(*sys.argv[1:])
