"""Batch does real, checked work for its time; a session beats until its time to live is over."""

import json
import signal
from pathlib import Path

import pytest

from tests.integration.shipped.programs import Job


@pytest.mark.parametrize("operation", ["word-count", "sha256-sum", "matrix-multiply"])
def test_an_operation_is_repeated_for_its_time_and_its_answer_kept(operation: str, tmp_path: Path) -> None:
    given = {"operation": operation, "size_mib": 1, "matrix_size": 64, "duration": "1s"}
    job = Job("batch", tmp_path, given)
    job.run(params=job.typed() | {"duration": 100}).succeeded()
    result = json.loads((job.output / "result-0.json").read_bytes())
    assert result["operation"] == operation
    assert result["passes"] >= 2
    assert result["wall_ms"] >= 100
    words = str((1 << 20) // 8)
    assert (result["answer"] == words) is (operation == "word-count")


def test_parallel_members_work_on_bytes_of_their_own_and_all_are_listed(tmp_path: Path) -> None:
    job = Job("batch", tmp_path, {"operation": "sha256-sum", "size_mib": 1}, count=2)
    job.run(params=job.typed() | {"duration": 0}).succeeded()
    answers = {json.loads((job.output / f"result-{index}.json").read_bytes())["answer"] for index in range(2)}
    assert len(answers) == 2
    assert set(job.artifacts()) == {"result-0", "result-1"}


def test_a_stopped_batch_ends_within_its_pass(tmp_path: Path) -> None:
    attempt = Job("batch", tmp_path, {"size_mib": 1, "duration": "12h"}).start()
    attempt.wait_for("pass=1 ")
    attempt.signal(signal.SIGTERM)
    assert attempt.wait().codes == [143]


def test_a_session_beats_ends_at_its_time_to_live_and_keeps_its_notes(tmp_path: Path) -> None:
    job = Job("experiment", tmp_path, {"note": "两行\nnotes"})
    ended = job.run(params=job.typed() | {"time_to_live": 350, "heartbeat": 100}).succeeded()
    assert ended.out.count("heartbeat=") >= 3
    assert ended.out.endswith("session ended: time to live of 0.35 s is over\n")
    notes = (job.output / "notes.txt").read_text()
    assert notes.startswith("两行\nnotes\n\nheartbeat=1 ")
    assert set(job.artifacts()) == {"notes"}


def test_a_stopped_session_keeps_its_notes_and_says_143(tmp_path: Path) -> None:
    job = Job("experiment", tmp_path, {"time_to_live": "8h"})
    attempt = job.start()
    attempt.wait_for("heartbeat=1 ")
    attempt.signal(signal.SIGTERM)
    assert attempt.wait().codes == [143]
    assert "session ended: stopped on request" in (job.output / "notes.txt").read_text()
