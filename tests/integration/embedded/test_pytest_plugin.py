"""The servers of a pytest run: there when needed, gone afterwards, even after a kill."""

import os
import signal
import subprocess
import sys
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from portal.embedded.paths import CHECKOUT
from portal.embedded.pytest_plugin import only_unit_tests
from tests.integration.embedded.probes import commands_with, eventually

WRITES_ITS_SOCKET_FOLDER_AND_WAITS = """
import os, pathlib, time, urllib.parse

def test_wait():
    socket = urllib.parse.urlsplit(os.environ["PORTAL_REDIS_URL"]).path
    pathlib.Path(os.environ["TELL"]).write_text(os.path.dirname(socket))
    time.sleep(60)
"""


def test_this_run_talks_to_real_servers_as_the_owner(db: None) -> None:
    from django.core.cache import cache
    from django.db import connection

    with connection.cursor() as cursor:
        cursor.execute("SELECT current_user, current_setting('fsync')")
        assert cursor.fetchone() == ("portal_owner", "off")
    cache.set("embedded", "yes", 10)
    assert cache.get("embedded") == "yes"


@pytest.mark.parametrize(
    ("paths", "expected"),
    [
        ([], False),
        (["tests/unit"], True),
        (["tests/unit/test_a.py::test_x", "tests/unit"], True),
        (["tests/unit", "tests/integration"], False),
        (["tests"], False),
    ],
)
def test_servers_are_left_out_for_unit_tests_only(paths: list[str], expected: bool) -> None:
    assert only_unit_tests(paths) is expected


def test_a_killed_run_leaves_no_server(tmp_path: Path) -> None:
    (tmp_path / "test_waits.py").write_text(WRITES_ITS_SOCKET_FOLDER_AND_WAITS)
    told = tmp_path / "told"
    # A run of its own, also when this one is a worker of pytest-xdist.
    env = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    run = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-c", "pyproject.toml", "-p", "no:cacheprovider", str(tmp_path)],
        cwd=CHECKOUT,
        env={**env, "TELL": str(told)},
        stdout=subprocess.DEVNULL,
    )
    try:
        assert eventually(lambda: told.exists() and bool(told.read_text()), within=30)
        sockets = told.read_text()
        assert sockets != str(Path(urlsplit(os.environ["PORTAL_REDIS_URL"]).path).parent), "servers of its own"
        assert {"postgres", "valkey-server"} <= {Path(command.split()[0]).name for command in commands_with(sockets)}
    finally:
        run.send_signal(signal.SIGKILL)
        run.wait()
    assert eventually(lambda: commands_with(sockets) == [], within=10), commands_with(sockets)
