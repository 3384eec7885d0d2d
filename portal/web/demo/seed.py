"""Put the simulated fleet and its past into the database: rules first, then weeks of jobs at once."""

import logging
import uuid
from collections.abc import Callable, Mapping
from contextlib import ExitStack
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import Model

from jobs.models import (
    Allocation,
    AllocationLine,
    Artifact,
    Attempt,
    DeviceHold,
    Job,
    JobEvent,
    ReleaseRecord,
    TemplateVersion,
)
from jobs.request import JobRequest
from jobs.selectors.offers import Offer, job_of, offer_of
from jobs.selectors.reach import load_reach
from jobs.selectors.snapshot import load_snapshot
from metering.services.record_usage import record_usage
from portal.lib.errors import Invalid
from portal.lib.partitions import ensure_partitions
from portal.web.demo.fleet import SITES, seed_rules
from portal.web.demo.machine import MONTHS_BACK, begun, founded
from portal.web.demo.organisation import seed_tree
from portal.web.demo.past import Past
from portal.web.demo.plan import Wish, wishes
from portal.web.demo.replay import Arrival, Replay, Site
from portal.web.demo.troubles import trouble_rules, trouble_sites
from resources.drivers.simulated.driver import SimulatedDriver
from resources.drivers.simulated.sqlite import SqliteStore
from resources.models import Cluster, Device, Node
from resources.selectors.drivers import driver_for, simulated_clock
from resources.services.sync_inventory import sync_inventory
from tenants import access
from tenants.models import Project, User
from tenants.notify.quiet import quietly
from tenants.services.record_audits import Draft, record_audits

log = logging.getLogger(__name__)
JOBS = 2_060  # some wishes can never start by the rules of their day, and are refused
_BATCH = 2_000
_SPACE = uuid.UUID("5b0c2f0e-7d53-5b6e-9d0f-4f5a3a1c8e21")
Tell = Callable[[str, int, int], None]
"""Called with a stage, how much of it is done, and of how much."""


def seed_fleet(*, now: datetime, tell: Tell, jobs: int = JOBS) -> int:
    """How many jobs the past got; 0 when there is one already. May be killed anywhere and repeated.

    The sites stay detached until their past is complete, so that nothing else acts on them.
    """
    sites = Cluster.objects.filter(key__in=SITES)
    if sites.exists() and not sites.filter(state=Cluster.State.DETACHED).exists():
        return 0
    ensure_partitions(now, back=MONTHS_BACK)
    start = begun(now)
    clock = [start]
    with ExitStack() as stack, simulated_clock(lambda: clock[0]), quietly():
        with transaction.atomic():
            scopes = seed_tree(founded(now))
            seed_rules(scopes, start=start, now=now)
        drivers = {site.key: _driver(site, stack) for site in sites}
        for site in sites:
            sync_inventory(cluster=site, now=start)
        changes = trouble_sites(drivers, start, now)
        replay, arrivals = _prepare(scopes, drivers, clock, start, now, jobs, tell)
        past = replay.run(arrivals, until=now)
        for key, moment in changes:
            clock[0] = moment
            sync_inventory(cluster=sites.get(key=key), now=moment)
        clock[0] = now
        tell("write", 0, len(past.jobs))
        with transaction.atomic():
            _write(past, now)
            for site in sites:
                sync_inventory(cluster=site, now=now)
            sites.update(state=Cluster.State.ATTACHED)
            # The clusters remember first: a portal that knows of jobs which no cluster runs would mourn them.
            stack.close()
    _record_usage(now, tell)
    return len(past.jobs)


def _driver(site: Cluster, stack: ExitStack) -> SimulatedDriver:
    driver = driver_for(site)
    assert isinstance(driver, SimulatedDriver) and isinstance(driver.store, SqliteStore)
    driver.store.wipe()  # what a seeding that was killed has left
    stack.enter_context(driver.store.deferred())
    return driver


def _prepare(
    scopes: Mapping[str, Model],
    drivers: Mapping[str, SimulatedDriver],
    clock: list[datetime],
    start: datetime,
    end: datetime,
    jobs: int,
    tell: Tell,
) -> tuple[Replay, list[Arrival]]:
    """The replay and its arrivals, from what the database says with the sites attached, which stays undone."""

    def set_clock(moment: datetime) -> None:
        clock[0] = moment

    with transaction.atomic():
        Cluster.objects.filter(key__in=SITES).update(state=Cluster.State.ATTACHED)
        planned = wishes(start, end, jobs)
        arrivals = _arrivals(planned, scopes, tell)
        replay = Replay(
            base=load_snapshot(now=start, waiting=()),
            reach=load_reach(),
            sites={key: Site(Cluster.objects.get(key=key), driver) for key, driver in drivers.items()},
            nodes={str(node.pk): node for node in Node.objects.filter(cluster__key__in=SITES)},
            devices={
                str(key): (resource, vendor_id)
                for key, resource, vendor_id in Device.objects.values_list("pk", "group__resource_name", "uuid")
            },
            set_clock=set_clock,
            tell=lambda done: tell("replay", done, len(arrivals)),
        )
        trouble_rules(replay, {slug: str(scope.pk) for slug, scope in scopes.items()}, start)
        transaction.set_rollback(True)
    return replay, arrivals


def _arrivals(planned: list[Wish], scopes: Mapping[str, Model], tell: Tell) -> list[Arrival]:
    """The wishes as jobs, checked against their templates as a submission is."""
    people = {user.username: user for user in User.objects.all()}
    published = TemplateVersion.objects.filter(template__slug__in={wish.template for wish in planned})
    versions = {v.template.slug: v for v in published.select_related("template").order_by("number")}
    offers: dict[tuple[Project, TemplateVersion], Offer] = {}
    allowed: set[tuple[User, Project]] = set()
    found = []
    for index, wish in enumerate(planned):
        project = scopes[wish.project]
        assert isinstance(project, Project)
        request = JobRequest(params=wish.params, **wish.fields)
        version = versions[wish.template]
        actor = people[wish.person]
        if (actor, project) not in allowed:
            access.require(actor, "job.ask", project)
            allowed.add((actor, project))
        if (project, version) not in offers:
            offers[project, version] = offer_of(version, project, wish.at)
        offer = offers[project, version]
        try:
            job = job_of(offer, actor=actor, project=project, version=version, request=request, now=wish.at)
        except Invalid as error:
            log.warning("a wish for %s is refused: %s", wish.template, [f.text() for f in error.fields])
            continue
        job.pk = uuid.uuid5(_SPACE, f"{index}")  # the clusters draw by it, and everybody should see the same
        cancelled = wish.at + wish.cancelled_after if wish.cancelled_after is not None else None
        found.append(Arrival(job, cancelled))
        tell("plan", index, len(planned))
    return found


def _write(past: Past, now: datetime) -> None:
    """All rows of the past, in the caller's transaction."""
    Job.objects.bulk_create(past.jobs, batch_size=_BATCH)
    Attempt.objects.bulk_create(past.attempts, batch_size=_BATCH)
    Allocation.objects.bulk_create([h.allocation for h in past.held], batch_size=_BATCH)
    AllocationLine.objects.bulk_create([line for h in past.held for line in h.lines], batch_size=_BATCH)
    DeviceHold.objects.bulk_create([hold for h in past.held for hold in h.holds], batch_size=_BATCH)
    ReleaseRecord.objects.bulk_create(past.releases, batch_size=_BATCH)
    JobEvent.objects.bulk_create(past.events, batch_size=_BATCH)
    Artifact.objects.bulk_create(past.artifacts, batch_size=_BATCH)
    record_audits(drafts=_drafts(past))


def _drafts(past: Past) -> list[Draft]:
    """What the audit would hold had these jobs been submitted and cancelled one by one."""
    drafts = [Draft(job.submitted_at, "job.submitted", job, job.submitter, _said(job)) for job in past.jobs]
    drafts += [Draft(at, "job.cancelled", job, job.submitter, {"state": job.state}) for job, at in past.cancelled]
    return sorted(drafts, key=lambda draft: draft.at)


def _said(job: Job) -> dict[str, Any]:
    return {"name": job.name, "template": job.template_version.template.slug, "task_type": job.task_type}


def _record_usage(now: datetime, tell: Tell) -> None:
    done = 0
    while entered := record_usage(now=now):
        done += entered
        tell("usage", done, 0)
