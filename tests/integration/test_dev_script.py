"""`./dev` with stand-ins for python: what it says, when it installs, what it hands on.

The stand-in records its arguments; `-m venv` puts it into the environment as `bin/python`, as the real one
does.
"""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

DEV = Path(__file__).resolve().parents[2] / "dev"
NO_VENV = '*"import ensurepip, venv"*) exit 1 ;;'
STAND_IN = """#!/bin/sh
case "$*" in
    {special}
    "-m venv"*)
        mkdir -p .venv/bin && cp "$0" .venv/bin/python ;;
    "-m pip install"*)
        echo "$*" >> pip.log
        echo "Collecting everything"
        [ ! -e network-is-down ] ;;
    "-m controlplane"*)
        echo "$*" >> controlplane.log
        [ ! -e go-is-missing ] ;;
    "-m pytest"*)
        printf '%s\\n' "$@" > pytest.log
        exit 3 ;;
    manage.py*)
        echo "$*" > manage.log ;;
esac
"""


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    """A checkout with the script and two locks, and a PATH with only what POSIX gives."""
    folder = tmp_path / "checkout"
    tools = tmp_path / "tools"
    folder.mkdir()
    tools.mkdir()
    shutil.copy(DEV, folder)
    (folder / "requirements.lock").write_text("runtime 1\n")
    (folder / "requirements-dev.lock").write_text("runtime 1\ndevelopment 1\n")
    for tool in ("sh", "dirname", "cat", "cmp", "cp", "mv", "rm", "mkdir", "flock", "sed"):
        found = shutil.which(tool)
        assert found, tool
        (tools / tool).symlink_to(found)
    return folder


def put_python(checkout: Path, name: str = "python3", *, special: str = "", code: str | None = None) -> None:
    """A stand-in on the PATH; `code` replaces its whole text."""
    program = checkout.parent / "tools" / name
    program.write_text(code or STAND_IN.format(special=special))
    program.chmod(0o755)


def dev(checkout: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    """One run of the script."""
    env = {"PATH": str(checkout.parent / "tools"), "HOME": str(checkout.parent), **variables}
    return subprocess.run(
        ["./dev", *arguments], cwd=checkout, env=env, capture_output=True, text=True, check=False, timeout=20
    )


def installations(checkout: Path) -> list[str]:
    """The pip commands so far."""
    log = checkout / "pip.log"
    return log.read_text().splitlines() if log.exists() else []


def test_a_machine_without_python_is_told_what_to_install(checkout: Path) -> None:
    done = dev(checkout, "up")
    assert done.returncode == 1
    assert "Python 3.11 or newer is needed" in done.stderr
    assert "apt install python3 python3-venv" in done.stderr


def test_an_old_python_counts_as_none(checkout: Path) -> None:
    put_python(checkout, code="#!/bin/sh\nexit 1\n")
    assert "Python 3.11 or newer is needed" in dev(checkout, "up").stderr


def test_a_python_without_venv_is_told_the_package(checkout: Path) -> None:
    put_python(checkout, special=NO_VENV)
    done = dev(checkout, "test")
    assert done.returncode == 1
    assert "python3 has no venv module" in done.stderr
    assert "apt install python3-venv" in done.stderr
    assert not (checkout / ".venv").exists()


def test_a_python_with_venv_is_taken_before_a_newer_one_without(checkout: Path) -> None:
    put_python(checkout, "python3.13", special=NO_VENV)
    put_python(checkout, "python3.11")
    assert dev(checkout, "up").returncode == 0
    assert (checkout / "manage.log").read_text() == "manage.py up\n"


def test_the_environment_is_made_once_with_hashes_and_progress_on_stderr(checkout: Path) -> None:
    put_python(checkout)
    first = dev(checkout, "up", "--port", "9000")
    assert first.returncode == 0, first.stderr
    assert first.stdout == ""
    assert "Collecting everything" in first.stderr
    assert (checkout / "manage.log").read_text() == "manage.py up --port 9000\n"
    assert dev(checkout, "manage", "check").stderr == ""
    (command,) = installations(checkout)
    assert "--require-hashes" in command
    assert command.endswith("-r requirements.lock")


def test_a_changed_lock_is_installed(checkout: Path) -> None:
    put_python(checkout)
    dev(checkout, "up")
    (checkout / "requirements.lock").write_text("runtime 2\n")
    dev(checkout, "up")
    assert len(installations(checkout)) == 2


def test_a_broken_off_installation_does_not_look_finished(checkout: Path) -> None:
    put_python(checkout)
    (checkout / "network-is-down").touch()
    assert dev(checkout, "up").returncode != 0
    assert not (checkout / "manage.log").exists()
    (checkout / "network-is-down").unlink()
    assert dev(checkout, "up").returncode == 0
    assert len(installations(checkout)) == 2


def test_a_failed_update_does_not_leave_the_old_stamp(checkout: Path) -> None:
    put_python(checkout)
    dev(checkout, "up")
    (checkout / "network-is-down").touch()
    assert dev(checkout, "test").returncode != 0
    (checkout / "network-is-down").unlink()
    dev(checkout, "up")
    assert len(installations(checkout)) == 3


def test_an_environment_for_development_serves_up_too(checkout: Path) -> None:
    put_python(checkout)
    dev(checkout, "test")
    dev(checkout, "up")
    (command,) = installations(checkout)
    assert command.endswith("-r requirements-dev.lock")


def test_wheels_from_a_folder_need_no_network(checkout: Path) -> None:
    put_python(checkout)
    dev(checkout, "up", PORTAL_WHEELS="/my wheels")
    (command,) = installations(checkout)
    assert "--no-index --find-links /my wheels" in command


def test_arguments_reach_one_pytest_run_whole_and_its_exit_code_comes_back(checkout: Path) -> None:
    put_python(checkout)
    done = dev(checkout, "test", "-k", "one or two", "tests/unit")
    assert done.returncode == 3
    assert (checkout / "pytest.log").read_text().splitlines() == [
        "-m",
        "pytest",
        "-k",
        "one or two",
        "tests/unit",
    ]


def test_the_cluster_suite_is_built_for_and_then_run(checkout: Path) -> None:
    put_python(checkout)
    assert dev(checkout, "test", "--cluster", "-k", "jobs").returncode == 3
    assert (checkout / "controlplane.log").read_text() == "-m controlplane build\n"
    assert (checkout / "pytest.log").read_text().split() == ["-m", "pytest", "tests/cluster", "-k", "jobs"]


def test_without_go_the_cluster_suite_says_why_it_skips_and_fails_where_it_is_required(checkout: Path) -> None:
    put_python(checkout)
    (checkout / "go-is-missing").touch()
    assert dev(checkout, "test", "--cluster").returncode == 3
    (checkout / "pytest.log").unlink()
    assert dev(checkout, "test", "--cluster", PORTAL_REQUIRE_CLUSTER="1").returncode == 1
    assert not (checkout / "pytest.log").exists()


def test_cluster_commands_are_handed_on(checkout: Path) -> None:
    put_python(checkout)
    assert dev(checkout, "cluster", "up", "--name", "one").returncode == 0
    assert (checkout / "controlplane.log").read_text() == "-m controlplane up --name one\n"


def test_it_works_from_any_folder(checkout: Path) -> None:
    put_python(checkout)
    env = {"PATH": os.fspath(checkout.parent / "tools")}
    subprocess.run([str(checkout / "dev"), "manage", "check"], cwd="/", env=env, check=True, capture_output=True)
    assert (checkout / "manage.log").read_text() == "manage.py check\n"


def test_help_and_an_unknown_command_list_the_commands(checkout: Path) -> None:
    assert "./dev up" in dev(checkout).stdout
    unknown = dev(checkout, "uup")
    assert unknown.returncode == 2
    assert "there is no command uup" in unknown.stderr
    assert "./dev up" in unknown.stderr
