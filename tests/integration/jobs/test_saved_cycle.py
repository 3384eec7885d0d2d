"""A pass is saved as one file and decided again from it: the same bytes, without any service."""

import os
import subprocess
import sys
from io import StringIO
from pathlib import Path

import pytest
import time_machine
from django.core.management import CommandError, call_command

from jobs.models import Job
from jobs.scheduler.saved import SavedCycle
from jobs.services.run_cycle import run_cycle
from jobs.states import JobState
from tests import builders as make
from tests.cast import make_cast

ROOT = Path(__file__).parents[3]


def decided(file: Path) -> bytes:
    """What the command prints in a process without any of the portal's settings."""
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("PORTAL_", "DJANGO_"))}
    command = [sys.executable, "manage.py", "replay-cycle", str(file)]
    return subprocess.run(command, cwd=ROOT, env=clean, capture_output=True, check=True).stdout


@pytest.mark.django_db
@time_machine.travel(make.NOW, tick=False)
def test_a_saved_pass_decides_what_the_portal_then_does(tmp_path: Path) -> None:
    cast = make_cast()
    for number in range(6):
        lines = (("cpu", "cpu", 3_000),)
        make.make_job(cast.alpha, cast.member, pool_keys=["shared"], lines=lines, submitted=make.ago(minutes=number))
    file = tmp_path / "pass.json"
    call_command("save-cycle", str(file), stderr=StringIO())
    first = decided(file)
    saved = SavedCycle.from_json(file.read_bytes())
    assert first == saved.decide().to_json() + b"\n" == decided(file)
    admitted = {decision.job for decision in saved.decide().decisions if decision.verdict == "now"}
    run_cycle(now=make.NOW)
    assert {str(job.pk) for job in Job.objects.filter(state=JobState.ADMITTED)} == admitted != set()
    with pytest.raises(CommandError, match="exists"):
        call_command("save-cycle", str(file))


@pytest.mark.parametrize("content", [b"", b"{}", b"[]", b'{"rules": {}, "snapshot": {"at_ms": "x"}}', b"\xff\xfe"])
def test_what_is_no_saved_pass_is_refused_in_a_sentence(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "other.json"
    file.write_bytes(content)
    with pytest.raises(CommandError, match="is no saved pass"):
        call_command("replay-cycle", str(file))
    with pytest.raises(CommandError, match="No such file"):
        call_command("replay-cycle", str(tmp_path / "missing.json"))
