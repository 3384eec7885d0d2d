"""Building the control plane, with a stand-in for Go: once, whole or not at all, and named after its contents."""

import dataclasses
import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from controlplane import build as building
from controlplane.build import KUBERNETES, KUEUE, NEEDED, Tool, build, built, entry
from controlplane.errors import ControlPlaneError, NotBuilt
from controlplane.go import LOCK, find_go

GO = """#!/bin/sh
case "$1" in
    env) echo {version} ;;
    version) echo "go version {version} stand-in" ;;
    build)
        while [ "$1" != -o ]; do shift; done
        echo run >> "{log}"
        echo half > "$2/server"
        {during}
        chmod +x "$2/server" ;;
esac
"""


@pytest.fixture
def tool(tmp_path, monkeypatch) -> Tool:
    """A module with one program, in a tools folder of its own."""
    folder = tmp_path / "tools" / "etcd"
    folder.mkdir(parents=True)
    (folder / "go.mod").write_text("module x\n\nrequire example.test/server v3.6.1\n")
    (folder / "go.sum").write_text("")
    monkeypatch.setattr(building, "TOOLS", tmp_path / "tools")
    return Tool(name="etcd", programs=("etcd",), version_of="example.test/server", renamed={"server": "etcd"})


@pytest.fixture
def environ(tmp_path) -> dict[str, str]:
    """A cache of its own, and the stand-in."""
    put_go(tmp_path)
    return {
        "PATH": os.environ["PATH"],
        "PORTAL_CONTROLPLANE_CACHE": str(tmp_path / "cache"),
        "PORTAL_GO": str(tmp_path / "go"),
    }


def put_go(tmp_path: Path, *, version: str = "go1.26.8", during: str = ":") -> None:
    """The stand-in; `during` is done while a program is half written."""
    (tmp_path / "go").write_text(GO.format(version=version, log=tmp_path / "log", during=during))
    (tmp_path / "go").chmod(0o755)


def quiet(_line: str) -> None:
    """Nobody listens."""


def runs(tmp_path: Path) -> int:
    """How often Go has built."""
    log = tmp_path / "log"
    return len(log.read_text().split()) if log.exists() else 0


def test_it_builds_once_and_notes_what_it_built(tool, environ, tmp_path):
    with pytest.raises(NotBuilt, match=r"v3\.6\.1 is not built yet"):
        built(tool, environ)
    folder = build(tool, environ, quiet)
    assert build(tool, environ, quiet) == built(tool, environ) == folder
    assert runs(tmp_path) == 1
    facts = json.loads((folder / "built.json").read_text())
    assert (facts["version"], facts["bytes"]) == ("v3.6.1", {"etcd": 5})


def test_a_changed_module_is_another_entry(tool, environ, tmp_path):
    first = build(tool, environ, quiet)
    (tool.folder / "go.sum").write_text("something new\n")
    assert entry(tool, environ) != first
    build(tool, environ, quiet)
    assert runs(tmp_path) == 2 and first.is_dir()


def test_a_failed_build_says_what_go_said_and_leaves_nothing(tool, environ, tmp_path):
    put_go(tmp_path, during="echo 'no such module' >&2; exit 1")
    with pytest.raises(ControlPlaneError, match="no such module"):
        build(tool, environ, quiet)
    assert [path.name for path in (tmp_path / "cache").iterdir()] == ["etcd.lock"]


def test_a_build_without_the_program_it_should_give_is_no_build(tool, environ):
    lacking = dataclasses.replace(tool, programs=("etcd", "etcdctl"))
    with pytest.raises(ControlPlaneError, match="without etcdctl"):
        build(lacking, environ, quiet)
    with pytest.raises(NotBuilt):
        built(lacking, environ)


def test_an_interrupted_build_never_looks_finished(tool, environ, tmp_path):
    put_go(tmp_path, during="sleep 30")
    script = (
        "import os, sys; from pathlib import Path; from controlplane import build as b\n"
        "b.TOOLS = Path(sys.argv[1])\n"
        "b.build(b.Tool('etcd', ('etcd',), 'example.test/server', {'server': 'etcd'}), os.environ, print)"
    )
    argv = [sys.executable, "-c", script, str(tmp_path / "tools")]
    root = Path(__file__).resolve().parents[3]
    builder = subprocess.Popen(argv, env=environ, cwd=root, stdout=subprocess.DEVNULL, start_new_session=True)
    deadline = time.monotonic() + 10
    while not list(tmp_path.glob("cache/*.building-*/server")):
        assert time.monotonic() < deadline
        time.sleep(0.02)
    os.killpg(builder.pid, signal.SIGKILL)
    builder.wait()
    with pytest.raises(NotBuilt):
        built(tool, environ)
    put_go(tmp_path)
    folder = build(tool, environ, quiet)
    assert not list(tmp_path.glob("cache/*.building-*")) and (folder / "etcd").exists()


def test_two_builders_at_once_build_once(tool, environ, tmp_path):
    put_go(tmp_path, during="sleep 0.3")
    threads = [threading.Thread(target=build, args=(tool, environ, quiet)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert runs(tmp_path) == 1


def test_a_go_that_is_too_old_counts_as_none(tool, environ, tmp_path):
    put_go(tmp_path, version="go1.19.8")
    assert find_go(environ, tmp_path / "cache") is None
    with pytest.raises(ControlPlaneError, match=r"No Go 1\.26 or newer .* PORTAL_GO"):
        build(tool, environ, quiet)


def test_a_go_that_was_fetched_before_is_found(environ, tmp_path):
    version = LOCK.read_text().split()[0].replace("==", "-")
    fetched = tmp_path / "cache" / version / "go" / "bin" / "go"
    fetched.parent.mkdir(parents=True)
    (tmp_path / "go").rename(fetched)
    found = find_go({"PATH": str(tmp_path)}, tmp_path / "cache")
    assert found is not None and found.name == "go"


@pytest.mark.parametrize("needed", (*NEEDED, KUEUE), ids=lambda tool: tool.name)
def test_the_modules_of_the_checkout_are_pinned_and_name_no_address(needed):
    assert needed.version.startswith("v")
    for name in ("go.mod", "go.sum"):
        text = (needed.folder / name).read_text()
        assert text and "://" not in text


def test_kubernetes_reports_its_true_version():
    assert f"gitVersion={KUBERNETES.version}" in KUBERNETES.linker_flags()
    assert "gitMinor=36" in KUBERNETES.linker_flags()
