"""A job's folders are its own: whatever it puts there, archiving reads on and stays in bounds (hostile)."""

import json
import os
from pathlib import Path

import pytest

from jobs.outputs import LARGEST_OUTPUT, listed_outputs, measure


def listed(output: Path, text: str) -> list[object]:
    (output / "artifacts.json").write_bytes(text.encode("utf-8", "surrogatepass"))
    return list(listed_outputs(output, output))


def entry(**changes: object) -> str:
    return json.dumps({"artifacts": [{"name": "model", "kind": "model", "path": "model.bin"} | changes]})


@pytest.fixture
def output(tmp_path: Path) -> Path:
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "model.bin").write_bytes(b"weights")
    (tmp_path / "secret").write_text("not the job's")
    return tmp_path / "out"


def test_an_honest_entry_is_listed_and_measured(output):
    (found,) = listed(output, entry())
    assert found is not None and found.path == output / "model.bin" and measure(found.path)[0] == 7


@pytest.mark.parametrize(
    "changes",
    [
        {"path": "a\0b"},
        {"path": "\ud800"},
        {"path": "../secret"},
        {"path": "/etc/passwd"},
        {"path": "missing"},
        {"name": "a\0b"},
        {"name": "\u202e"},
        {"name": 7},
        {"kind": "virus"},
        {"kind": []},
    ],
)
def test_a_hostile_entry_is_refused_and_the_rest_is_read(output, changes):
    assert listed(output, entry(**changes)) == [None]


MANIFESTS = ["[" * 200_000, "{", "\ud800", "null", "7", '{"artifacts": 7}', '["x", 1]', " " * 2_000_000]


@pytest.mark.parametrize("text", MANIFESTS)
def test_a_hostile_manifest_lists_nothing(output, text):
    assert listed(output, text) == []


def test_a_link_to_elsewhere_is_refused(output):
    (output / "link").symlink_to(output.parent / "secret")
    assert listed(output, entry(path="link")) == [None]


def test_a_pipe_for_a_manifest_is_not_waited_for(output):
    os.mkfifo(output / "artifacts.json")
    assert list(listed_outputs(output, output)) == []


def test_a_pipe_or_a_file_beyond_all_bounds_is_not_digested(output):
    os.mkfifo(output / "pipe")
    with (output / "sparse").open("wb") as file:
        file.truncate(LARGEST_OUTPUT + 1)
    for name in ("pipe", "sparse"):
        with pytest.raises(OSError, match="no regular file"):
            measure(output / name)
