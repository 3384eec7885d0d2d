"""What the local driver refuses before it touches anything."""

import math
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from portal.lib.clock import utc_now
from resources.drivers.base import MemberSpec, Mount, Workload, WorkloadRejected
from resources.drivers.local.check import check
from resources.drivers.local.site import LocalOptions, Site

GOOD = Workload(
    name="j-01-a1",
    job_id="job",
    attempt_id="attempt",
    generation=1,
    task_type="batch",
    program="",
    command=("true",),
    params={},
    members=(MemberSpec(0, "here", 1000, 1 << 20),),
)


@pytest.fixture
def site(tmp_path: Path) -> Site:
    for name in ("data", "data/set", "read", "data-of-others"):
        (tmp_path / name).mkdir()
    return Site(
        root=tmp_path / "local",
        node_name="here",
        programs={"train": tmp_path / "train.py"},
        allowed_read=(tmp_path / "read",),
        allowed_write=(tmp_path / "data",),
        listens_beyond_loopback=False,
        clock=utc_now,
        options=LocalOptions(),
    )


def reason(site: Site, **changes: Any) -> str:
    """Why the workload is refused; "" when it is not."""
    try:
        check(site, replace(GOOD, **changes))
    except WorkloadRejected as refusal:
        return refusal.reason
    return ""


def test_a_good_workload_passes(site: Site) -> None:
    assert reason(site) == ""
    assert reason(site, program="train", command=()) == ""


@pytest.mark.parametrize(
    "name", ["", "-a", "a-", "A", "a_b", "a.b", "a/b", "..", "a" * 53, "á", "а", "a\n", "a\0", "j 1", "１"]
)
def test_hostile_names(site: Site, name: str) -> None:
    assert reason(site, name=name) == "InvalidName"


@pytest.mark.parametrize("key", ["", "a b", "../a", "a\0", "a" * 65, "数", "-a", "a=b"])
def test_hostile_ids(site: Site, key: str) -> None:
    assert reason(site, job_id=key) == reason(site, attempt_id=key) == "InvalidName"


def test_exactly_one_of_program_and_command(site: Site) -> None:
    assert reason(site, command=()) == "InvalidCommand"
    assert reason(site, program="train") == "InvalidCommand"
    assert reason(site, program="../../etc/passwd", command=()) == "ProgramUnknown"


@pytest.mark.parametrize("command", [("",), ("a\0b",), ("x" * 70_000,), ("sh", "-c", "\ud800")])
def test_hostile_commands(site: Site, command: tuple[str, ...]) -> None:
    assert reason(site, command=command) == "InvalidCommand"


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        ((), "InvalidMembers"),
        ((MemberSpec(1, "here", 1, 1),), "InvalidMembers"),
        ((MemberSpec(0, "here", 1, 1), MemberSpec(0, "here", 1, 1)), "InvalidMembers"),
        (tuple(MemberSpec(index, "here", 1, 1) for index in range(257)), "InvalidMembers"),
        ((MemberSpec(0, "elsewhere", 1, 1),), "NodeUnknown"),
        ((MemberSpec(0, "here", 0, 1),), "InvalidNumber"),
        ((MemberSpec(0, "here", 1, -1),), "InvalidNumber"),
        ((MemberSpec(0, "here", 1, 1, cpus=(99_999,)),), "InvalidMembers"),
        (
            (MemberSpec(0, "here", 1, 1, {"gpu": ("g",)}), MemberSpec(1, "here", 1, 1, {"gpu": ("g",)})),
            "InvalidMembers",
        ),
    ],
)
def test_hostile_members(site: Site, members: tuple[MemberSpec, ...], expected: str) -> None:
    assert reason(site, members=members) == expected


@pytest.mark.parametrize(
    "environment",
    [
        {"PATH": "/evil"},
        {"LD_PRELOAD": "/evil.so"},
        {"PYTHONPATH": "/evil"},
        {"PORTAL_OUTPUT_DIR": "/etc"},
        {"CUDA_VISIBLE_DEVICES": "0"},
        {"NVIDIA_VISIBLE_DEVICES": "all"},
        {"ASCEND_RT_VISIBLE_DEVICES": "0"},
        {"BASH_ENV": "/evil"},
        {"lower": "x"},
        {"A=B": "x"},
        {"": "x"},
        {"A\n": "x"},
        {"A": "x\0"},
        {"A": "\ud800"},
        {"A": "x" * 40_000},
    ],
)
def test_hostile_environment(site: Site, environment: Mapping[str, str]) -> None:
    assert reason(site, environment=environment) == "InvalidEnvironment"


def test_inputs_have_variables_of_the_portal(site: Site, tmp_path: Path) -> None:
    source = str(tmp_path / "data" / "set")
    assert reason(site, mounts=(Mount("PORTAL_INPUT_DATA", source),)) == ""
    assert reason(site, mounts=(Mount("PORTAL_OUTPUT_DIR", source),)) == "InvalidEnvironment"
    assert reason(site, environment={"PORTAL_INPUT_DATA": "/etc"}) == "InvalidEnvironment"


@pytest.mark.parametrize(
    "params", [{"a": math.nan}, {"a": math.inf}, {"a": object()}, {"a": "x" * 300_000}, {"a": "\ud800"}]
)
def test_hostile_parameters(site: Site, params: Mapping[str, Any]) -> None:
    assert reason(site, params=params) == "InvalidParameters"


@pytest.mark.parametrize(
    "path", ["data/out", "/etc", "/", "//", "{}/data", "{}/data/", "{}/data/../x", "{}/data/a\0", "{}/data-of-others/x"]
)
def test_paths_outside_what_may_be_written(site: Site, tmp_path: Path, path: str) -> None:
    hostile = path.format(tmp_path)
    assert reason(site, output_dir=hostile) == "InvalidPath"
    assert reason(site, checkpoint_dir=hostile) == "InvalidPath"
    assert reason(site, mounts=(Mount("DATA", hostile),)) == "InvalidPath"


def test_what_may_only_be_read_is_not_mounted_writable(site: Site, tmp_path: Path) -> None:
    (tmp_path / "read" / "set").mkdir()
    assert reason(site, mounts=(Mount("DATA", f"{tmp_path}/read/set"),)) == ""
    assert reason(site, mounts=(Mount("DATA", f"{tmp_path}/read/set", writable=True),)) == "InvalidPath"
    assert reason(site, output_dir=f"{tmp_path}/read/set") == "InvalidPath"


def test_a_link_a_job_has_planted_is_not_followed(site: Site, tmp_path: Path) -> None:
    (tmp_path / "data" / "link").symlink_to("/etc")
    (tmp_path / "data" / "loop").symlink_to("loop")
    (tmp_path / "data" / "to-a-neighbour").symlink_to(tmp_path / "data" / "set")
    for name in ("link", "link/ssl", "to-a-neighbour", "loop"):
        assert reason(site, mounts=(Mount("DATA", f"{tmp_path}/data/{name}"),)) == "InvalidPath", name
        assert reason(site, output_dir=f"{tmp_path}/data/{name}") == "InvalidPath", name


def test_an_allowed_folder_may_itself_be_reached_by_a_link(site: Site, tmp_path: Path) -> None:
    (tmp_path / "alias").symlink_to(tmp_path / "data")
    aliased = replace(site, allowed_write=(tmp_path / "alias",))
    checked = check(aliased, replace(GOOD, output_dir=f"{tmp_path}/alias/out"))
    assert checked.output == f"{tmp_path}/data/out"


def test_a_mount_must_be_there_and_be_a_folder_or_a_file(site: Site, tmp_path: Path) -> None:
    import os

    os.mkfifo(tmp_path / "data" / "fifo")
    assert reason(site, mounts=(Mount("DATA", f"{tmp_path}/data/none"),)) == "MountMissing"
    assert reason(site, mounts=(Mount("DATA", ""),)) == "MountMissing"
    assert reason(site, mounts=(Mount("DATA", f"{tmp_path}/data/fifo"),)) == "InvalidPath"
    assert reason(site, mounts=(Mount("PATH", f"{tmp_path}/data/set"),)) == "InvalidEnvironment"


@pytest.mark.parametrize(
    "changes",
    [
        {"generation": -1},
        {"generation": 1 << 40},
        {"time_limit_ms": 0},
        {"time_limit_ms": -5},
        {"time_limit_ms": 1 << 60},
        {"grace_ms": -1},
        {"token_sha256": "abc"},
    ],
)
def test_hostile_numbers(site: Site, changes: dict[str, Any]) -> None:
    assert reason(site, **changes) == "InvalidNumber"


@pytest.mark.parametrize("path", ["", "x", "/a b", "/a\r\nHost: evil", "/\0", "/" + "a" * 300, "/数"])
def test_hostile_health_paths(site: Site, path: str) -> None:
    assert reason(site, serves=True, health_path=path) == "InvalidPath"


def test_nothing_is_accepted_while_the_portal_listens_beyond_loopback(site: Site) -> None:
    assert reason(replace(site, listens_beyond_loopback=True)) == "NotLoopback"
