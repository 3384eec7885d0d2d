"""The control plane as a whole: it starts, stands beside another, and leaves no process behind."""

import os
import signal
import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from controlplane import steer
from controlplane.api import Api
from controlplane.state import ClusterFolder
from portal.embedded.paths import CHECKOUT
from portal.embedded.runfile import live_running
from tests.cluster.waiting import until
from tests.cluster.workloads import create_job, job, pods

PROGRAMS = {"etcd", "kube-apiserver", "kube-controller-manager", "kube-scheduler", "kubelet"}


@pytest.fixture
def clusters(tmp_path):
    """Where the clusters of this test live; whatever still runs there is stopped after it."""
    yield tmp_path
    for folder in tmp_path.iterdir():
        command(tmp_path, "down", "--name", folder.name)


def command(clusters: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """One `./dev cluster` command."""
    environment = {**os.environ, "PORTAL_CLUSTERS_DIR": str(clusters)}
    return subprocess.run(
        [sys.executable, "-m", "controlplane", *arguments],
        cwd=CHECKOUT, env=environment, capture_output=True, text=True, check=False, timeout=120,
    )  # fmt: skip


def test_it_says_its_version_and_listens_on_loopback_only(api, control_plane):
    assert api.get("/version")["gitVersion"].startswith("v1.36.")
    for pid in control_plane.pids.values():
        listening = [c.laddr.ip for c in psutil.Process(pid).net_connections("inet") if c.status == psutil.CONN_LISTEN]
        assert listening and set(listening) == {"127.0.0.1"}


def test_it_is_ready_within_the_time_we_promise(control_plane):
    assert set(control_plane.seconds) >= PROGRAMS
    # Twice the promise: the machine may be busy with other tests.
    assert control_plane.seconds["all"] < 20


def test_keys_are_for_their_owner_only(control_plane):
    files = [*control_plane.folder.pki.iterdir(), control_plane.kubeconfig]
    assert [file.name for file in files if file.stat().st_mode & 0o077] == []


def test_the_api_server_may_go_and_come_back_with_all_it_knew(control_plane, api, namespace):
    create_job(api, namespace, job("before", steer.annotations(duration="inf")))
    until(lambda: [p for p in pods(api, namespace) if p["status"]["phase"] == "Running"])
    control_plane.stop_component("kube-apiserver")
    assert "kube-apiserver" not in control_plane.pids
    control_plane.start_component("kube-apiserver")
    assert [p["status"]["phase"] for p in pods(api, namespace)] == ["Running"]
    create_job(api, namespace, job("after", steer.annotations(duration=0.1)))
    until(lambda: "Succeeded" in [p["status"]["phase"] for p in pods(api, namespace)], seconds=40)


def test_up_status_and_down(clusters):
    up = command(clusters, "up", "--name", "one", "--nodes", "none")
    assert up.returncode == 0, up.stderr
    folder = ClusterFolder(clusters / "one")
    running = live_running(folder)
    assert running and set(running.children) == PROGRAMS
    assert command(clusters, "kubeconfig", "--name", "one").stdout.strip() == str(folder.kubeconfig)
    assert Api(folder.kubeconfig).get("/api/v1/nodes")["items"] == []
    assert f"one: {running.url}" in command(clusters, "status").stdout
    again = command(clusters, "up", "--name", "one")
    assert again.returncode == 0 and live_running(folder) == running
    down = command(clusters, "down", "--name", "one")
    assert down.returncode == 0, down.stderr
    assert [name for name, child in running.children.items() if child.is_alive()] == []
    assert "one: stopped" in command(clusters, "status").stdout
    assert command(clusters, "kubeconfig", "--name", "one").returncode == 1


def test_two_clusters_stand_side_by_side_and_down_ends_only_its_own(clusters, control_plane, api):
    begin = set(control_plane.pids.values())
    assert command(clusters, "up", "--name", "other", "--nodes", "gpu:2").returncode == 0
    other = Api(ClusterFolder(clusters / "other").kubeconfig)
    assert {node["metadata"]["name"] for node in other.get("/api/v1/nodes")["items"]} == {"gpu-1", "gpu-2"}
    uid = "/api/v1/namespaces/kube-system"
    assert other.get(uid)["metadata"]["uid"] != api.get(uid)["metadata"]["uid"]
    assert command(clusters, "down", "--name", "other").returncode == 0
    assert set(control_plane.pids.values()) == begin
    assert api.get("/api/v1/nodes")["items"]


HOLDER = """
import os, sys, time
from pathlib import Path
from controlplane.cluster import start_cluster
from controlplane.components import Options
cluster = start_cluster(Path(sys.argv[1]), Options(nodes="none"), os.environ)
print(*cluster.pids.values(), flush=True)
time.sleep(600)
"""


def test_kill_9_of_the_holder_leaves_no_process(tmp_path):
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(tmp_path / "cluster")], cwd=CHECKOUT, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout
    processes = [psutil.Process(int(pid)) for pid in holder.stdout.readline().split()]
    assert len(processes) == len(PROGRAMS)
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    _, alive = psutil.wait_procs(processes, timeout=5)
    assert alive == []


def test_kill_9_of_ups_supervisor_leaves_no_process_and_up_goes_on_with_the_same_state(clusters):
    assert command(clusters, "up", "--name", "hit", "--nodes", "cpu:1").returncode == 0
    folder = ClusterFolder(clusters / "hit")
    running = live_running(folder)
    uid = Api(folder.kubeconfig).get("/api/v1/nodes/cpu-1")["metadata"]["uid"]
    os.kill(running.supervisor.pid, signal.SIGKILL)
    until(lambda: not any(child.is_alive() for child in running.children.values()), seconds=5)
    assert command(clusters, "up", "--name", "hit", "--nodes", "none").returncode == 0
    assert Api(folder.kubeconfig).get("/api/v1/nodes/cpu-1")["metadata"]["uid"] == uid
