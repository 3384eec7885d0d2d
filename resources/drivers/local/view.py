"""What of this machine a job can see. Everything not named here does not exist for it."""

import os
import sys
from collections.abc import Iterable
from pathlib import Path

from .launcher.records import Record
from .launcher.sandbox import JOB_ID
from .site import Site

HOME = "/portal"
"""Where everything that belongs to the job itself is found inside."""

_SYSTEM = ("/usr", "/bin", "/sbin", "/lib", "/lib64", "/lib32", "/libx32")
_SETTINGS_FOLDERS = (
    "/etc/alternatives",
    "/etc/ssl/certs",
    "/etc/pki/ca-trust/extracted",
    "/etc/fonts",
    "/etc/OpenCL",
)
_SETTINGS_FILES = (
    "/etc/ld.so.cache",
    "/etc/localtime",
    "/etc/nsswitch.conf",
    "/etc/host.conf",
    "/etc/hosts",
    "/etc/resolv.conf",
    "/etc/gai.conf",
    "/etc/services",
    "/etc/protocols",
    "/etc/mime.types",
    "/etc/os-release",
    "/etc/ssl/openssl.cnf",
)
_MACHINE = ("/sys/devices/system/cpu", "/sys/devices/system/node")
_PEOPLE = {
    "/etc/passwd": f"job:x:{JOB_ID}:{JOB_ID}:job:{HOME}/scratch:/bin/sh\n",
    "/etc/group": f"job:x:{JOB_ID}:\n",
}


def base_view(site: Site, libraries: Iterable[str] = ()) -> Record:
    """Plan entries every isolated member shares: system folders, the Python environment, settings, masks."""
    links, folders = _sort_out(_SYSTEM)
    shown = [*folders, *_python_folders(site), *_existing(_SETTINGS_FOLDERS), *_existing(_MACHINE)]
    shown += _existing(libraries)
    binds = [bind(os.path.realpath(path), path) for path in _outermost(shown)]
    return {
        "binds": binds,
        "links": {**links, "/var/tmp": "/tmp"},
        "copies": {path: path for path in _SETTINGS_FILES},
        "texts": dict(_PEOPLE),
        "masks": _masks(site, binds),
        "folders": ["/run", "/tmp", "/var", "/etc", HOME],
    }


def bind(source: str, target: str, *, writable: bool = False) -> Record:
    """One folder or file shown at `target`."""
    return {"source": source, "target": target, "writable": writable}


def _sort_out(paths: Iterable[str]) -> tuple[dict[str, str], list[str]]:
    """Links of a merged /usr stay links; real folders are shown."""
    links = {path: os.readlink(path) for path in paths if os.path.islink(path)}
    return links, [path for path in paths if path not in links and os.path.isdir(path)]


def _existing(paths: Iterable[str]) -> list[str]:
    return [path for path in paths if os.path.isdir(path)]


def _python_folders(site: Site) -> list[str]:
    """The environment of `options.python` and of each interpreter its links lead to."""
    python = Path(os.path.abspath(site.options.python))
    hops = [python]
    while hops[-1].is_symlink() and len(hops) < 16:
        hops.append(Path(os.path.normpath(hops[-1].parent / os.readlink(hops[-1]))))
    prefixes = {str(hop.parent.parent) for hop in hops}
    if python == Path(os.path.abspath(sys.executable)):
        prefixes |= {sys.prefix, sys.base_prefix}
    return sorted(prefix for prefix in prefixes if os.path.isdir(prefix) and not _too_wide(site, prefix))


def _too_wide(site: Site, prefix: str) -> bool:
    """An interpreter in a home folder must not show the home folder, nor one above our own data that data."""
    real = os.path.realpath(prefix)
    private = [os.path.expanduser("~"), "/home", "/root", *map(str, hidden_folders(site))]
    return any(_contains(real, os.path.realpath(path)) for path in private)


def hidden_folders(site: Site) -> tuple[Path, ...]:
    """What a job must never see, even where a folder shown to it should contain it: the state folder above all."""
    return (site.root.parent, *site.allowed_write, *site.options.hidden)


def _masks(site: Site, binds: Iterable[Record]) -> list[str]:
    """Hidden folders that lie inside a shown one, at the path where they would appear."""
    masks = []
    for shown in binds:
        for folder in hidden_folders(site):
            path = os.path.realpath(folder)
            if _contains(shown["source"], path) and os.path.isdir(path):
                masks.append(shown["target"] + path[len(shown["source"]) :])
    return masks


def _outermost(paths: Iterable[str]) -> list[str]:
    """Without those inside another: their parent shows them already."""
    kept: list[str] = []
    for path in sorted(set(paths), key=len):
        if not any(_contains(outer, path) for outer in kept):
            kept.append(path)
    return kept


def _contains(outer: str, inner: str) -> bool:
    return inner == outer or inner.startswith(outer.rstrip("/") + "/")
