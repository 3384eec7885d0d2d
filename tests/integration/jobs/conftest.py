"""A machine of the test's own: the real local driver in a temporary state folder, on the real servers."""

import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from jobs.models import Attempt, Job, TemplateVersion
from jobs.request import JobRequest
from jobs.services.publish_shipped_templates import publish_shipped_templates
from jobs.services.reconcile_cluster import reconcile_cluster
from jobs.services.run_cycle import run_cycle
from jobs.services.submit_job import submit_job
from portal.lib.clock import utc_now
from resources.models import Cluster
from resources.models.catalogue import Kind
from resources.selectors import drivers
from resources.services.create_pool import create_pool
from resources.services.register_cluster import register_cluster
from resources.services.sync_inventory import sync_inventory
from tenants.models import Project, Team, User
from tenants.roles import Role
from tenants.services.grant_pool import grant_pool
from tests import builders as make


class Machine:
    """This machine as cluster and pool `local`, one team and project, and people to submit."""

    cluster: Cluster
    team: Team
    project: Project
    member: User
    owner: User

    def submit(self, template: str = "run-operation", *, actor: User | None = None, key: str = "", **raw) -> Job:
        """A submitted job; parameters and size as a form would send them."""
        version = TemplateVersion.objects.filter(template__slug=template).latest("number")
        params = raw.pop("params", {})
        return submit_job(
            actor=actor or self.member,
            project=self.project,
            version=version,
            request=JobRequest(params=params, **raw),
            now=utc_now(),
            idempotency_key=key,
        )

    def tick(self) -> None:
        """One pass of each clock."""
        run_cycle(now=utc_now())
        reconcile_cluster(cluster=self.cluster, now=utc_now())

    def until(self, condition: Callable[[], bool], seconds: float = 20) -> None:
        """Tick until it holds; fails with what the jobs say when it never does."""
        end = time.monotonic() + seconds
        while not condition():
            if time.monotonic() > end:
                pytest.fail(f"never: {list(Job.objects.values_list('name', 'state', 'reason', 'facts'))}")
            self.tick()
            time.sleep(0.05)

    def settle(self, *jobs: Job, seconds: float = 30) -> None:
        """Tick until the jobs are archived."""
        keys = [job.pk for job in jobs]
        self.until(lambda: not Job.objects.filter(pk__in=keys, archived_at__isnull=True).exists(), seconds)
        for job in jobs:
            job.refresh_from_db()

    def attempt(self, job: Job) -> Attempt:
        """The newest attempt."""
        return Attempt.objects.filter(job=job).latest("number")


@pytest.fixture
def machine(db: None, tmp_path: Path, settings) -> Iterator[Machine]:
    """Ready to submit to; every process it started is ended."""
    settings.STATE_DIR = tmp_path / "state"
    drivers._driver.cache_clear()
    it = Machine()
    now = utc_now()
    it.team = make.make_team("models", make.make_team("organisation"))
    it.project = make.make_project("alpha", it.team)
    it.member = make.make_user("member", (Role.MEMBER, it.project))
    it.owner = make.make_user("owner", (Role.OWNER, it.project))
    make.make_class("cpu", Kind.CPU, price=1_000_000, weight=1_000_000)
    make.make_class("memory", Kind.MEMORY, price=100_000, weight=0)
    it.cluster = register_cluster(actor=None, key="local", name="This machine", driver="local", now=now)
    create_pool(actor=None, key="local", name={"en": "Local"}, selector={"cluster": "local"}, now=now)
    grant_pool(actor=None, tenant=it.team, pool_key="local", now=now, valid_from=now)
    publish_shipped_templates(now=now)
    assert sync_inventory(cluster=it.cluster, now=now)
    yield it
    driver = drivers.driver_for(it.cluster)
    for attempt in Attempt.objects.all():
        driver.stop(attempt.workload_name, attempt_id=str(attempt.pk), grace_ms=0)
    drivers._driver.cache_clear()
