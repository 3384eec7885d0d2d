"""The fact sheet of a cluster: present, absent, or not observed and why."""

import json
from collections.abc import Mapping
from typing import Any

from resources.drivers.facts import ClusterFacts, Presence, Topic
from resources.drivers.kubernetes.api import Api
from resources.drivers.kubernetes.asked import pod_use, uses_of
from resources.drivers.kubernetes.connection import Connection, Credential, Right
from resources.drivers.kubernetes.inventory import NodeReader
from resources.drivers.kubernetes.sheet import Signals, read_facts, signals_of
from resources.normalize import load_catalogue
from tests.unit.drivers.kubernetes_things import NOW

CRDS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
STORAGE, VOLUMES = "/apis/storage.k8s.io/v1/storageclasses", "/api/v1/persistentvolumes"
PRIORITIES, RUNTIMES = "/apis/scheduling.k8s.io/v1/priorityclasses", "/apis/node.k8s.io/v1/runtimeclasses"


def listing(*items: dict[str, Any]) -> dict[str, Any]:
    return {"kind": "List", "metadata": {"resourceVersion": "5"}, "items": list(items)}


class Server:
    """An API server that has these answers, refuses some paths, and has empty lists for the rest."""

    def __init__(self, answers: Mapping[str, Any], refused: tuple[str, ...] = ()) -> None:
        self.answers, self.refused = answers, refused
        self.accepted: dict[str, str] = {}

    def call(self, method: str, path: str, *, accept: str, **_more: Any) -> tuple[int, dict[str, str], bytes]:
        """As Transport.call."""
        plain = path.partition("?")[0]
        self.accepted[plain] = accept
        if plain in self.refused:
            status = {"kind": "Status", "code": 403, "reason": "Forbidden", "message": "no"}
            return 403, {}, json.dumps(status).encode()
        empty = {"kind": "APIGroupList", "groups": []} if plain == "/apis" else listing()
        return 200, {}, json.dumps(self.answers.get(plain, empty)).encode()


def read(server: Server, signals: Signals | None = None) -> ClusterFacts:
    connection = Connection("https://10.0.0.1", "", {Right.OBSERVER: Credential(token="t")})
    api = Api(connection, open_transport=lambda _connection, _credential: server)  # type: ignore[arg-type, return-value]
    return read_facts(api, signals, NOW)


def row_of(topic: Topic, key: str) -> Mapping[str, Any]:
    return next(one for one in topic.items if one["key"] == key)


def looked(*pods: dict[str, Any], complete: bool = True) -> Signals:
    uses = [pod_use(one) for one in pods]
    node = NodeReader(load_catalogue(), uses_of(uses)).read(
        {"metadata": {"name": "n1"}, "status": {"capacity": {"nvidia.com/gpu": "8"}}}
    )
    assert node is not None
    return signals_of([node], uses, complete=complete)


def test_an_empty_cluster_has_nothing_and_says_so() -> None:
    topics = read(Server({}), looked()).topics
    assert {name for name, topic in topics.items() if topic.presence is Presence.ABSENT} == {
        "storage_classes", "volumes", "runtime_classes", "priority_classes", "extensions", "schedulers", "metrics",
    }  # fmt: skip
    assert row_of(topics["extensions"], "kueue")["presence"] == "absent"
    assert topics["device_plugins"].items == ({"name": "nvidia.com/gpu", "nodes": 1},)


def test_what_the_observer_may_not_read_is_not_observed() -> None:
    topics = read(Server({}, refused=(STORAGE, VOLUMES, CRDS, "/apis", "/version")), looked()).topics
    for name in ("storage_classes", "volumes", "metrics", "server"):
        assert topics[name] == Topic(Presence.NOT_OBSERVED, why="NotAllowed"), name
    extensions = topics["extensions"]
    assert extensions.presence is Presence.NOT_OBSERVED
    assert row_of(extensions, "kueue")["why"] == "NotAllowed"
    assert row_of(extensions, "hami")["presence"] == "absent", "it has no group: pods and nodes tell"


def test_extensions_are_known_by_their_groups_of_which_only_names_are_asked() -> None:
    names = ("workloads.kueue.x-k8s.io", "clusterqueues.kueue.x-k8s.io", "scaledobjects.keda.sh", "other.example.org")
    server = Server({CRDS: listing(*({"metadata": {"name": name}} for name in names))})
    extensions = read(server, looked()).topics["extensions"]
    assert "PartialObjectMetadataList" in server.accepted[CRDS]
    kueue = row_of(extensions, "kueue")
    assert (kueue["presence"], kueue["evidence"], kueue["kinds"]) == ("present", ["kueue.x-k8s.io"], 2)
    assert row_of(extensions, "keda")["presence"] == "present"
    assert row_of(extensions, "volcano")["presence"] == "absent"


def test_second_schedulers_are_those_that_pods_ask_for_and_those_that_run() -> None:
    asks = {"metadata": {}, "spec": {"schedulerName": "hami-scheduler", "containers": []}}
    runs = {
        "metadata": {},
        "spec": {"containers": [{"name": "main", "image": "docker.io/volcanosh/vc-scheduler:v1.10"}]},
    }
    own = {
        "metadata": {},
        "spec": {"containers": [{"name": "main", "image": "registry.k8s.io/kube-scheduler:v1.34.1"}]},
    }
    topics = read(Server({}), looked(asks, asks, runs, own)).topics
    assert topics["schedulers"].items == (
        {"name": "hami-scheduler", "pods": 2},
        {"name": "vc-scheduler", "version": "v1.10", "programs": 1},
    )
    assert row_of(topics["extensions"], "hami")["evidence"] == ["hami-scheduler"]


def test_what_only_a_part_of_the_pods_says_proves_nothing_absent() -> None:
    topics = read(Server({}), looked(complete=False)).topics
    assert topics["schedulers"] == Topic(Presence.NOT_OBSERVED, why="Partial")
    assert read(Server({})).topics["schedulers"] == Topic(Presence.NOT_OBSERVED, why="NotLooked")


def test_volumes_are_summed_up_by_class_and_a_size_nobody_can_read_is_no_zero() -> None:
    def volume(storage: str, name: str, phase: str) -> dict[str, Any]:
        spec = {"capacity": {"storage": storage}, "storageClassName": name}
        return {"metadata": {"name": "v"}, "spec": spec, "status": {"phase": phase}}

    volumes = [volume("1Gi", "fast", "Bound"), volume("2Gi", "fast", "Available"), volume("lots", "slow", "Bound")]
    mark = {"storageclass.kubernetes.io/is-default-class": "true"}
    fast = {"metadata": {"name": "fast", "annotations": mark}, "provisioner": "csi.example.org"}
    topics = read(Server({VOLUMES: listing(*volumes), STORAGE: listing(fast)}), looked()).topics
    assert topics["volumes"].items == (
        {"name": "fast", "volumes": 2, "bound": 1, "bytes": 3 << 30, "unread": 0},
        {"name": "slow", "volumes": 1, "bound": 1, "bytes": 0, "unread": 1},
    )
    (shown,) = topics["storage_classes"].items
    assert (shown["name"], shown["provisioner"], shown["default"]) == ("fast", "csi.example.org", True)


def test_version_metrics_and_classes() -> None:
    groups = {"kind": "APIGroupList", "groups": [{"name": "apps"}, {"name": "metrics.k8s.io"}]}
    answers = {
        "/version": {"gitVersion": "v1.36.3", "platform": "linux/amd64"},
        "/apis": groups,
        PRIORITIES: listing({"metadata": {"name": "high"}, "value": 1_000}),
        RUNTIMES: listing({"metadata": {"name": "nvidia"}, "handler": "nvidia"}),
    }
    topics = read(Server(answers), looked()).topics
    assert topics["server"].items == ({"name": "v1.36.3", "platform": "linux/amd64"},)
    assert topics["metrics"].items == ({"name": "metrics.k8s.io"},)
    assert topics["priority_classes"].items == ({"name": "high", "value": 1_000},)
    assert topics["runtime_classes"].items == ({"name": "nvidia", "handler": "nvidia"},)
