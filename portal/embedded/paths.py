"""Where one installation keeps its things: a state folder that lasts, a socket folder that does not."""

import os
import secrets
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from portal.embedded.errors import EmbeddedError

CHECKOUT = Path(__file__).resolve().parent.parent.parent
SOCKET_PATH_LIMIT = 107
SOCKET_FOLDER_PREFIX = "armillary-sockets-"
LONGEST_SOCKET_NAME = len("/.s.PGSQL.5432.lock")


@dataclass(frozen=True, slots=True)
class StateFolder:
    """The folder with everything that outlives a stop: databases, key, logs, accounts."""

    root: Path

    @property
    def postgres(self) -> Path:
        """The database cluster; exists only once it is complete."""
        return self.root / "pg"

    @property
    def is_prepared(self) -> bool:
        """Whether a first start has made its database here."""
        return self.postgres.exists()

    @property
    def valkey(self) -> Path:
        """The append-only file of the broker and cache."""
        return self.root / "valkey"

    @property
    def logs(self) -> Path:
        """One log file per child process."""
        return self.root / "logs"

    @property
    def lock(self) -> Path:
        """Held by the one process that may start servers here."""
        return self.root / "lock"

    @property
    def run_file(self) -> Path:
        """What runs right now; see runfile.py."""
        return self.root / "run.json"

    @property
    def accounts(self) -> Path:
        """Demo accounts and their passwords, written by the seed command."""
        return self.root / "demo-accounts.json"

    def create(self) -> None:
        """Make the folder and its fixed parts, private to this user. Idempotent."""
        for folder in (self.root, self.valkey, self.logs):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)

    def secret_key(self) -> str:
        """The signing key of this installation, made up on the first call and kept."""
        file = self.root / "secret-key"
        if not file.exists():
            write_private(file, secrets.token_urlsafe(64))
        return file.read_text(encoding="utf-8").strip()


def state_folder(environ: Mapping[str, str]) -> StateFolder:
    """PORTAL_STATE_DIR, or armillary in the user's folder for state."""
    chosen = environ.get("PORTAL_STATE_DIR")
    if chosen:
        return StateFolder(Path(chosen).expanduser().absolute())
    base = environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return StateFolder(Path(base) / "armillary")


@contextmanager
def socket_folder(environ: Mapping[str, str]) -> Iterator[Path]:
    """A private folder for unix sockets, short enough for their 107 bytes, removed at the end of the block.

    A checkout or a home can lie too deep for a socket, so neither is used.
    """
    candidates = (environ.get("XDG_RUNTIME_DIR"), tempfile.gettempdir(), "/tmp")  # noqa: S108
    base = next((base for base in candidates if base and _usable(Path(base))), None)
    if base is None:
        raise EmbeddedError("No folder for unix sockets: make /tmp writable or set XDG_RUNTIME_DIR.")
    folder = Path(tempfile.mkdtemp(prefix=SOCKET_FOLDER_PREFIX, dir=base))
    try:
        yield folder
    finally:
        remove_socket_folder(folder)


def remove_socket_folder(folder: Path) -> None:
    """Remove the folder with the sockets in it, and nothing that is not ours. Idempotent."""
    if folder.name.startswith(SOCKET_FOLDER_PREFIX) and folder.is_dir():
        for entry in folder.iterdir():
            entry.unlink(missing_ok=True)
        folder.rmdir()


def _usable(base: Path) -> bool:
    deepest = len(os.fsencode(base)) + len(f"/{SOCKET_FOLDER_PREFIX}12345678") + LONGEST_SOCKET_NAME
    return deepest <= SOCKET_PATH_LIMIT and base.is_dir() and os.access(base, os.W_OK)


def write_private(file: Path, content: str) -> None:
    """Replace the file in one step, readable by its owner only; a reader sees the old or the new, whole."""
    handle, name = tempfile.mkstemp(prefix=f".{file.name}.", dir=file.parent)
    with os.fdopen(handle, "w", encoding="utf-8") as stream:
        stream.write(content)
    Path(name).replace(file)
