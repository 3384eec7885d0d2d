"""How long the tests take: the unit tests alone, run again as one does while working, and everything as CI runs it.

A suite that fails was not measured.
"""

import os
import subprocess
import sys
import time

from portal.embedded.paths import CHECKOUT
from tests.bench.report import NotRun, at_most, report

UNIT_LIMIT_SECONDS = 10.0
ALL_LIMIT_SECONDS = 600.0
GIVE_UP_SECONDS = 1800.0
BOTH = ("-n", "2", "--dist")
"""On two cores, as CI does."""


def main() -> int:
    """Measure and report."""
    _seconds("tests/unit")  # leaves the byte code behind
    return report(
        [
            at_most("suite: unit tests", _seconds("tests/unit", *BOTH, "worksteal"), "s", UNIT_LIMIT_SECONDS),
            at_most("suite: all tests", _seconds(*BOTH, "loadfile"), "s", ALL_LIMIT_SECONDS),
        ]
    )


def _seconds(*arguments: str) -> float:
    """From the command to its end. Raises NotRun when a test fails."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("PORTAL_", "PYTHON"))}
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments]
    began = time.monotonic()
    done = subprocess.run(
        command, cwd=CHECKOUT, env=env, capture_output=True, text=True, check=False, timeout=GIVE_UP_SECONDS
    )
    if done.returncode:
        raise NotRun(f"pytest {' '.join(arguments)} ended with {done.returncode}: {done.stdout.strip()[-300:]}")
    return time.monotonic() - began


if __name__ == "__main__":
    raise SystemExit(main())
