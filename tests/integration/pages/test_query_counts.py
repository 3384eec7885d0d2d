"""The number of queries of each page is bounded and does not grow with what it shows."""

from datetime import timedelta

from django.core.cache import cache
from django.db import connection
from django.test.utils import CaptureQueriesContext

from jobs.services.record_event import record_event
from jobs.states import JobState
from metering.services.record_usage import record_usage
from resources.models.catalogue import Kind
from resources.selectors import fleet
from tenants.services.grant_pool import grant_pool
from tenants.services.record_audit import record_audit
from tenants.services.set_quota import set_quota
from tests import builders as make
from tests import declared
from tests.builders import NOW, ago

MOST = 30
PAGES = [
    ("platform_admin", "/"),
    ("pool_admin", "/"),
    ("auditor", "/"),
    ("manager", "/"),
    ("lead", "/"),
    ("member", "/"),
    ("viewer", "/"),
    ("member", "/inbox"),
    ("platform_admin", "/setup"),
    ("member", "/jobs"),
    ("platform_admin", "/jobs"),
    ("member", "/jobs/{job}"),
    ("member", "/jobs/{job}?tab=history"),
    ("member", "/jobs/{job}?tab=files"),
    ("auditor", "/jobs/{job}?tab=audit"),
    ("member", "/queue"),
    ("platform_admin", "/queue"),
    ("member", "/services"),
    ("member", "/artifacts"),
    ("member", "/templates"),
    ("owner", "/templates/tests-batch"),
    ("owner", "/templates/tests-batch/versions"),
    ("member", "/usage/me"),
    ("manager", "/usage/projects"),
    ("lead", "/usage/projects?project=alpha"),
    ("member", "/usage/jobs/{job}"),
    ("platform_admin", "/nodes"),
    ("platform_admin", "/nodes/{node}"),
    ("platform_admin", "/nodes/{node}/validate"),
    ("member", "/validation"),
    ("platform_admin", "/clusters"),
    ("platform_admin", "/clusters/site"),
    ("platform_admin", "/clusters/new"),
    ("platform_admin", "/clusters/new/kubernetes"),
    ("platform_admin", "/clusters/far"),
    ("platform_admin", "/clusters/far/access"),
    ("platform_admin", "/clusters/far/access/runner"),
    ("platform_admin", "/devices"),
    ("platform_admin", "/classes"),
    ("platform_admin", "/classes/cpu"),
    ("member", "/classes"),
    ("member", "/runtimes"),
    ("platform_admin", "/runtimes/tools-1"),
    ("platform_admin", "/runtimes/new"),
    ("platform_admin", "/runtimes/tools-1/edit"),
    ("platform_admin", "/vendor-rows"),
    ("platform_admin", "/nodes?view=map"),
    ("platform_admin", "/pools/shared/rules"),
    ("platform_admin", "/classes/cpu/facts/new"),
    ("platform_admin", "/classes/cpu/equivalences/new"),
    ("member", "/data"),
    ("platform_admin", "/pools"),
    ("member", "/pools"),
    ("platform_admin", "/pools/shared"),
    ("platform_admin", "/pools/shared/edit"),
    ("platform_admin", "/pools/shared/delete"),
    ("platform_admin", "/nodes/{node}/cordon"),
    ("platform_admin", "/classes/cpu/edit"),
    ("platform_admin", "/classes/cpu/rates/new"),
    ("auditor", "/audit"),
    ("platform_admin", "/teams"),
    ("platform_admin", "/teams/models"),
    ("platform_admin", "/projects"),
    ("platform_admin", "/projects/alpha"),
    ("member", "/projects/alpha"),
    ("platform_admin", "/people"),
    ("member", "/tokens"),
    ("member", "/roles"),
]


def grow(cast, round_: int) -> str:
    """More of everything; the key of a job of the first project."""
    card = make.make_class(f"gpu-{round_}", Kind.GPU, price=5_000_000, weight=2_000_000)
    pool = make.make_pool(f"pool-{round_}")
    project = make.make_project(f"project-{round_}", cast.models)
    cluster = make.make_cluster(f"cluster-{round_}")
    grant_pool(actor=None, tenant=cast.alpha, pool_key=pool.key, now=NOW, valid_from=ago(days=1))
    for tenant in (cast.alpha, project, cast.models):
        set_quota(
            actor=None,
            tenant=tenant,
            pool_key=pool.key,
            class_key="cpu",
            resource="cpu",
            guarantee=None,
            nominal=8_000,
            ceiling=None,
            now=NOW,
        )
    declare(cast, card, round_)
    key = ""
    for place in range(3):
        node = make.make_node(f"node-{round_}-{place}", cluster, pool, cards=2, card_class=card)
        lines = [("cpu", "cpu", 1_000), (card.key, "device", make.CARD)]
        for owner in (cast.alpha, project):
            key = _work(cast, owner, node, lines) or key
        _work(cast, cast.alpha, cast.node, [("cpu", "cpu", 100)])
        record_audit(actor=cast.member, verb="test.grown", target=project, after={"n": place}, now=NOW)
    record_usage(now=NOW)
    return key


def declare(cast, card, round_: int) -> None:
    """One of each thing that people declare."""
    declared.make_runtime(f"tools-{round_}", classes=[card.key])
    declared.make_fact(cast.cpu, subject=f"Framework {round_}")
    declared.make_equivalence(cast.cpu, card)
    declared.make_vendor_row(f"acme.example/xpu-{round_}")


def _work(cast, project, node, lines) -> str:
    """A job that is done, one that runs, one that leaked, one that waits."""
    start, end = ago(hours=3), ago(hours=2)
    done = make.make_job(
        project, cast.member, state=JobState.SUCCEEDED, reason="Succeeded", finished_at=end, lines=lines
    )
    make.make_allocation(done, node, lines, reserved=start, bound=start, started=start, stopped=end, released=end)
    running = make.make_job(project, cast.member, state=JobState.RUNNING, lines=lines)
    make.make_allocation(running, node, lines, reserved=start, bound=start, started=start + timedelta(minutes=1))
    leaked = make.make_job(project, cast.member, state=JobState.FAILED, lines=lines)
    make.make_allocation(leaked, node, lines, reserved=start, bound=start, started=start, stopped=end, leaked=end)
    record_event(job=running, at=start, now=NOW, kind="state", reason="Submitted", new="QUEUED")
    make.make_job(project, cast.member, lines=lines, facts={"pool_key": node.pool.key, "resource": "cpu"})
    make.make_job(project, cast.member, state=JobState.RUNNING, task_type="inference", lines=lines)
    make.make_artifact(done, "dataset")
    return str(done.pk) if project == cast.alpha else ""


def count(client, path: str) -> int:
    client.get(path)  # content types and the like are read once a process
    with CaptureQueriesContext(connection) as queries:
        assert client.get(path).status_code == 200
    return len(queries)


def counts(cast, as_user, job: str) -> dict[str, int]:
    """Queries of every page."""
    clients = {role: as_user(cast.person(role)) for role in dict(PAGES)}
    return {f"{role} {path}": count(clients[role], path.format(job=job, node=cast.node.pk)) for role, path in PAGES}


def test_queries_do_not_grow_with_the_rows(cast, as_user):
    cache.set(fleet._SIMULATED, [], 600)  # kept for seconds by every process: it must not run out between two counts
    make.make_kubernetes("far")
    job = grow(cast, 1)
    first = counts(cast, as_user, job)
    for round_ in (2, 3):
        grow(cast, round_)
    assert counts(cast, as_user, job) == first
    assert {page: number for page, number in first.items() if number > MOST} == {}
