"""The view of the machine a member gets: a root of its own, in which only what the plan names exists.

Two ways lead there, and the plan names one (`isolation`):
`root`: the portal runs as root; mounts are made with its rights, then a user namespace holds only an unprivileged id.
`user`: the portal is an ordinary user; the user namespace comes first and lends the rights to mount.
Either way the program has no capability, cannot gain one and cannot make namespaces of its own.
"""

import contextlib
import os
import stat
from collections.abc import Callable

from . import syscalls as sc
from .records import Record

JOB_ID = 65534
"""The user and group a member sees itself as."""

_OTHER_NAMESPACES = sc.CLONE_NEWNS | sc.CLONE_NEWPID | sc.CLONE_NEWIPC | sc.CLONE_NEWUTS
_PLAIN = sc.MS_NOSUID | sc.MS_NODEV
_AGAIN = sc.MS_REMOUNT | sc.MS_BIND
_KEPT = {  # flags a bind mount inherits; a user namespace may not clear them, so each remount names them again
    "nosuid": sc.MS_NOSUID,
    "nodev": sc.MS_NODEV,
    "noexec": sc.MS_NOEXEC,
    "noatime": sc.MS_NOATIME,
    "nodiratime": sc.MS_NODIRATIME,
    "relatime": sc.MS_RELATIME,
    "ro": sc.MS_RDONLY,
}
_DEVICES = ("null", "zero", "full", "random", "urandom")
_LARGEST_COPY = 4 << 20


def leave_namespaces(isolation: str) -> None:
    """Step one, before the fork of the member's first process."""
    if isolation == "root":
        sc.unshare(_OTHER_NAMESPACES)
    elif isolation == "user":
        user, group = os.geteuid(), os.getegid()
        sc.unshare(sc.CLONE_NEWUSER)
        _put("/proc/self/setgroups", "deny")
        map_ids("self", user, group)
        sc.unshare(_OTHER_NAMESPACES)


def map_ids(process: int | str, user: int, group: int) -> None:
    """Let one user and one group exist in the process's user namespace, seen there as the job's id."""
    _put(f"/proc/{process}/uid_map", f"{JOB_ID} {user} 1")
    _put(f"/proc/{process}/gid_map", f"{JOB_ID} {group} 1")


def enter(plan: Record, ask_for_ids: Callable[[], None]) -> None:
    """Step two, in the member's first process: the new root, then the loss of every privilege.

    `ask_for_ids` has the launcher, which is outside, map the ids of this process.
    """
    settings = os.open("/proc/sys", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    _build_root(plan)
    if plan["isolation"] == "root":
        os.setgroups(plan["groups"])
        sc.unshare(sc.CLONE_NEWUSER)
        ask_for_ids()
        os.setresgid(JOB_ID, JOB_ID, JOB_ID)
        os.setresuid(JOB_ID, JOB_ID, JOB_ID)
    _forbid_namespaces(settings)
    os.close(settings)
    sc.drop_privileges()
    sc.shut_out_abstract_sockets()


def _forbid_namespaces(settings: int) -> None:
    """Set the limit of user namespaces below this one to none; where /proc/sys is read-only, leave it."""
    with contextlib.suppress(OSError):
        limit = os.open("user/max_user_namespaces", os.O_WRONLY | os.O_CLOEXEC, dir_fd=settings)
        os.write(limit, b"0")
        os.close(limit)


def _build_root(plan: Record) -> None:
    root = plan["root"]
    sc.mount("none", "/", "", sc.MS_REC | sc.MS_PRIVATE)
    sc.mount("job", root, "tmpfs", _PLAIN, "mode=755,size=32m")
    for path in plan["folders"]:
        os.makedirs(root + path, exist_ok=True)
    for bind in plan["binds"]:
        _bind(bind["source"], root + bind["target"], writable=bind["writable"])
    for path in plan["masks"]:
        sc.mount("hidden", root + path, "tmpfs", _PLAIN | sc.MS_RDONLY, "size=4k,mode=555")
    for source, target in plan["copies"].items():
        _copy(source, root + target)
    for target, text in plan["texts"].items():
        _put_new(root + target, text.encode())
    for target, source in plan["links"].items():
        os.makedirs(os.path.dirname(root + target), exist_ok=True)
        os.symlink(source, root + target)
    _build_dev(root + "/dev", plan)
    os.makedirs(root + "/proc", exist_ok=True)
    sc.mount("proc", root + "/proc", "proc", _PLAIN | sc.MS_NOEXEC)
    sc.mount("", root + "/proc", "", _AGAIN | _PLAIN | sc.MS_NOEXEC | sc.MS_RDONLY)
    sc.set_host_name("job")
    sc.swap_root(root)
    sc.mount("", "/", "", _AGAIN | _PLAIN | sc.MS_RDONLY)


def _build_dev(dev: str, plan: Record) -> None:
    os.makedirs(f"{dev}/shm", exist_ok=True)
    for node in [f"/dev/{name}" for name in _DEVICES] + plan["devices"]:
        target = dev + node.removeprefix("/dev")
        if os.path.isdir(node):
            os.makedirs(target)
        else:
            _touch(target)
        sc.mount(node, target, "", sc.MS_BIND)
    for name, target in (("fd", "fd"), ("stdin", "fd/0"), ("stdout", "fd/1"), ("stderr", "fd/2")):
        os.symlink(f"/proc/self/{target}", f"{dev}/{name}")
    sc.mount("shm", f"{dev}/shm", "tmpfs", _PLAIN, f"mode=1777,size={plan['memory_bytes']}")


def _bind(source: str, target: str, *, writable: bool) -> None:
    descriptor = open_without_links(source)
    try:
        if stat.S_ISDIR(os.fstat(descriptor).st_mode):
            os.makedirs(target, exist_ok=True)
        else:
            _touch(target)
        sc.mount(f"/proc/self/fd/{descriptor}", target, "", sc.MS_BIND | sc.MS_REC)
    finally:
        os.close(descriptor)
    extra = _AGAIN | _PLAIN | (0 if writable else sc.MS_RDONLY)
    for path, flags in _mounts_at_or_below(target):
        sc.mount("", path, "", flags | extra)


def open_without_links(path: str) -> int:
    """A handle on an absolute path in which no part is a symbolic link, so that nobody can lead us elsewhere."""
    descriptor = os.open("/", os.O_PATH | os.O_DIRECTORY | os.O_CLOEXEC)
    for part in path.split("/"):
        if part:
            try:
                inner = os.open(part, os.O_PATH | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=descriptor)
            finally:
                os.close(descriptor)
            descriptor = inner
            if stat.S_ISLNK(os.fstat(descriptor).st_mode):
                os.close(descriptor)
                raise OSError(f"{path}: {part} is a symbolic link")
    return descriptor


def _mounts_at_or_below(target: str) -> list[tuple[str, int]]:
    """Mount points and their flags, as /proc/self/mountinfo has them (proc(5), fields 5 and 6)."""
    found = []
    with open("/proc/self/mountinfo", encoding="utf-8", errors="surrogateescape") as file:
        for line in file:
            fields = line.split(" ")
            path = _unescape(fields[4])
            if path == target or path.startswith(target + "/"):
                found.append((path, sum(_KEPT.get(option, 0) for option in fields[5].split(","))))
    return found


def _unescape(field: str) -> str:
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        field = field.replace(code, character)
    return field


def _copy(source: str, target: str) -> None:
    """A copy of a small file, readable by the job whoever owns the original; a missing one is left out."""
    with contextlib.suppress(FileNotFoundError):
        if os.path.getsize(source) <= _LARGEST_COPY:
            with open(source, "rb") as file:
                _put_new(target, file.read())


def _put_new(target: str, data: bytes) -> None:
    os.makedirs(os.path.dirname(target), exist_ok=True)
    with open(target, "xb") as file:
        file.write(data)
    os.chmod(target, 0o444)


def _put(path: str, text: str) -> None:
    with open(path, "wb", buffering=0) as file:  # the kernel's files take one write
        file.write(text.encode())


def _touch(path: str) -> None:
    os.makedirs(os.path.dirname(path), exist_ok=True)
    os.close(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o444))
