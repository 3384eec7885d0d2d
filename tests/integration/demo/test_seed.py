"""The demo fleet: complete or not there, the same after a kill, and handed over to the live portal without a seam."""

from datetime import timedelta

import pytest
from django.db import transaction
from django.test import override_settings

from jobs.models import Allocation, Attempt, Job, JobEvent
from jobs.services.reconcile_cluster import reconcile_cluster
from jobs.services.run_cycle import run_cycle
from jobs.states import AllocationState
from metering.models import MeteredAllocation, Segment
from portal.lib.clock import utc_now
from portal.web.demo import CAST, seed_demo
from portal.web.demo.fleet import SITES
from portal.web.demo.seed import seed_fleet
from resources.models import CapacitySegment, Cluster, DeviceGroup, Node
from resources.selectors import drivers
from tenants.models import Project, Team
from tenants.services.verify_audit import verify_audit

JOBS = 120


class Stopped(Exception):
    """The seeding is ended here."""


@pytest.fixture(scope="module")
def installed(django_db_setup, django_db_blocker, tmp_path_factory):
    """A demo installation whose fleet is still to be seeded: what this module's tests do to it is undone after each."""
    folder = tmp_path_factory.mktemp("installed")
    with django_db_blocker.unblock(), transaction.atomic(), override_settings(STATE_DIR=folder):
        now = utc_now()
        accounts = seed_demo(now=now, accounts=folder / "accounts.json")
        assert [row["username"] for row in accounts] == [person.username for person in CAST]
        yield now
        transaction.set_rollback(True)


@pytest.fixture
def installation(installed, db, settings, tmp_path):
    settings.STATE_DIR = tmp_path
    drivers._driver.cache_clear()
    yield installed
    drivers._driver.cache_clear()


@pytest.fixture(scope="module")
def seeded(installed, django_db_blocker, tmp_path_factory):
    """The same with its past, made once; `fleet` is it for one test. Last in this file: it stays until the end."""
    folder = tmp_path_factory.mktemp("seeded")
    with django_db_blocker.unblock(), override_settings(STATE_DIR=folder):
        drivers._driver.cache_clear()
        done = seed_fleet(now=installed, tell=quiet, jobs=JOBS)
    yield installed, folder, done


@pytest.fixture
def fleet(seeded, db, settings):
    now, folder, done = seeded
    settings.STATE_DIR = folder
    drivers._driver.cache_clear()
    yield now, done
    drivers._driver.cache_clear()


def quiet(stage, done, total):
    """Nobody listens."""


def test_a_seeding_that_was_ended_leaves_nothing_half_and_is_made_good(installation):
    now = installation

    def stop_at(stage):
        def tell(current, done, total):
            if current == stage and (stage != "replay" or done > JOBS // 2):
                raise Stopped

        return tell

    for stage in ("plan", "replay", "write"):
        with pytest.raises(Stopped):
            seed_fleet(now=now, tell=stop_at(stage), jobs=JOBS)
        assert not Job.objects.exists()
        assert set(Cluster.objects.filter(key__in=SITES).values_list("state", flat=True)) == {"detached"}
    assert seed_fleet(now=now, tell=quiet, jobs=JOBS) == Job.objects.count() > 0


def test_the_fleet_and_its_past_are_there_once(fleet):
    now, done = fleet
    assert JOBS * 0.9 <= done == Job.objects.count() <= JOBS * 9 / 8, "so many in eight weeks, and the one under way"
    assert seed_fleet(now=now, tell=quiet, jobs=JOBS) == 0 and Job.objects.count() == done
    assert (Team.objects.count(), Project.objects.count()) == (4, 6)
    sites = Cluster.objects.filter(key__in=SITES)
    assert {(s.state, s.simulated) for s in sites} == {("attached", True)} and len(sites) == 3
    assert not [s.name for s in sites if "simulated" in s.name.lower()]  # the ribbon says it once
    assert Node.objects.filter(cluster__in=sites).count() == 37
    assert {"nvidia.com/gpu", "nvidia.com/mig-1g.10gb", "huawei.com/Ascend910"} <= set(
        DeviceGroup.objects.values_list("resource_name", flat=True)
    )


def test_the_past_holds_together(fleet):
    now, _done = fleet
    assert verify_audit().holds
    released = Allocation.objects.filter(state=AllocationState.RELEASED, bound_at__isnull=False)
    assert released.count() == MeteredAllocation.objects.count() > JOBS / 2
    for attempt in Attempt.objects.filter(released_at__isnull=False).select_related("job"):
        times = (attempt.admitted_at, attempt.bound_at, attempt.started_at, attempt.stopped_at, attempt.released_at)
        known = [moment for moment in times if moment is not None]
        assert known == sorted(known) and known[0] >= attempt.job.submitted_at
    assert not JobEvent.objects.filter(at__gt=now).exists() and not Segment.objects.filter(end__gt=now).exists()
    started = CapacitySegment.objects.filter(node__cluster__key__in=SITES).order_by("start").first()
    assert started is not None and started.start <= now - timedelta(weeks=8) + timedelta(minutes=1)


def test_the_live_portal_goes_on_where_the_past_ends(fleet):
    _now, _done = fleet
    open_then = set(Attempt.objects.filter(ended=False).values_list("pk", flat=True))
    later = utc_now()
    for site in Cluster.objects.filter(key__in=SITES):
        reconcile_cluster(cluster=site, now=later)
    run_cycle(now=later)
    lost = Attempt.objects.filter(pk__in=open_then, end_reason__in=("OutcomeUnknown", "NodeLost"))
    assert not lost.exists() and not Attempt.objects.filter(pk__in=open_then, missing_passes__gt=0).exists()
