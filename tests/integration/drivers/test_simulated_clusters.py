"""A shipped simulated cluster behind the portal: the services from inventory to archive, on a clock put in place."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from jobs import storage
from jobs.models import Allocation, Attempt, Job, ReleaseRecord, TemplateVersion
from jobs.request import JobRequest
from jobs.services.publish_shipped_templates import publish_shipped_templates
from jobs.services.reconcile_cluster import reconcile_cluster
from jobs.services.run_cycle import run_cycle
from jobs.services.submit_job import submit_job
from jobs.shipped.catalogue import EXPERIMENT
from jobs.states import AllocationState, JobState
from resources.drivers.base import DriverUnavailable
from resources.drivers.simulated.driver import SimulatedDriver
from resources.drivers.simulated.faults import FaultKind
from resources.models import Cluster, DeviceGroup, Node
from resources.models.catalogue import Kind
from resources.selectors import drivers
from resources.services.create_pool import create_pool
from resources.services.define_class import define_class
from resources.services.register_cluster import register_cluster
from resources.services.sync_inventory import sync_inventory
from tenants.roles import Role
from tenants.services.grant_pool import grant_pool
from tests import builders as make

H100 = "NVIDIA H100 80GB HBM3"
SESSION = replace(EXPERIMENT, runtime=replace(EXPERIMENT.runtime, driver="simulated"))
"""Opens a session where no program runs."""


class Hall:
    """The GPU hall as a cluster and a pool, and somebody to submit to it."""

    def __init__(self, now: datetime) -> None:
        self.now = now
        team = make.make_team("models", make.make_team("organisation"))
        self.project = make.make_project("alpha", team)
        self.member = make.make_user("member", (Role.MEMBER, self.project))
        make.make_class("cpu", Kind.CPU, price=1, weight=1)
        make.make_class("memory", Kind.MEMORY, price=1, weight=0)
        match = {"resource_name": "nvidia.com/gpu", "model": H100}
        define_class(actor=None, key="h100", name={"en": "H100"}, kind=Kind.GPU, match=match, now=now)
        self.cluster = register_cluster(actor=None, key="gpu-hall", name="GPU hall", driver="simulated", now=now)
        create_pool(actor=None, key="hall", name={"en": "Hall"}, selector={"cluster": "gpu-hall"}, now=now)
        grant_pool(actor=None, tenant=team, pool_key="hall", now=now, valid_from=now)
        publish_shipped_templates(now=now, templates=[SESSION])

    @property
    def driver(self) -> SimulatedDriver:
        driver = drivers.driver_for(self.cluster)
        assert isinstance(driver, SimulatedDriver)
        return driver

    def submit(self, minutes: int, devices: int = 2) -> Job:
        version = TemplateVersion.objects.filter(template__slug="open-session").latest("number")
        size = {"device_class": "h100", "devices": devices, "time_limit": "4h"}
        request = JobRequest(params={"time_to_live": f"{minutes}m"}, **size)
        return submit_job(
            actor=self.member, project=self.project, version=version, request=request, now=self.now, idempotency_key=""
        )

    def tick(self, seconds: float = 10) -> None:
        self.now += timedelta(seconds=seconds)
        assert sync_inventory(cluster=self.cluster, now=self.now)
        run_cycle(now=self.now)
        reconcile_cluster(cluster=self.cluster, now=self.now)

    def state(self, job: Job) -> str:
        job.refresh_from_db()
        return str(job.state)


@pytest.fixture
def hall(db: None, tmp_path: Path, settings) -> Iterator[Hall]:
    settings.STATE_DIR = tmp_path / "state"
    drivers._driver.cache_clear()
    it = Hall(make.NOW)
    with drivers.simulated_clock(lambda: it.now):
        assert sync_inventory(cluster=it.cluster, now=it.now)
        yield it
    drivers._driver.cache_clear()


def test_the_inventory_says_simulated_and_finds_classes_and_trouble(hall: Hall) -> None:
    cluster = Cluster.objects.get(key="gpu-hall")
    assert cluster.simulated and cluster.isolation
    assert Node.objects.count() == 16
    stages = dict(Node.objects.values_list("name", "stage"))
    assert (stages["sim-a100-04"], stages["sim-a100-08"]) == (Node.Stage.CORDONED, Node.Stage.UNREACHABLE)
    assert DeviceGroup.objects.filter(resource_class__key="h100").count() == 6


def test_a_session_runs_from_submit_to_archive_in_the_time_of_its_cluster(hall: Hall) -> None:
    job = hall.submit(minutes=30)
    while hall.state(job) != JobState.RUNNING:
        hall.tick()
        assert hall.now < make.NOW + timedelta(minutes=5)
    attempt = Attempt.objects.get(job=job)
    assert make.NOW < attempt.bound_at < attempt.started_at <= hall.now
    hall.tick(29 * 60)
    assert hall.state(job) == JobState.RUNNING
    while job.archived_at is None:
        hall.tick()
        hall.state(job)
        assert hall.now < make.NOW + timedelta(minutes=45)
    attempt.refresh_from_db()
    assert hall.state(job) == JobState.SUCCEEDED
    assert attempt.stopped_at - attempt.started_at == timedelta(minutes=30)
    record = ReleaseRecord.objects.get()
    assert record.device_state == "idle" and attempt.stopped_at < record.device_idle_at <= hall.now
    log = (storage.folders(job, attempt).archive / "member-0.log").read_text()
    assert "no program runs on cluster gpu-hall" in log and "ended: Completed" in log
    assert hall.driver.observe().workloads == ()


def test_what_was_foretold_of_a_job_is_how_it_ends(hall: Hall) -> None:
    job = hall.submit(minutes=30)
    hall.driver.foretell(str(job.pk), duration_ms=60_000, reason="OOMKilled")
    while hall.state(job) not in (JobState.FAILED, JobState.SUCCEEDED):
        hall.tick()
    assert (hall.state(job), job.reason) == (JobState.FAILED, "MemoryLimit")


def test_what_a_dead_node_held_is_free_only_once_the_node_was_seen_again(hall: Hall) -> None:
    job = hall.submit(minutes=60)
    while hall.state(job) != JobState.RUNNING:
        hall.tick()
    attempt = Attempt.objects.get(job=job)
    (member,) = attempt.placement
    fault = hall.driver.inflict(FaultKind.NODE_DEATH, node=member["node"])
    for _ in range(20):
        hall.tick()
    assert (hall.state(job), job.reason) == (JobState.FAILED, "OutcomeUnknown")
    assert Node.objects.get(name=member["node"]).stage == Node.Stage.UNREACHABLE
    allocation = Allocation.objects.get(attempt=attempt)
    assert (allocation.state, ReleaseRecord.objects.get().objects_gone_at) == (AllocationState.LEAKED, None)
    hall.driver.relent(fault)
    for _ in range(3):
        hall.tick()
    allocation.refresh_from_db()
    assert allocation.state == AllocationState.RELEASED


def test_the_same_cluster_goes_on_after_a_restart_of_the_portal(hall: Hall) -> None:
    job = hall.submit(minutes=60)
    while hall.state(job) != JobState.RUNNING:
        hall.tick()
    before = hall.driver.observe()
    drivers._driver.cache_clear()
    assert hall.driver.observe() == before


def test_an_operator_may_give_a_cluster_a_fleet_of_its_own(hall: Hall, settings) -> None:
    folder = Path(settings.STATE_DIR) / "simulated"
    (folder / "gpu-hall.json").write_text(
        '{"name": "own", "nodes": [{"name": "sim-own", "cpu": "2", "memory": "4Gi"}]}'
    )
    drivers._driver.cache_clear()
    assert [node.name for node in hall.driver.inventory().nodes] == ["sim-own"]
    (folder / "gpu-hall.json").write_text('{"name": "own"}')
    drivers._driver.cache_clear()
    with pytest.raises(DriverUnavailable) as failure:
        drivers.driver_for(hall.cluster)
    assert failure.value.reason == "FleetUnusable" and "nodes: missing" in failure.value.detail


def test_a_cluster_without_a_fleet_is_an_outage(hall: Hall) -> None:
    other = register_cluster(actor=None, key="nowhere", name="Nowhere", driver="simulated", now=hall.now)
    with pytest.raises(DriverUnavailable) as failure:
        drivers.driver_for(other)
    assert failure.value.reason == "FleetUnusable"
    assert not sync_inventory(cluster=other, now=hall.now)
