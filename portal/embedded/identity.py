"""Who runs PostgreSQL: it refuses root, so root lends it another face and adds no user to the machine."""

import os
import shutil
import subprocess
from pathlib import Path

from portal.embedded.errors import EmbeddedError

NOBODY = 65534  # must have a passwd entry: PostgreSQL looks its user up
USER_NAMESPACE = ("unshare", "--user", f"--map-user={NOBODY}", f"--map-group={NOBODY}")
OTHER_USER = ("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups")


def server_identity(program: Path, data: Path) -> tuple[str, ...]:
    """The command prefix under which `program` may run on the folder `data`: nothing for an ordinary user.

    Root first tries a user namespace (files stay root's), then the user nobody (files become nobody's), which
    some containers need. Raises EmbeddedError when neither works.
    """
    if os.geteuid() != 0:
        return ()
    if shutil.which("unshare") and _works(USER_NAMESPACE, str(program), "--version"):
        _give(data, 0)
        return USER_NAMESPACE
    # Everything beside `data` in the folder is private by itself; nobody only has to pass through.
    data.parent.chmod(0o711)
    if _works(OTHER_USER, str(program), "--version") and _works(OTHER_USER, "test", "-x", str(data.parent)):
        _give(data, NOBODY)
        return OTHER_USER
    raise EmbeddedError(
        "PostgreSQL refuses to run as root, and this machine allows neither a user namespace nor the user "
        f"nobody to reach {program} and {data.parent}. Run ./dev as an ordinary user."
    )


def make_private_folder(folder: Path, run_as: tuple[str, ...]) -> None:
    """A 0700 folder that belongs to whoever runs the server."""
    folder.mkdir(mode=0o700, exist_ok=True)
    if run_as == OTHER_USER:
        os.chown(folder, NOBODY, NOBODY)


def _works(prefix: tuple[str, ...], *command: str) -> bool:
    try:
        return subprocess.run([*prefix, *command], capture_output=True, check=False).returncode == 0
    except FileNotFoundError:
        return False


def _give(folder: Path, user: int) -> None:
    """Hand the tree over when it belongs to the other identity, as after a move into a container."""
    if not folder.exists() or folder.stat().st_uid == user:
        return
    os.chown(folder, user, user)
    for parent, folders, files in os.walk(folder):
        for name in (*folders, *files):
            os.chown(Path(parent) / name, user, user, follow_symlinks=False)
