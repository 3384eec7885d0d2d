"""How long a new user waits: installation from local wheels, first page of the first and of the second start.

Everything happens in a copy of the checkout, so that neither its .venv nor its byte code helps.
"""

import os
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path

from portal.embedded.paths import CHECKOUT
from portal.embedded.stack import free_port
from tests.bench.report import Figure, NotRun, at_most, report

INSTALL_LIMIT_SECONDS = 45.0
FIRST_LIMIT_SECONDS = 10.0
SECOND_LIMIT_SECONDS = 6.0
GIVE_UP_SECONDS = 300.0
STOP_SECONDS = 20.0
LEFT_OUT = (".venv", ".git", "__pycache__", ".*_cache", ".hypothesis")


def main() -> int:
    """Measure in a temporary folder and report."""
    figures: list[Figure] = []
    with tempfile.TemporaryDirectory(prefix="armillary-bench-") as name:
        try:
            figures.extend(_measure(Path(name)))
        except NotRun as reason:
            return report(figures, [str(reason)])
    return report(figures)


def _measure(folder: Path) -> Iterator[Figure]:
    checkout = folder / "checkout"
    shutil.copytree(CHECKOUT, checkout, ignore=shutil.ignore_patterns(*LEFT_OUT))
    yield at_most("install from local wheels", _install(checkout, _wheels(folder)), "s", INSTALL_LIMIT_SECONDS)
    yield at_most("first start to first page", _first_page(checkout, folder), "s", FIRST_LIMIT_SECONDS)
    yield at_most("second start to first page", _first_page(checkout, folder), "s", SECOND_LIMIT_SECONDS)


def _wheels(folder: Path) -> Path:
    """PORTAL_WHEELS, or the wheels of the lock fetched once; raises NotRun without either."""
    given = os.environ.get("PORTAL_WHEELS")
    if given:
        return Path(given)
    target = folder / "wheels"
    command = [
        sys.executable,
        "-m",
        "pip",
        "download",
        "--quiet",
        "--disable-pip-version-check",
        "--require-hashes",
    ]
    lock = CHECKOUT / "requirements.lock"
    done = subprocess.run([*command, "-r", lock, "-d", target], capture_output=True, text=True, check=False)
    if done.returncode:
        raise NotRun(f"no wheels: set PORTAL_WHEELS to a folder with them ({done.stderr.strip()[-300:]})")
    return target


def _install(checkout: Path, wheels: Path) -> float:
    began = time.monotonic()
    done = subprocess.run(
        ["./dev", "manage", "version"],
        cwd=checkout,
        env=_environment(checkout.parent, PORTAL_WHEELS=str(wheels)),
        capture_output=True,
        text=True,
        check=False,
        timeout=GIVE_UP_SECONDS,
    )
    if done.returncode:
        raise NotRun(f"the installation failed: {done.stderr.strip()[-500:]}")
    return time.monotonic() - began


def _first_page(checkout: Path, folder: Path) -> float:
    """Seconds from `./dev up` to the first page; the portal is stopped again."""
    port = free_port()
    output = folder / "up.log"
    began = time.monotonic()
    with output.open("ab") as log:
        portal = subprocess.Popen(
            ["./dev", "up", "--port", str(port)],
            cwd=checkout,
            env=_environment(folder),
            stdout=log,
            stderr=log,
        )
    try:
        _await_page(portal, f"http://127.0.0.1:{port}/", began, output)
        return time.monotonic() - began
    finally:
        portal.terminate()
        portal.wait(STOP_SECONDS)


def _await_page(portal: "subprocess.Popen[bytes]", url: str, began: float, output: Path) -> None:
    while portal.poll() is None and time.monotonic() - began < GIVE_UP_SECONDS:
        try:
            with urllib.request.urlopen(url, timeout=5) as answer:
                if answer.status == 200 and b"</html>" in answer.read():
                    return
        except OSError:
            time.sleep(0.05)
    raise NotRun(f"no page came: {output.read_text(errors='replace')[-1500:]}")


def _environment(folder: Path, **extra: str) -> dict[str, str]:
    kept = {
        name: value for name, value in os.environ.items() if not name.startswith(("PORTAL_", "PYTHON", "VIRTUAL_ENV"))
    }
    return {**kept, "PORTAL_STATE_DIR": str(folder / "state"), **extra}


if __name__ == "__main__":
    sys.exit(main())
