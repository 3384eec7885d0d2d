"""A training whose process is killed goes on from its last checkpoint, and nothing of that is seen in its result."""

import json
import re

import psutil
from playwright.sync_api import expect

from portal.embedded.stack import Stack
from tests.e2e import disk
from tests.e2e.person import Person, until

LONG = {"steps": "9000", "checkpoint_every": "300", "batch_size": "32", "hidden_units": "8", "seed": "7"}


def test_a_killed_training_is_tried_again_and_ends_with_the_weights_of_an_undisturbed_one(
    researcher: Person, stack: Stack
) -> None:
    researcher.run("make-data-set", name="kill data", rows="2000", features="4", members="1")
    assert researcher.new_job("train-network", name="killed", dataset="kill data", **LONG).word == "now"
    killed = researcher.submit()
    until(lambda: _step_kept(stack, killed) >= 600, within=60, what="no checkpoint was written")
    program = _program(killed, "training.py")
    program.suspend()  # it must not end, nor the next attempt begin, before the page shows the first one
    researcher.go(f"/jobs/{killed}")
    researcher.log("step=")
    program.kill()
    researcher.await_stage("archived")
    assert researcher.state() == "succeeded"

    log = researcher.log("done step=9000")
    resumed = re.search(r"^resumed step=(\d+)", log, re.MULTILINE)
    assert resumed, log
    step = int(resumed[1])
    assert step >= 600 and step % 300 == 0
    assert "--- Attempt 2 ---" in log, "the page followed from one attempt to the next"
    metrics = disk.content(stack, killed, "metrics")
    assert (metrics["step"], metrics["resumed_at_step"]) == (9_000, step)

    attempts = disk.rows(
        stack,
        "SELECT number, ended, end_reason, resumed FROM jobs_attempt WHERE job_id = %s ORDER BY number",
        killed,
    )
    assert [(row["number"], row["end_reason"], row["resumed"]) for row in attempts] == [
        (1, "Requeued", False),
        (2, "Succeeded", True),
    ]
    researcher.go(f"/jobs/{killed}?tab=history")
    expect(researcher.page.locator("tbody", has_text="Requeued").first).to_be_visible()

    undisturbed = researcher.run("train-network", name="undisturbed", dataset="kill data", **LONG)
    files = researcher.files(killed), researcher.files(undisturbed)
    assert files[0]["checkpoint"].sha256 == files[1]["checkpoint"].sha256
    assert files[0]["metrics"].sha256 != files[1]["metrics"].sha256, "only one of them says that it was resumed"


def _step_kept(stack: Stack, job: str) -> int:
    """The step of the newest checkpoint on disk, 0 without one."""
    found = list((stack.state.root / "data").glob(f"*/{job.replace('-', '')}/checkpoints/latest.json"))
    return int(json.loads(found[0].read_bytes())["step"]) if found else 0


def _program(job: str, program: str) -> psutil.Process:
    """The job's program, and nothing else."""
    found = [process for process in psutil.process_iter() if _is_program(process, job, program)]
    assert len(found) == 1, found
    return found[0]


def _is_program(process: psutil.Process, job: str, program: str) -> bool:
    try:
        is_ours = process.environ().get("PORTAL_JOB_ID") == job
        return is_ours and process.cmdline()[-1:] != [] and process.cmdline()[-1].endswith(program)
    except psutil.Error:
        return False
