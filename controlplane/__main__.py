"""`./dev cluster`: build, up, down, status, kubeconfig."""

import argparse
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable

import psutil

from controlplane.build import KUEUE, NEEDED, Tool, build, built, entry
from controlplane.cluster import start_cluster, tools_for
from controlplane.components import Options
from controlplane.errors import ControlPlaneError
from controlplane.state import ClusterFolder, clusters_folder
from portal.embedded.errors import EmbeddedError
from portal.embedded.runfile import end_leftovers, hold, live_running
from portal.embedded.terminal import tell, warn

UP_SECONDS = 120.0
DOWN_SECONDS = 20.0
POLL_SECONDS = 0.05


def main(argv: list[str]) -> int:
    """Run the command of argv; 1 with a sentence when it cannot be done."""
    options = _parse(argv)
    command: Callable[[argparse.Namespace], int] = options.command
    try:
        return command(options)
    except (ControlPlaneError, EmbeddedError, OSError) as error:
        warn(str(error))
        return 1


def build_all(options: argparse.Namespace) -> int:
    """Build what the cache lacks; with --check only say whether it lacks anything."""
    for tool in (*NEEDED, KUEUE) if options.kueue else NEEDED:
        if options.check:
            built(tool, os.environ)
        else:
            tell(str(build(tool, os.environ, warn, may_fetch_go=options.fetch_go)))
    return 0


def up(options: argparse.Namespace) -> int:
    """Start a cluster in the background and print how to reach it; one that runs stays as it is."""
    folder = _folder(options.name)
    running = live_running(folder)
    if running is None:
        for tool in tools_for(_options(options)):
            build(tool, os.environ, warn)
        folder.create()
        _start_in_background(folder, options)
        running = live_running(folder)
    tell(f"cluster {options.name} answers at {running.url if running else ''}")
    tell(f"export KUBECONFIG={folder.kubeconfig}")
    return 0


def run(options: argparse.Namespace) -> int:
    """Run a cluster in this process until TERM: what `up` starts in the background."""
    folder = _folder(options.name)
    folder.create()
    with hold(folder):
        end_leftovers(folder)
        cluster = start_cluster(folder.root, _options(options), os.environ, warn)
        with cluster.supervisor.stopping_on_signals():
            try:
                cluster.supervisor.announce({"KUBECONFIG": str(folder.kubeconfig)}, cluster.ports.server)
                cluster.supervisor.watch()
            finally:
                cluster.stop()
    return 0


def down(options: argparse.Namespace) -> int:
    """Stop exactly what `up` started, and keep the cluster's state; 1 when nothing was running."""
    folder = _folder(options.name)
    running = live_running(folder)
    if running is None:
        if folder.root.exists():
            with hold(folder):
                end_leftovers(folder)
        tell(f"cluster {options.name} is not running")
        return 1
    os.kill(running.supervisor.pid, signal.SIGTERM)
    deadline = time.monotonic() + DOWN_SECONDS
    while running.supervisor.is_alive() and time.monotonic() < deadline:
        time.sleep(POLL_SECONDS)
    if running.supervisor.is_alive():
        raise ControlPlaneError(f"Cluster {options.name} does not stop: process {running.supervisor.pid} still runs.")
    tell(f"cluster {options.name} is stopped")
    return 0


def status(options: argparse.Namespace) -> int:
    """Every cluster with its processes and their memory; and what is built."""
    for tool in (*NEEDED, KUEUE):
        tell(_built_line(tool))
    base = clusters_folder(os.environ)
    for root in sorted(base.iterdir()) if base.is_dir() else ():
        running = live_running(ClusterFolder(root))
        if running is None:
            tell(f"{root.name}: stopped")
            continue
        tell(f"{root.name}: {running.url} KUBECONFIG={root / 'kubeconfig'}")
        for name, child in running.children.items():
            tell(f"    {name:<24} process {child.pid:<8} {_memory(child.pid)}")
    return 0


def kubeconfig(options: argparse.Namespace) -> int:
    """The path of a running cluster's kubeconfig."""
    folder = _folder(options.name)
    if live_running(folder) is None:
        raise ControlPlaneError(f"Cluster {options.name} is not running: ./dev cluster up --name {options.name}")
    tell(str(folder.kubeconfig))
    return 0


def _options(options: argparse.Namespace) -> Options:
    return Options(
        nodes=options.nodes,
        all_controllers=options.all_controllers,
        kueue=options.kueue,
        node_grace_seconds=options.grace,
        heartbeat_seconds=options.heartbeat,
    )


def _start_in_background(folder: ClusterFolder, options: argparse.Namespace) -> None:
    arguments = ["--name", options.name, "--nodes", options.nodes, "--grace", str(options.grace)]
    arguments += ["--heartbeat", str(options.heartbeat)]
    arguments += ["--all-controllers"] if options.all_controllers else []
    arguments += ["--kueue"] if options.kueue else []
    log = folder.logs / "supervisor.log"
    begin = time.monotonic()
    with log.open("wb") as output:
        process = subprocess.Popen(
            [sys.executable, "-m", "controlplane", "run", *arguments],
            stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, start_new_session=True,
        )  # fmt: skip
    while time.monotonic() - begin < UP_SECONDS:
        running = live_running(folder)
        if running and running.is_ready:
            warn(f"started in {time.monotonic() - begin:.1f} s")
            return
        if process.poll() is not None:
            break
        time.sleep(POLL_SECONDS)
    process.terminate()
    raise ControlPlaneError(f"The cluster does not start. {log} ends with:\n{log.read_text(encoding='utf-8')[-2000:]}")


def _folder(name: str) -> ClusterFolder:
    if not name.replace("-", "").isalnum():
        raise ControlPlaneError(f"{name!r} is no name of a cluster: letters, digits and hyphens only.")
    return ClusterFolder(clusters_folder(os.environ) / name)


def _built_line(tool: Tool) -> str:
    folder = entry(tool, os.environ)
    try:
        facts = json.loads((folder / "built.json").read_text(encoding="utf-8"))
    except OSError:
        return f"{tool.name} {tool.version}: not built"
    return f"{tool.name} {tool.version}: built in {facts['seconds']} s by {facts['go']}, {folder}"


def _memory(pid: int) -> str:
    try:
        return f"{psutil.Process(pid).memory_info().rss / 1024**2:.0f} MiB"
    except psutil.Error:
        return "gone"


def _parse(argv: list[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="./dev cluster", description="A real Kubernetes control plane on loopback.")
    commands = parser.add_subparsers(required=True)
    building = commands.add_parser("build", help=build_all.__doc__)
    building.add_argument("--check", action="store_true", help="only say whether something is missing")
    building.add_argument("--kueue", action="store_true", help="Kueue too")
    building.add_argument("--fetch-go", action="store_true", help="install a Go from tools/go.lock when there is none")
    building.set_defaults(command=build_all)
    for function in (up, run, down, status, kubeconfig):
        command = commands.add_parser(function.__name__, help=function.__doc__)
        command.add_argument("--name", default="test", help="which cluster (default %(default)s)")
        command.set_defaults(command=function)
        if function in (up, run):
            _add_options(command)
    return parser.parse_args(argv)


def _add_options(command: argparse.ArgumentParser) -> None:
    command.add_argument("--nodes", default="small", help="none, small, troubled, mixed, gpu:N, npu:N, cpu:N or a file")
    command.add_argument("--all-controllers", action="store_true", help="every controller: starts some seconds later")
    command.add_argument("--kueue", action="store_true", help="with Kueue, for batch Jobs")
    command.add_argument("--grace", type=int, default=20, help="seconds until a silent node is Unknown")
    command.add_argument("--heartbeat", type=float, default=5.0, help="seconds between two signs of life of a node")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
