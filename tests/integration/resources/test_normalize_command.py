"""`manage.py normalize-node` prints a line per file and needs nothing that runs."""

import json
import os
import subprocess
import sys
from pathlib import Path

from resources.normalize import as_json, read_document
from tests.unit.normalize.test_corpus import FILES

ROOT = Path(__file__).parents[3]


def normalize(*arguments: str, state: Path) -> subprocess.CompletedProcess[str]:
    """In a process without any of the portal's settings; `state` is a folder in which no portal is."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith(("PORTAL_", "DJANGO_"))}
    return subprocess.run(
        [sys.executable, "manage.py", "normalize-node", *arguments],
        capture_output=True, text=True, cwd=ROOT, env=environment | {"PORTAL_STATE_DIR": str(state)}, check=False,
    )  # fmt: skip


def test_each_file_is_one_line_in_the_order_given_and_a_broken_one_stops_none(tmp_path: Path) -> None:
    broken, binary, good = tmp_path / "broken.json", tmp_path / "binary.json", FILES[-1]
    broken.write_text('{"kind": "Node", "kind": "Pod"}')
    binary.write_bytes(b"\xff\xfe\x00")
    files = [str(good), str(broken), str(binary), str(tmp_path / "missing.json"), str(FILES[0])]
    done = normalize("--json", *files, state=tmp_path / "nothing")
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert done.returncode == 1 and "3 of 5" in done.stderr and "Traceback" not in done.stderr
    assert lines[0] == as_json(read_document(json.loads(good.read_text())))
    assert lines[4] == as_json(read_document(json.loads(FILES[0].read_text())))
    assert [line["error"]["reason"] for line in lines[1:4]] == ["DuplicateKey", "NotJson", "FileUnreadable"]
    assert lines[1]["error"]["file"] == str(broken) and lines[1]["error"]["message"]
    assert not (tmp_path / "nothing").exists()


def test_good_files_end_well(tmp_path: Path) -> None:
    done = normalize("--json", str(FILES[0]), state=tmp_path)
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 1)
