"""What the portal knows of a real control plane beside its nodes, and how soon a freed device shows free."""

import ipaddress
import time
from datetime import timedelta

from django.test import Client

from controlplane import steer
from jobs.models import Attempt
from jobs.services.reconcile_cluster import reconcile_cluster
from jobs.services.run_cycle import run_cycle
from jobs.states import JobState
from portal.lib.clock import utc_now
from resources.drivers.facts import Presence
from resources.drivers.kubernetes.connection import Connection, Credential, Right
from resources.drivers.kubernetes.driver import KubernetesDriver
from resources.models import Node
from tests.bench.bench_discover import Size, measure
from tests.builders import CARD
from tests.cast import cast, cast_rows
from tests.cluster.test_portal_on_kubernetes import NAMESPACE, rights, site, submit, work
from tests.cluster.workloads import create_pod, pod

__all__ = ["cast", "cast_rows", "rights", "site"]
SHOWN_WITHIN = timedelta(seconds=5)


def test_a_device_freed_by_a_finished_job_shows_free_within_five_seconds(cast, site, api):
    steer.script_pods(api, NAMESPACE, duration=2.0, log="hello")
    job = work(site, submit(cast, devices="2"), JobState.RUNNING)
    attempt = Attempt.objects.get(job=job)
    node = Node.objects.get(cluster=site, name=attempt.placement[0]["node"])
    browser = Client()
    browser.force_login(cast.platform_admin)

    def free() -> int:
        parts = browser.get(f"/api/v1/nodes/{node.pk}").json()["parts"]
        return next(part["free"] for part in parts if part["class_key"] == "card")

    assert free() == 6 * CARD
    deadline = time.monotonic() + 20
    while free() < 8 * CARD:
        # As the portal's clock does: a pass a second. No inventory: what jobs hold is the portal's own to know.
        time.sleep(1.0)
        reconcile_cluster(cluster=site, now=utc_now())
        run_cycle(now=utc_now())
        assert time.monotonic() < deadline
    attempt.refresh_from_db()
    assert attempt.stopped_at is not None
    assert utc_now() - attempt.stopped_at <= SHOWN_WITHIN


def test_the_fact_sheet_of_a_real_api_server_read_as_the_observer(site):
    site.refresh_from_db()
    assert site.facts_at is not None
    said = {name: (topic["presence"], topic["why"]) for name, topic in site.facts.items()}
    assert said["server"] == ("present", "") and site.facts["server"]["items"][0]["name"].startswith("v1.")
    assert said["priority_classes"] == ("present", ""), "every cluster has two of its own"
    assert said["metrics"] == ("absent", "")
    assert {one["presence"] for one in site.facts["extensions"]["items"]} == {"absent"}
    assert {one["name"] for one in site.facts["device_plugins"]["items"]} >= {"nvidia.com/gpu", "huawei.com/Ascend910"}
    assert {presence for presence, _why in said.values()} <= {"present", "absent"}, said


def test_what_a_weaker_credential_may_not_read_is_not_observed(control_plane, api):
    rules = [{"apiGroups": [""], "resources": ["nodes", "pods"], "verbs": ["list", "get"]}]
    token = steer.create_user(api, "kube-system", "narrow", rules, everywhere=True)
    authority = (control_plane.folder.pki / "ca.crt").read_text(encoding="utf-8")
    networks = (ipaddress.ip_network("127.0.0.0/8"),)
    rights_given = {Right.OBSERVER: Credential(token=token)}
    driver = KubernetesDriver(
        connection=Connection(control_plane.ports.server, authority, rights_given, networks=networks)
    )
    asks = pod("asks", steer.annotations(waiting="ImagePullBackOff"), schedulerName="volcano")
    create_pod(api, "default", asks)
    try:
        driver.inventory()
        facts = driver.facts()
    finally:
        api.delete("/api/v1/namespaces/default/pods/asks")
    assert facts is not None
    for name in ("storage_classes", "volumes", "runtime_classes", "priority_classes"):
        topic = facts.topics[name]
        assert (topic.presence, topic.why) == (Presence.NOT_OBSERVED, "NotAllowed"), name
    assert facts.topics["server"].presence is Presence.PRESENT
    rows = {row["key"]: row for row in facts.topics["extensions"].items}
    assert (rows["kueue"]["presence"], rows["kueue"]["why"]) == ("not_observed", "NotAllowed")
    assert (rows["volcano"]["presence"], rows["volcano"]["evidence"]) == ("present", ["volcano"])
    assert {"name": "volcano", "pods": 1} in facts.topics["schedulers"].items


def test_the_bench_of_discovery_measures_what_it_says():
    small = Size(nodes=30, pods=100, simulated=40, steady_s=2.0, rounds=1)
    figures = {figure.name: figure for figure in measure(small)}
    assert len(figures) == 15
    counts = {name: figure.value for name, figure in figures.items() if "stored" in name or "others hold" in name}
    assert counts == {
        "nodes stored and ready": 30,
        "devices stored": 240,
        "devices that others hold": 80,
        "simulated nodes stored and ready": 40,
    }
    assert all(figure.is_ok for name, figure in figures.items() if "slower" not in name), figures
