"""Linux calls that Python 3.11 does not offer, each raising OSError with the name of what failed."""

import ctypes
import os

CLONE_NEWNS = 0x0002_0000
CLONE_NEWUTS = 0x0400_0000
CLONE_NEWIPC = 0x0800_0000
CLONE_NEWUSER = 0x1000_0000
CLONE_NEWPID = 0x2000_0000

MS_RDONLY = 0x1
MS_NOSUID = 0x2
MS_NODEV = 0x4
MS_NOEXEC = 0x8
MS_REMOUNT = 0x20
MS_NOATIME = 0x400
MS_NODIRATIME = 0x800
MS_BIND = 0x1000
MS_REC = 0x4000
MS_PRIVATE = 0x4_0000
MS_RELATIME = 0x20_0000
MNT_DETACH = 0x2

_PR_SET_PDEATHSIG = 1
_PR_SET_DUMPABLE = 4
_PR_CAPBSET_DROP = 24
_PR_SET_CHILD_SUBREAPER = 36
_PR_SET_NO_NEW_PRIVS = 38
_PR_CAP_AMBIENT = 47
_PR_CAP_AMBIENT_CLEAR_ALL = 4
_CAPABILITY_VERSION_3 = 0x2008_0522

_LANDLOCK_CREATE_RULESET = 444  # the same number on every architecture, as for all calls since Linux 5.1
_LANDLOCK_RESTRICT_SELF = 446
_LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET = 1
_LANDLOCK_ABI_WITH_SCOPES = 6

_libc = ctypes.CDLL(None, use_errno=True)


def _call(name: str, *arguments: object) -> int:
    result = int(getattr(_libc, name)(*arguments))
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{name}: {os.strerror(number)}")
    return result


def unshare(flags: int) -> None:
    """Leave the given namespaces for new ones; a new pid namespace holds the children, not the caller."""
    _call("unshare", flags)


def mount(source: str, target: str, kind: str, flags: int, data: str = "") -> None:
    """mount(2)."""
    number = ctypes.c_ulong(flags)
    try:
        _call("mount", source.encode(), target.encode(), kind.encode(), number, data.encode() or None)
    except OSError as error:
        raise OSError(error.errno, f"{error.strerror} ({source or kind} on {target})") from None


def swap_root(path: str) -> None:
    """Make `path`, a mount point, the root of this mount namespace and drop the old root from it."""
    os.chdir(path)
    _call("pivot_root", b".", b".")  # stacked on itself: no folder is needed for the old root, pivot_root(2)
    _call("umount2", b".", MNT_DETACH)
    os.chdir("/")


def set_host_name(name: str) -> None:
    """Name the machine in this uts namespace."""
    _call("sethostname", name.encode(), len(name.encode()))


def die_with_parent(signal: int) -> None:
    """Have the kernel send this process a signal when the process that is its parent now ends."""
    _call("prctl", _PR_SET_PDEATHSIG, signal, 0, 0, 0)


def adopt_orphans() -> None:
    """Become the parent of descendants whose own parent ends."""
    _call("prctl", _PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def hide_memory() -> None:
    """Keep processes of the same user out of this one's memory, open files and /proc links; undone by exec."""
    _call("prctl", _PR_SET_DUMPABLE, 0, 0, 0, 0)


def drop_privileges() -> None:
    """Give up every capability for good; no later exec can gain one."""
    _call("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    _call("prctl", _PR_CAP_AMBIENT, _PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0)
    with open("/proc/sys/kernel/cap_last_cap", encoding="ascii") as file:
        last = int(file.read())
    for capability in range(last + 1):
        _call("prctl", _PR_CAPBSET_DROP, capability, 0, 0, 0)
    header = (ctypes.c_uint32 * 2)(_CAPABILITY_VERSION_3, 0)
    _call("capset", header, (ctypes.c_uint32 * 6)())


def forbid_new_privileges() -> None:
    """Later execs gain nothing from set-user-id files."""
    _call("prctl", _PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)


def can_shut_out_abstract_sockets() -> bool:
    """Whether the kernel knows how to (Landlock with scopes, Linux 6.12)."""
    return int(_libc.syscall(_LANDLOCK_CREATE_RULESET, None, 0, 1)) >= _LANDLOCK_ABI_WITH_SCOPES


def shut_out_abstract_sockets() -> None:
    """Cut this process off from abstract unix sockets of others, where the kernel knows how to.

    They belong to the network namespace, which jobs share with the machine. Needs `drop_privileges` first.
    """
    if not can_shut_out_abstract_sockets():
        return
    attributes = (ctypes.c_uint64 * 3)(0, 0, _LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET)
    ruleset = _call("syscall", _LANDLOCK_CREATE_RULESET, attributes, ctypes.sizeof(attributes), 0)
    _call("syscall", _LANDLOCK_RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)
