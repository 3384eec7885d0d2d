"""Failpoints do nothing unless armed, and are never silently misspelt."""

import re
import subprocess
import sys
import time
from pathlib import Path

import pytest

from portal.lib import failpoints

REPO = Path(__file__).resolve().parents[3]
NAME = next(iter(failpoints.FAILPOINTS))


def test_an_unarmed_point_does_nothing() -> None:
    failpoints.failpoint(NAME)


def test_an_armed_point_raises_or_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(failpoints.ENVIRONMENT, f"{NAME}=raise")
    with pytest.raises(failpoints.FailpointError):
        failpoints.failpoint(NAME)
    monkeypatch.setenv(failpoints.ENVIRONMENT, f"{NAME}=sleep:50")
    begin = time.monotonic()
    failpoints.failpoint(NAME)
    assert time.monotonic() - begin >= 0.05


def test_an_armed_point_kills() -> None:
    code = f"from portal.lib.failpoints import failpoint; failpoint({NAME!r}); print('alive')"
    environment = {"PORTAL_FAILPOINTS": f"{NAME}=kill", "PYTHONPATH": str(REPO)}
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (-9, b"")


@pytest.mark.parametrize("armed", ["no.such.point=kill", f"{NAME}=explode", "nonsense"])
def test_a_misspelt_fault_is_an_error(monkeypatch: pytest.MonkeyPatch, armed: str) -> None:
    monkeypatch.setenv(failpoints.ENVIRONMENT, armed)
    with pytest.raises(ValueError):
        failpoints.failpoint(NAME)


def test_an_unregistered_point_is_an_error_once_anything_is_armed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(failpoints.ENVIRONMENT, f"{NAME}=sleep:0")
    with pytest.raises(ValueError):
        failpoints.failpoint("unregistered")


def test_every_registered_point_is_in_the_code_once() -> None:
    call = re.compile(r"""(?:failpoint|hit)\(\s*["']([a-z_.]+)["']""")
    rooms = ("portal", "tenants", "resources", "jobs", "metering")
    found = [name for room in rooms for path in REPO.glob(f"{room}/**/*.py") for name in call.findall(path.read_text())]
    assert sorted(found) == sorted(failpoints.FAILPOINTS)
