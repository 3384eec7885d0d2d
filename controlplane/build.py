"""The control plane's programs: built once from the Go modules in `tools/`, kept in a cache outside the checkout.

A cache entry is named after everything that its programs depend on, is built in a folder beside it and gets its
name by one rename: an entry that exists is whole.
"""

import fcntl
import hashlib
import json
import os
import platform
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from controlplane.errors import ControlPlaneError, NotBuilt
from controlplane.go import OLDEST, fetch_go, find_go
from portal.embedded.paths import CHECKOUT

TOOLS = CHECKOUT / "tools"
MANIFEST = "built.json"
BUILD_SECONDS = 3600
# A module's folder may be a newer one than the entry's: bump this when the way of building changes.
RECIPE = 1


@dataclass(frozen=True, slots=True)
class Tool:
    """One Go module of `tools/` with the programs it declares; `renamed` maps the module's name to ours.

    `manifests` are files and folders of the required module's source that the programs need beside them.
    """

    name: str
    programs: tuple[str, ...]
    version_of: str
    renamed: Mapping[str, str]
    is_kubernetes: bool = False
    manifests: tuple[str, ...] = ()

    @property
    def folder(self) -> Path:
        """Where its go.mod and go.sum lie."""
        return TOOLS / self.name

    @property
    def version(self) -> str:
        """The version that go.mod requires, e.g. v1.36.3."""
        text = (self.folder / "go.mod").read_text(encoding="utf-8")
        found = re.search(rf"^\s*(?:require )?{re.escape(self.version_of)} (v\S+)", text, flags=re.MULTILINE)
        if found is None:
            raise ControlPlaneError(f"{self.folder / 'go.mod'} does not require {self.version_of}.")
        return found[1]

    def linker_flags(self) -> str:
        """No debug tables, and the version that the programs report."""
        if not self.is_kubernetes:
            return "-s -w"
        major, minor, _ = self.version.removeprefix("v").split(".")
        base = "k8s.io/component-base/version"
        return f"-s -w -X {base}.gitVersion={self.version} -X {base}.gitMajor={major} -X {base}.gitMinor={minor}"


KUBERNETES = Tool(
    name="k8s136",
    programs=("kube-apiserver", "kube-controller-manager", "kube-scheduler"),
    version_of="k8s.io/kubernetes",
    renamed={},
    is_kubernetes=True,
)
ETCD = Tool(name="etcd", programs=("etcd",), version_of="go.etcd.io/etcd/server/v3", renamed={"server": "etcd"})
KUEUE = Tool(
    name="kueue",
    programs=("kueue",),
    version_of="sigs.k8s.io/kueue",
    renamed={},
    manifests=("config/components/crd/bases", "config/components/webhook/manifests.yaml"),
)
NEEDED = (ETCD, KUBERNETES)


def cache_folder(environ: Mapping[str, str]) -> Path:
    """PORTAL_CONTROLPLANE_CACHE, or armillary/controlplane in the user's folder for caches."""
    chosen = environ.get("PORTAL_CONTROLPLANE_CACHE")
    if chosen:
        return Path(chosen).expanduser().absolute()
    base = environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(base) / "armillary" / "controlplane"


def entry(tool: Tool, environ: Mapping[str, str]) -> Path:
    """The folder of the tool's programs, whether or not it is built."""
    digest = hashlib.sha256(f"{RECIPE} {platform.machine()} {tool.linker_flags()}".encode())
    for name in ("go.mod", "go.sum"):
        digest.update((tool.folder / name).read_bytes())
    return cache_folder(environ) / f"{tool.name}-{digest.hexdigest()[:16]}"


def built(tool: Tool, environ: Mapping[str, str]) -> Path:
    """The folder with the tool's programs. Raises NotBuilt."""
    folder = entry(tool, environ)
    if not folder.is_dir():
        raise NotBuilt(
            f"{tool.name} {tool.version} is not built yet: run ./dev cluster build (needs Go, takes minutes)"
        )
    return folder


def build(tool: Tool, environ: Mapping[str, str], say: Callable[[str], None], *, may_fetch_go: bool = False) -> Path:
    """The folder with the tool's programs, built when it is not there. Raises ControlPlaneError with Go's answer.

    Two builders at once: the second waits and finds the first one's result. With `may_fetch_go` a machine without
    a Go that is new enough gets one into the cache.
    """
    folder = entry(tool, environ)
    if folder.is_dir():
        return folder
    folder.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with _only_builder(folder.parent / f"{tool.name}.lock"):
        if not folder.is_dir():
            _remove_broken_off(folder)
            _build(tool, folder, environ, say, _go(tool, environ, say, may_fetch_go))
    return folder


def _go(tool: Tool, environ: Mapping[str, str], say: Callable[[str], None], may_fetch: bool) -> str:
    cache = cache_folder(environ)
    found = find_go(environ, cache)
    if found is None and may_fetch:
        found = fetch_go(environ, cache, say)
    if found is None:
        raise ControlPlaneError(
            f"No Go {OLDEST[0]}.{OLDEST[1]} or newer to build {tool.name} {tool.version}: install one, name it in "
            "PORTAL_GO, or let pip install one into the cache: ./dev cluster build --fetch-go"
        )
    return str(found)


def _build(tool: Tool, folder: Path, environ: Mapping[str, str], say: Callable[[str], None], go: str) -> None:
    say(f"building {tool.name} {tool.version} into {folder}; from nothing this takes minutes")
    begin = time.monotonic()
    scratch = Path(tempfile.mkdtemp(prefix=f"{folder.name}.building-", dir=folder.parent))
    try:
        # GOTOOLCHAIN: a Go that is too old says so, and fetches no other.
        env = {**environ, "CGO_ENABLED": "0", "GOTOOLCHAIN": "local", "GOFLAGS": "-mod=readonly -buildvcs=false"}
        command = [go, "build", "-trimpath", "-ldflags", tool.linker_flags(), "-o", f"{scratch}/", "tool"]
        done = subprocess.run(
            command, cwd=tool.folder, env=env, capture_output=True, text=True, check=False, timeout=BUILD_SECONDS
        )
        if done.returncode != 0:
            raise ControlPlaneError(f"{go} cannot build {tool.name} {tool.version}:\n{done.stderr[-4000:]}")
        for theirs, ours in tool.renamed.items():
            (scratch / theirs).rename(scratch / ours)
        _copy_manifests(tool, scratch, go, env)
        _write_manifest(tool, scratch, go, time.monotonic() - begin)
        scratch.rename(folder)
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
    say(f"{tool.name} {tool.version} is built, after {time.monotonic() - begin:.0f} s")


def _copy_manifests(tool: Tool, folder: Path, go: str, env: Mapping[str, str]) -> None:
    if not tool.manifests:
        return
    command = [go, "list", "-m", "-f", "{{.Dir}}", tool.version_of]
    done = subprocess.run(command, cwd=tool.folder, env=dict(env), capture_output=True, text=True, check=True)
    for name in tool.manifests:
        source = Path(done.stdout.strip()) / name
        files = sorted(source.glob("*.yaml")) if source.is_dir() else [source]
        target = folder / "manifests" / Path(name).parent.name
        target.mkdir(parents=True, exist_ok=True)
        for file in files:
            (target / file.name).write_bytes(file.read_bytes())


def _write_manifest(tool: Tool, folder: Path, go: str, seconds: float) -> None:
    missing = [name for name in tool.programs if not os.access(folder / name, os.X_OK)]
    if missing:
        raise ControlPlaneError(f"{tool.folder} built, but without {', '.join(missing)}.")
    version = subprocess.run([go, "version"], capture_output=True, text=True, check=True).stdout.strip()
    sizes = {name: (folder / name).stat().st_size for name in tool.programs}
    facts = {"version": tool.version, "go": version, "seconds": round(seconds, 1), "bytes": sizes}
    (folder / MANIFEST).write_text(json.dumps(facts, indent=2), encoding="utf-8")


def _remove_broken_off(folder: Path) -> None:
    """Builds that were killed; called by the only builder, so none of them is under way."""
    for leftover in folder.parent.glob(f"{folder.name}.building-*"):
        shutil.rmtree(leftover, ignore_errors=True)


@contextmanager
def _only_builder(lock: Path) -> Iterator[None]:
    with lock.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
