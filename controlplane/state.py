"""Where one cluster keeps its things, and what is known of it: folder, ports, kubeconfigs."""

import json
import random
import socket
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from portal.embedded.paths import StateFolder, write_private

# Below the range from which the kernel takes ports of outgoing connections: a server that is started again finds
# its port free.
PORTS = range(20_000, 32_000)
LOOPBACK = "127.0.0.1"


@dataclass(frozen=True, slots=True)
class ClusterFolder(StateFolder):
    """The state folder of one cluster; lock, logs and run file are those of any supervisor."""

    @property
    def pki(self) -> Path:
        """Keys and certificates; see pki.py."""
        return self.root / "pki"

    @property
    def etcd(self) -> Path:
        """The data of etcd."""
        return self.root / "etcd"

    @property
    def kubeconfig(self) -> Path:
        """The administrator's way in."""
        return self.root / "kubeconfig"

    @property
    def ports_file(self) -> Path:
        """The ports, for a supervisor that starts again."""
        return self.root / "ports.json"

    def create(self) -> None:
        """Make the folder and its fixed parts, private to this user. Idempotent."""
        for folder in (self.root, self.logs, self.pki, self.etcd):
            folder.mkdir(mode=0o700, parents=True, exist_ok=True)


@dataclass(frozen=True, slots=True)
class Ports:
    """One loopback port per server."""

    etcd: int
    etcd_peer: int
    apiserver: int
    controller_manager: int
    scheduler: int
    kubelet: int
    kueue_webhook: int
    kueue_health: int

    @property
    def server(self) -> str:
        """The API server's address."""
        return f"https://{LOOPBACK}:{self.apiserver}"


def clusters_folder(environ: Mapping[str, str]) -> Path:
    """The folder with the state of every named cluster: PORTAL_CLUSTERS_DIR, or one in the user's folder for state."""
    chosen = environ.get("PORTAL_CLUSTERS_DIR")
    if chosen:
        return Path(chosen).expanduser().absolute()
    base = environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(base) / "armillary-clusters"


def choose_ports(folder: ClusterFolder) -> Ports:
    """Free ports, the same ones as before when the folder remembers them."""
    try:
        return Ports(**json.loads(folder.ports_file.read_text(encoding="utf-8")))
    except (OSError, ValueError, TypeError):
        names = list(Ports.__dataclass_fields__)
        ports = Ports(**dict(zip(names, free_ports(len(names)), strict=True)))
        write_private(folder.ports_file, json.dumps(asdict(ports)))
        return ports


def free_ports(count: int) -> list[int]:
    """So many different ports on loopback that nobody listens on just now."""
    found: list[int] = []
    for port in random.SystemRandom().sample(PORTS, len(PORTS)):
        if len(found) == count:
            break
        with socket.socket() as probe:
            try:
                probe.bind((LOOPBACK, port))
            except OSError:
                continue
            found.append(port)
    return found


def write_kubeconfig(file: Path, server: str, pki: Path, client: str) -> None:
    """A kubeconfig with one context, for the client of that name in the pki folder; it names files and embeds none."""
    user = {"client-certificate": f"{pki}/{client}.crt", "client-key": f"{pki}/{client}.key"}
    write_private(file, json.dumps(_kubeconfig({"server": server, "certificate-authority": f"{pki}/ca.crt"}, user)))


def token_kubeconfig(server: str, authority: str, token: str) -> str:
    """The text of a kubeconfig as a person would paste it: authority (base64 of PEM) and token inside."""
    return json.dumps(_kubeconfig({"server": server, "certificate-authority-data": authority}, {"token": token}))


def _kubeconfig(cluster: Mapping[str, Any], user: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [{"name": "test", "cluster": cluster}],
        "users": [{"name": "test", "user": user}],
        "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}],
        "current-context": "test",
    }
