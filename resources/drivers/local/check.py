"""Whether a workload may be run here at all: everything in it is checked before anything is written."""

import json
import os
import re
import stat
from dataclasses import dataclass
from pathlib import Path

from resources.drivers.base import MemberSpec, Mount, Workload, WorkloadRejected

from .inventory import usable_cpus
from .site import Site

_NAME = re.compile(r"[a-z0-9]([a-z0-9-]{0,50}[a-z0-9])?")
_ID = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]{0,63}")
_HEALTH_PATH = re.compile(r"/[A-Za-z0-9._~/?=&%-]{0,199}")
_DIGEST = re.compile(r"([0-9a-f]{64})?")
_LARGEST_PARAMS = 256 << 10
_LARGEST_COMMAND = 64 << 10
_LARGEST_VALUE = 32 << 10
_MOST_MEMBERS = 256
_LONGEST_MS = 366 * 86_400_000
_RESERVED_PREFIXES = ("PORTAL_", "LD_", "PYTHON", "GLIBC_", "GCONV_")
_INPUT_PREFIX = "PORTAL_INPUT_"
"""A mount may be named by the contract with the programs; nothing else of ours may be set from outside."""
"""What a mount's variable, and nothing else that is given, may begin with."""
_RESERVED = {"PATH", "HOME", "TMPDIR", "LANG", "SHELL", "USER", "IFS", "BASH_ENV", "ENV"}


@dataclass(frozen=True, slots=True)
class Checked:
    """A workload's paths, free of links and inside what is allowed; "" where none was asked for."""

    output: str
    checkpoint: str
    mounts: tuple[Mount, ...]
    params: str
    """The parameters as JSON text."""


def check(site: Site, workload: Workload) -> Checked:
    """Raises WorkloadRejected with the reason; touches nothing."""
    if site.listens_beyond_loopback:
        raise WorkloadRejected("local jobs run only while the portal listens on loopback", reason="NotLoopback")
    check_identity(workload)
    _check_program(site, workload)
    _check_members(site, workload)
    _check_environment(site, workload)
    _check_numbers(workload)
    writable = site.allowed_write
    return Checked(
        output=_inside(workload.output_dir, writable),
        checkpoint=_inside(workload.checkpoint_dir, writable),
        mounts=tuple(_check_mount(site, mount) for mount in workload.mounts),
        params=_check_params(workload),
    )


def is_name(name: str) -> bool:
    """Whether this can be the name of a workload; what cannot is never made into a path."""
    return _NAME.fullmatch(name) is not None


def _require(condition: object, reason: str, detail: str) -> None:
    if not condition:
        raise WorkloadRejected(detail, reason=reason)


def _size(text: str, reason: str) -> int:
    try:
        return len(text.encode())
    except UnicodeEncodeError:
        raise WorkloadRejected("half a character", reason=reason) from None


def check_identity(workload: Workload) -> None:
    """Raises WorkloadRejected for names and ids that must not be made into paths."""
    _require(is_name(workload.name), "InvalidName", f"name {workload.name!r}")
    for key in (workload.job_id, workload.attempt_id):
        _require(_ID.fullmatch(key), "InvalidName", f"id {key!r}")
    _require(0 <= workload.generation < 1 << 31, "InvalidNumber", f"generation {workload.generation}")


def _check_program(site: Site, workload: Workload) -> None:
    _require(bool(workload.program) != bool(workload.command), "InvalidCommand", "one of program and command")
    if workload.program:
        _require(workload.program in site.programs, "ProgramUnknown", f"no program {workload.program!r}")
        return
    size = sum(_size(word, "InvalidCommand") for word in workload.command)
    _require(size <= _LARGEST_COMMAND, "InvalidCommand", f"{size} bytes of command")
    _require(workload.command[0], "InvalidCommand", "an empty program name")
    _require(not any("\0" in word for word in workload.command), "InvalidCommand", "a NUL in the command")


def _check_members(site: Site, workload: Workload) -> None:
    members = workload.members
    _require(0 < len(members) <= _MOST_MEMBERS, "InvalidMembers", f"{len(members)} members")
    indexes = sorted(member.index for member in members)
    _require(indexes == list(range(len(members))), "InvalidMembers", f"indexes {indexes}")
    usable = set(usable_cpus())
    for member in members:
        _require(member.node == site.node_name, "NodeUnknown", f"node {member.node!r}")
        _require(member.cpu_milli > 0 and member.memory_bytes > 0, "InvalidNumber", "no CPU or no memory")
        _require(usable.issuperset(member.cpus), "InvalidMembers", f"CPUs {member.cpus}")
    devices = [uuid for member in members for uuid in granted(member)]
    _require(len(devices) == len(set(devices)), "InvalidMembers", "a device granted twice")


def granted(member: MemberSpec) -> tuple[str, ...]:
    """Uuids of all devices a member was granted."""
    return tuple(uuid for uuids in member.devices.values() for uuid in uuids)


def _check_environment(site: Site, workload: Workload) -> None:
    reserved = _RESERVED | {name for vendor in site.options.vendors for name, _ in vendor.visibility}
    names = [*workload.environment, *(mount.variable for mount in workload.mounts)]
    _require(len(names) == len(set(names)), "InvalidEnvironment", "a variable set twice")
    inputs = {mount.variable for mount in workload.mounts if mount.variable.startswith(_INPUT_PREFIX)}
    for name in names:
        taken = name not in inputs and (name in reserved or name.startswith(_RESERVED_PREFIXES))
        _require(_VARIABLE.fullmatch(name) and not taken, "InvalidEnvironment", f"variable {name!r}")
    for name, value in workload.environment.items():
        fits = _size(value, "InvalidEnvironment") <= _LARGEST_VALUE and "\0" not in value
        _require(fits, "InvalidEnvironment", f"value of {name}")


def _check_numbers(workload: Workload) -> None:
    limit = workload.time_limit_ms
    _require(limit is None or 0 < limit <= _LONGEST_MS, "InvalidNumber", f"time limit {limit}")
    _require(0 <= workload.grace_ms <= _LONGEST_MS, "InvalidNumber", f"grace {workload.grace_ms}")
    if workload.serves:
        _require(_HEALTH_PATH.fullmatch(workload.health_path), "InvalidPath", f"{workload.health_path!r}")
    _require(_DIGEST.fullmatch(workload.token_sha256), "InvalidNumber", "token digest")


def _check_params(workload: Workload) -> str:
    try:
        text = json.dumps(dict(workload.params), ensure_ascii=False, allow_nan=False)
        size = len(text.encode())
    except (TypeError, ValueError, RecursionError) as error:
        raise WorkloadRejected(f"parameters: {error}", reason="InvalidParameters") from None
    _require(size <= _LARGEST_PARAMS, "InvalidParameters", f"{size} bytes of parameters")
    return text


def _check_mount(site: Site, mount: Mount) -> Mount:
    allowed = site.allowed_write if mount.writable else (*site.allowed_read, *site.allowed_write)
    path = _inside(mount.source, allowed)
    try:
        kind = stat.S_IFMT(os.lstat(path).st_mode)
    except OSError:
        raise WorkloadRejected(f"nothing at {path}", reason="MountMissing") from None
    _require(kind in (stat.S_IFDIR, stat.S_IFREG), "InvalidPath", f"{path} is neither folder nor file")
    return Mount(mount.variable, path, mount.writable)


def _inside(path: str, allowed: tuple[Path, ...]) -> str:
    """`path` without a link in it, strictly below an allowed folder; a job may have planted links in its own."""
    if not path:
        return ""
    _require(path.startswith("/") and "\0" not in path, "InvalidPath", f"{path!r}")
    _require(_size(path, "InvalidPath") < 4096, "InvalidPath", f"{path!r}")
    _require(".." not in path.split("/"), "InvalidPath", f"{path!r}")
    for folder in allowed:
        base = os.path.realpath(folder)
        for prefix in (os.path.normpath(folder), base):
            if os.path.normpath(path).startswith(prefix.rstrip("/") + "/"):
                inner = base + os.path.normpath(path)[len(prefix.rstrip("/")) :]
                _require(not _has_link(base, inner), "InvalidPath", f"{path} leads through a link")
                return inner
    raise WorkloadRejected(f"{path} is outside what jobs may see", reason="InvalidPath")


def _has_link(base: str, path: str) -> bool:
    """Whether a part of `path` below `base` is a symbolic link, wherever it may lead."""
    while len(path) > len(base):
        if os.path.islink(path):
            return True
        path = os.path.dirname(path)
    return False
