"""The replayed past says what the services would have said, row by row."""

from datetime import timedelta

import pytest

from jobs.models import Allocation, Attempt, Job, JobEvent, ReleaseRecord, TemplateVersion
from jobs.reasons import Reason
from jobs.request import JobRequest
from jobs.selectors.reach import load_reach
from jobs.selectors.snapshot import load_snapshot
from jobs.services.build_job import build_job
from jobs.services.cancel_job import cancel_job
from jobs.services.publish_shipped_templates import publish_shipped_templates
from jobs.services.reconcile_cluster import reconcile_cluster
from jobs.services.run_cycle import run_cycle
from jobs.services.submit_job import submit_job
from jobs.shipped.rehearsal import TEMPLATES
from jobs.states import JobState
from portal.web.demo.past import Past
from portal.web.demo.replay import Arrival, Replay, Site
from resources.drivers.simulated.driver import SimulatedDriver
from resources.drivers.simulated.fleet import read_fleet
from resources.models import Cluster, Device, Node
from resources.services.declare_runtime import declare_runtime
from resources.services.sync_inventory import sync_inventory
from tenants.services.grant_pool import grant_pool
from tests import builders as make
from tests.cast import cast, cast_rows

__all__ = ["cast", "cast_rows"]

START = make.ago(days=2)
SECOND = timedelta(seconds=1)
END, STEP = 330, 3
FLEET = {
    "name": "yard",
    "seed": 5,
    "latency": {step: ["1s", "1s"] for step in ("bind", "pull", "start", "ready", "stop", "objects", "devices")},
    "nodes": [
        {"name": "sim-y-{n}", "count": 2, "cpu": "17", "memory": "66Gi", "devices": [
            {"resource": "example.com/gpu", "vendor": "Example", "kind": "GPU", "model": "M1", "count": 4}]}
    ],
}  # fmt: skip
SMALL = {"devices": "0", "cpu": "1", "memory": "1Gi"}
CARDS = {"devices": "4", "cpu": "8", "memory": "8Gi"}
# When, from what, how it goes, how large, and after how many seconds it is cancelled.
WISHES = [
    (0, "rehearse-training", {"lasts": "30s", "ends": "success"}, CARDS, None),
    (3, "rehearse-training", {"lasts": "40s", "ends": "error"}, CARDS, None),
    (6, "rehearse-fine-tuning", {"lasts": "20s", "ends": "success"}, CARDS, None),
    (9, "rehearse-evaluation", {"lasts": "5m", "ends": "success"}, CARDS | {"devices": "2"}, 141),
    (12, "rehearse-batch", {"lasts": "10s", "ends": "out-of-memory"}, SMALL, None),
    (15, "rehearse-batch", {"lasts": "9m", "ends": "success"}, SMALL | {"time_limit": "1m"}, None),
    (18, "rehearse-session", {"time_to_live": "1m", "ends": "success"}, CARDS | {"max_wait": "30s"}, None),
    (198, "rehearse-data-processing", {"lasts": "8s", "ends": "start-failed"}, SMALL, None),
]


@pytest.fixture
def yard(cast, monkeypatch, settings, tmp_path):
    settings.STATE_DIR = tmp_path
    clock = [START]
    site = make.make_cluster("yard", seen=START, driver="simulated")
    cards = make.make_class("card", "GPU", price=5_000_000, weight=1)
    type(cards).objects.filter(pk=cards.pk).update(match={"resource_name": "example.com/gpu"})
    pool = make.make_pool("yard")
    type(pool).objects.filter(pk=pool.pk).update(selector={"cluster": "yard"})
    drivers = {}

    def driver_of(_cluster):
        return drivers["yard"]

    for module in ("jobs.services.reconcile_cluster", "resources.services.sync_inventory"):
        monkeypatch.setattr(f"{module}.driver_for", driver_of)

    def fresh():
        drivers["yard"] = SimulatedDriver(fleet=read_fleet(FLEET), clock=lambda: clock[0])
        return drivers["yard"]

    fresh()
    sync_inventory(cluster=site, now=START)
    declare_runtime(
        actor=None, key="rehearsal", name={"en": "r"}, driver_kind="simulated", kinds=["CPU", "GPU"], framework="",
        version="", now=START,
    )  # fmt: skip
    grant_pool(actor=None, tenant=cast.alpha, pool_key="yard", now=START, valid_from=make.ago(days=90))
    publish_shipped_templates(now=START, templates=TEMPLATES)
    return clock, site, fresh


def requests(version_of):
    for index, (second, slug, params, fields, cancelled) in enumerate(WISHES):
        given = dict(fields) | ({"device_class": "card"} if fields["devices"] != "0" else {})
        at = START + second * SECOND
        request = JobRequest(name=f"wish {index}", params=params, members=1, pool="yard", **given)
        yield at, version_of(slug), request, None if cancelled is None else at + cancelled * SECOND


def version_of(slug):
    return TemplateVersion.objects.select_related("template").get(template__slug=slug)


def by_services(cast, yard) -> dict:
    clock, site, fresh = yard
    fresh()
    todo = list(requests(version_of))
    jobs = []
    for second in range(0, END, STEP):
        now = clock[0] = START + second * SECOND
        Cluster.objects.filter(pk=site.pk).update(last_seen_at=now)
        Node.objects.filter(cluster=site).update(last_seen_at=now)
        for _at, version, request, cancelled in [t for t in todo if t[0] == now]:
            job = submit_job(actor=cast.member, project=cast.alpha, version=version, request=request, now=now)
            jobs.append((job, cancelled))
        for job, cancelled in jobs:
            if cancelled == now:
                cancel_job(actor=cast.member, job=job, now=now)
        reconcile_cluster(cluster=site, now=now)
        run_cycle(now=now)
    past = Past()
    past.jobs, past.attempts = list(Job.objects.all()), list(Attempt.objects.select_related("job"))
    past.events, past.releases = list(JobEvent.objects.select_related("job")), list(ReleaseRecord.objects.all())
    return told(past, list(Allocation.objects.select_related("attempt__job")))


def by_replay(cast, yard) -> dict:
    clock, site, fresh = yard
    driver = fresh()
    clock[0] = START
    Cluster.objects.filter(pk=site.pk).update(last_seen_at=START)
    arrivals = []
    for at, version, request, cancelled in requests(version_of):
        job = build_job(actor=cast.member, project=cast.alpha, version=version, request=request, now=at)
        arrivals.append(Arrival(job, cancelled))

    def set_clock(moment):
        clock[0] = moment

    replay = Replay(
        base=load_snapshot(now=START, waiting=()),
        reach=load_reach(),
        sites={"yard": Site(site, driver)},
        nodes={str(n.pk): n for n in Node.objects.filter(cluster=site)},
        devices={str(k): (r, v) for k, r, v in Device.objects.values_list("pk", "group__resource_name", "uuid")},
        set_clock=set_clock,
    )
    past = replay.run(arrivals, until=START + END * SECOND)
    return told(past, [h.allocation for h in past.held])


def told(past: Past, allocations) -> dict:
    """What the rows say, but for keys, and for moments that depend on when somebody looked."""
    found = {}
    for job in past.jobs:
        events = [e for e in past.events if e.job_id == job.pk]
        attempts = [a for a in past.attempts if a.job_id == job.pk]
        found[job.name] = {
            "state": job.state,
            "reason": job.reason,
            "facts": sorted(job.facts),
            "generation": job.generation,
            "archived": job.archived_at is not None,
            "note": job.archive_note,
            "moves": sorted((str(e.old), str(e.new), str(e.reason)) for e in events if e.kind == "state"),
            "kinds": sorted({(e.kind, e.reason, e.attempt_id is not None) for e in events}),
            "attempts": [(a.number, a.ended, a.closed, a.end_reason, a.exit_code, a.pool_key) for a in attempts],
            "seen": [
                (bool(a.bound_at), bool(a.started_at), bool(a.ready_at), bool(a.stopped_at), bool(a.released_at))
                for a in attempts
            ],
            "held": sorted(a.state for a in allocations if a.attempt.job_id == job.pk),
        }
    return found


@pytest.mark.django_db
def test_a_replayed_past_says_what_the_services_say(cast, yard):
    replayed = by_replay(cast, yard)
    served = by_services(cast, yard)
    assert set(replayed) == set(served)
    # A job that never reached a cluster is archived by a pass of its own, which this test does not run.
    for told_so in (*replayed.values(), *served.values()):
        if not told_so["attempts"]:
            told_so["archived"], told_so["note"] = None, None
    for name in served:
        assert replayed[name] == served[name], name
    ends = {told_so["reason"] for told_so in served.values()}
    assert {"Succeeded", "ApplicationFailed", "MemoryLimit", "TimeLimitReached", "CancelledByUser"} <= ends


@pytest.mark.django_db
def test_a_pool_that_is_kept_for_another_type_for_a_while_holds_what_waits_and_is_not_asked_by_others(cast, yard):
    clock, site, fresh = yard
    driver, version = fresh(), version_of("rehearse-training")
    clock[0] = START
    fields = CARDS | {"device_class": "card", "members": 2, "pool": "yard"}

    def asked(name: str, second: int, lasts: str) -> Arrival:
        request = JobRequest(name=name, params={"lasts": lasts, "ends": "success"}, **fields)
        at = START + second * SECOND
        return Arrival(build_job(actor=cast.member, project=cast.alpha, version=version, request=request, now=at))

    replay = Replay(
        base=load_snapshot(now=START, waiting=()),
        reach=load_reach(),
        sites={"yard": Site(site, driver)},
        nodes={str(n.pk): n for n in Node.objects.filter(cluster=site)},
        devices={str(k): (r, v) for k, r, v in Device.objects.values_list("pk", "group__resource_name", "uuid")},
        set_clock=lambda moment: clock.__setitem__(0, moment),
    )
    replay.change_rules(START + 20 * SECOND, {"yard": (("evaluation",), ())})
    replay.change_rules(START + 90 * SECOND, {})
    past = replay.run([asked("holds all", 0, "30s"), asked("waits", 10, "5s"), asked("too late", 30, "5s")],
                      until=START + 200 * SECOND)  # fmt: skip
    assert [job.name for job in past.jobs] == ["holds all", "waits"], "what no pool takes is not queued to begin with"
    met = {event.reason: event for event in past.events if event.job.name == "waits"}
    refused, admitted = met[Reason.POOL_REFUSES], met[Reason.ADMITTED]
    assert (refused.at, refused.facts["list"]) == (START + 20 * SECOND, ["yard"])
    assert admitted.at == START + 90 * SECOND, "although there was room long before"
    assert past.jobs[1].state == JobState.SUCCEEDED
