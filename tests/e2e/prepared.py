"""State folders as the first start leaves them: made once for a whole test run, then copied.

Making the database, its tables and the demo costs as much as the rest of a start. What a first start does is shown by
tests/integration/embedded/test_up.py, which makes its folders itself.
"""

import fcntl
import os
import subprocess
from pathlib import Path

import pytest

from portal.embedded import applications
from portal.embedded.paths import CHECKOUT, StateFolder
from portal.embedded.servers import running_servers


def prepared(factory: pytest.TempPathFactory, name: str) -> Path:
    """A state folder of one's own with tables and demo data, for `start_stack`."""
    run = factory.getbasetemp()
    if "PYTEST_XDIST_WORKER" in os.environ:
        run = run.parent  # the folder of the run, which its workers share
    original = run / "prepared"
    with (run / "prepared.lock").open("w") as turn:
        fcntl.flock(turn, fcntl.LOCK_EX)
        if not original.exists():
            growing = StateFolder(run / "preparing")
            _prepare(growing)
            growing.root.rename(original)
    copy = factory.mktemp(name) / "state"
    subprocess.run(["cp", "-a", original, copy], check=True)  # keeps whose the database is
    return copy


def _prepare(state: StateFolder) -> None:
    """What `up` does before its web server."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith("PORTAL_")}
    with running_servers(state, clean, durable=False) as servers:
        spec = applications.prepare({**clean, **servers, "PORTAL_MODE": "embedded", "PORTAL_DEMO": "machine"})
        done = subprocess.run(
            spec.argv, env=dict(spec.env), cwd=CHECKOUT, capture_output=True, text=True, timeout=300, check=False
        )
    if done.returncode:
        raise RuntimeError(done.stderr[-2000:])
