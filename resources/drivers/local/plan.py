"""What one member's launcher is told: the program, its environment, its view of the machine and its limits.

All decisions are made here; the launcher only carries them out.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from resources.drivers.base import MemberSpec, Workload

from .check import Checked
from .devices import Exposure
from .launcher.records import Record
from .launcher.sandbox import JOB_ID
from .site import Site
from .view import HOME, base_view, bind

_THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMEXPR_NUM_THREADS")
_OPEN_FILES = 65_536
_MIB = 1 << 20


@dataclass(frozen=True, slots=True)
class Granted:
    """What the driver chose for a member."""

    cpus: tuple[int, ...]
    port: int
    """0 when it serves nothing."""
    exposure: Exposure


@dataclass(frozen=True, slots=True)
class Places:
    """Where a member finds its things, as it sees them."""

    scratch: str
    output: str
    checkpoint: str
    params: str
    program: str
    mounts: tuple[tuple[str, str], ...]


def member_plan(
    site: Site,
    workload: Workload,
    checked: Checked,
    member: MemberSpec,
    granted: Granted,
    *,
    isolation: str,
    folder: Path,
    scratch: Path,
) -> Record:
    """The plan of one member. `isolation` is root, user or none; `scratch` is its folder on this machine."""
    places = _places(site, workload, checked, isolation, folder, scratch)
    plan = {
        "index": member.index,
        "count": len(workload.members),
        "gang": workload.gang,
        "isolation": isolation,
        "argv": _command(site, workload, places),
        "env": _environment(site, workload, member, granted, places),
        "cwd": places.scratch,
        "root": str(folder / "root"),
        "cpus": list(granted.cpus),
        "cpu_milli": member.cpu_milli,
        "memory_bytes": member.memory_bytes,
        "cgroup": cgroup_of(site, workload.name, member.index),
        "limits": limits_for(site, member.memory_bytes),
        "time_limit_ms": workload.time_limit_ms,
        "grace_ms": workload.grace_ms,
        "port": granted.port,
        "health_path": workload.health_path if workload.serves else "",
        "log_head_bytes": site.options.log_head_bytes,
        "log_tail_bytes": site.options.log_tail_bytes,
    }
    if isolation != "none":
        plan |= _view(site, workload, checked, granted, places, folder, scratch)
    return plan


def _places(site: Site, workload: Workload, checked: Checked, isolation: str, folder: Path, scratch: Path) -> Places:
    program = site.programs.get(workload.program)
    if isolation == "none":
        return Places(
            scratch=f"{scratch}/work",
            output=checked.output,
            checkpoint=checked.checkpoint,
            params=str(folder / "params.json"),
            program=str(program) if program else "",
            mounts=tuple((mount.variable, mount.source) for mount in checked.mounts),
        )
    return Places(
        scratch=f"{HOME}/scratch",
        output=f"{HOME}/output" if checked.output else "",
        checkpoint=f"{HOME}/checkpoint" if checked.checkpoint else "",
        params=f"{HOME}/params.json",
        program=f"{HOME}/programs/{program.name}" if program else "",
        mounts=tuple((mount.variable, f"{HOME}/in/{mount.variable}") for mount in checked.mounts),
    )


def _command(site: Site, workload: Workload, places: Places) -> list[str]:
    if workload.program:
        return [str(site.options.python), places.program]
    return list(workload.command)


def _environment(
    site: Site, workload: Workload, member: MemberSpec, granted: Granted, places: Places
) -> dict[str, str]:
    threads = str(max(1, len(granted.cpus)))
    return {
        **workload.environment,
        **granted.exposure.environment,
        **{name: threads for name in _THREADS if name not in workload.environment},
        **dict(places.mounts),
        "PATH": f"{site.options.python.parent}:/usr/local/bin:/usr/bin:/bin",
        "LANG": "C.UTF-8",
        "HOME": places.scratch,
        "PYTHONUNBUFFERED": "1",
        "PORTAL_JOB_ID": workload.job_id,
        "PORTAL_ATTEMPT_ID": workload.attempt_id,
        "PORTAL_GENERATION": str(workload.generation),
        "PORTAL_INDEX": str(member.index),
        "PORTAL_COUNT": str(len(workload.members)),
        "PORTAL_TASK_TYPE": workload.task_type,
        "PORTAL_PARAMS_FILE": places.params,
        "PORTAL_OUTPUT_DIR": places.output,
        "PORTAL_CHECKPOINT_DIR": places.checkpoint,
        "PORTAL_RESUME": "1" if workload.resume else "0",
        "PORTAL_SCRATCH_DIR": places.scratch,
        "PORTAL_PORT": str(granted.port) if workload.serves else "",
        "PORTAL_HEALTH_PATH": workload.health_path if workload.serves else "",
        "PORTAL_TOKEN_SHA256": workload.token_sha256,
    }


def limits_for(site: Site, memory_bytes: int) -> dict[str, int]:
    """Resource limits of every process. Memory is held by its real use; this only stops a leap past the watch."""
    return {
        "RLIMIT_CORE": 0,
        "RLIMIT_NOFILE": _OPEN_FILES,
        "RLIMIT_NPROC": site.options.processes,
        "RLIMIT_DATA": 2 * memory_bytes + 1024 * _MIB,
    }


def cgroup_of(site: Site, name: str, index: int) -> str:
    """The control group of a member; "" where none is delegated to us."""
    return str(site.options.cgroup / f"{name}-{index}") if site.options.cgroup else ""


def _view(
    site: Site,
    workload: Workload,
    checked: Checked,
    granted: Granted,
    places: Places,
    folder: Path,
    scratch: Path,
) -> Record:
    view = base_view(site, granted.exposure.libraries)
    # Its own /tmp comes first: the Python environment may lie below the machine's, and is then shown in it.
    binds = view["binds"] = [bind(f"{scratch}/tmp", "/tmp", writable=True), *view["binds"]]
    binds.append(bind(f"{scratch}/work", places.scratch, writable=True))
    if places.output:
        binds.append(bind(checked.output, places.output, writable=True))
    if places.checkpoint:
        binds.append(bind(checked.checkpoint, places.checkpoint, writable=True))
    for mount in checked.mounts:
        binds.append(bind(mount.source, f"{HOME}/in/{mount.variable}", writable=mount.writable))
    if workload.program:
        shipped = os.path.realpath(site.programs[workload.program].parent)
        binds.append(bind(shipped, f"{HOME}/programs"))
    view["copies"][str(folder / "params.json")] = places.params
    view["devices"] = list(granted.exposure.nodes)
    view["groups"] = _groups(granted.exposure.nodes)
    return view


def _groups(nodes: Iterable[str]) -> list[int]:
    """Groups that may open the device files: all a root portal leaves its jobs of the machine's groups."""
    paths = [path for node in nodes for path in (node, *_inside(node))]
    return sorted({os.stat(path).st_gid for path in paths} - {0, JOB_ID})


def _inside(node: str) -> list[str]:
    return [entry.path for entry in os.scandir(node)] if os.path.isdir(node) else []
