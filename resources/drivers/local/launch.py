"""Starting launchers, and making the folders their members use."""

import contextlib
import os
import subprocess
import sys
from pathlib import Path

from .launcher import records
from .launcher.records import Record
from .launcher.sandbox import JOB_ID
from .store import Store

_HERE = str(Path(__file__).parent)
_ENTRY = "import sys; sys.path.append(sys.argv[1]); from launcher.main import main; main(*sys.argv[2:])"
_KEPT = ("PORTAL_FAILPOINTS",)
_TIME_OUT_S = 20
_FOLDER = os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC


def launch(folder: Path, *, marker: Record, foreground: bool = False) -> None:
    """Start the launcher of the member in `folder`; twice is harmless. Raises OSError, SubprocessError.

    `marker` goes into its environment, so that it is found in /proc as part of the attempt.
    """
    environment = {name: os.environ[name] for name in _KEPT if name in os.environ} | marker
    arguments = [sys.executable, "-I", "-S", "-c", _ENTRY, _HERE, str(folder)]
    with open(folder / "launcher.log", "ab") as log:
        subprocess.run(
            [*arguments, "foreground"] if foreground else arguments,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=log,
            env=environment,
            cwd="/",
            start_new_session=True,
            timeout=_TIME_OUT_S,
            check=True,
        )


def marker_of(attempt_id: str, index: int) -> dict[str, str]:
    """The part of a process's environment by which it is known as ours."""
    return {"PORTAL_ATTEMPT_ID": attempt_id, "PORTAL_INDEX": str(index)}


def write_member(folder: Path, plan: Record, params: str) -> None:
    """The member's control folder, complete, before anything may start from it."""
    (folder / "root").mkdir(mode=0o700, parents=True, exist_ok=True)
    (folder / "params.json").write_text(params, encoding="utf-8")
    records.write(folder / records.PLAN, plan)
    (folder / records.LOCK).touch(mode=0o600)


def make_scratch(store: Store, name: str, index: int, isolation: str) -> Path:
    """A member's working folder and its /tmp, empty but for what an earlier call left."""
    scratch = store.scratch(name) / str(index)
    for inner in ("work", "tmp"):
        (scratch / inner).mkdir(mode=0o700, parents=True, exist_ok=True)
        give_to_job(str(scratch / inner), isolation)
    return scratch


def make_folder(path: str, isolation: str) -> None:
    """A folder the job may write to, with those above it; refuses to walk through a link (OSError).

    Those above are closed to other users of the machine, so what is in it may be open to jobs of any user.
    """
    descriptor = os.open("/", _FOLDER)
    try:
        for part in path.strip("/").split("/"):
            with contextlib.suppress(FileExistsError):
                os.mkdir(part, 0o700, dir_fd=descriptor)
            inner = os.open(part, _FOLDER | os.O_NOFOLLOW, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        os.fchmod(descriptor, 0o755)
        if isolation == "root":
            os.fchown(descriptor, JOB_ID, JOB_ID)
    finally:
        os.close(descriptor)


def give_to_job(path: str, isolation: str) -> None:
    """Under a root portal jobs run as another user, who must own what it may write."""
    if isolation == "root":
        os.chown(path, JOB_ID, JOB_ID, follow_symlinks=False)
