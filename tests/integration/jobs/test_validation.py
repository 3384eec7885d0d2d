"""A node comes into service by a job that ran there, succeeded, and was seen to give everything back (R-10)."""

import copy
import threading
from datetime import timedelta

import pytest
from django.db import connection

from jobs.models import Allocation, AllocationLine, Job, JobTemplate, ReleaseRecord, TemplateVersion
from jobs.selectors.matrix import matrix
from jobs.selectors.snapshot import load_snapshot
from jobs.selectors.validation import nodes_to_visit, validation_projects, validation_slugs
from jobs.services.validate_node import validate_node
from jobs.shipped.catalogue import BATCH
from jobs.states import JobState
from portal.lib.clock import utc_now
from portal.lib.errors import Conflict, Denied, Invalid
from resources.admission import AUTOMATIC
from resources.models import Admission, Node, NodeEvent, Pool
from resources.services.admit_node import admit_node
from resources.services.hold_node import hold_node
from resources.services.quarantine_node import quarantine_node
from resources.services.restage_nodes import restage_nodes
from resources.services.retry_validation import retry_validation
from resources.services.set_pool_admission import set_pool_admission
from tenants.models import AuditEvent
from tenants.roles import Role
from tests import builders as make

pytestmark = pytest.mark.django_db(transaction=True)


def ask(machine, *, actor=None, template="quick", keep_present=False, project=None, note="R-10"):
    pool = Pool.objects.get(key="local")
    set_pool_admission(
        actor=actor or machine.boss,
        pool=pool,
        admission=Admission.VALIDATE,
        template=template,
        project=project or machine.project,
        keep_present=keep_present,
        now=utc_now(),
        note=note,
        templates_for=validation_slugs,
        projects_for=lambda pool: validation_projects(pool, utc_now()),
    )


def template(slug: str, seconds: int, limit: int) -> None:
    """A template for everybody that computes so long, and may compute so long."""
    row = JobTemplate.objects.create(slug=slug, task_type="batch", created_at=utc_now())
    spec = copy.deepcopy(BATCH.spec())
    spec["params"]["properties"]["duration"] |= {"default": f"{seconds}s"}
    spec["params"]["properties"]["matrix_size"] |= {"default": 64}
    spec["time_limit_ms"] = {"default": limit * 1_000, "minimum": 1_000, "maximum": 3_600_000}
    spec["members"] = {"default": 1, "minimum": 1, "maximum": 1}
    TemplateVersion.objects.create(template=row, number=1, spec=spec, published_at=utc_now())


@pytest.fixture
def site(machine):
    """The machine, someone who may set rules, and templates that pass and that do not."""
    machine.boss = make.make_user("boss", (Role.PLATFORM_ADMIN, machine.team.parent))
    template("quick", 1, 60)
    template("too-long", 60, 1)
    return machine


def step(site) -> bool:
    return any([validate_node(node=Node.objects.get(pk=key), now=utc_now()) for key in nodes_to_visit(utc_now())])


def validated(site) -> Job:
    """The one validation job, run to its end and noted."""
    assert step(site)
    job = Job.objects.get(validates__isnull=False, state=JobState.QUEUED)
    site.settle(job)
    assert step(site)
    return job


def node() -> Node:
    return Node.objects.select_related("cluster", "pool").get()


def test_a_node_is_schedulable_once_its_job_passed_and_was_released(site):
    ask(site)
    assert (node().stage, node().standing) == ("discovered", "NotValidated")
    (host,) = load_snapshot(now=utc_now()).hosts
    assert (host.blocked, host.trial) == ("NotValidated", False)
    assert step(site)
    job = Job.objects.get(validates=node())
    assert (node().stage, node().trial_job) == ("validating", job.pk)
    assert (job.project, job.submitter, job.max_attempts) == (site.project, site.boss, 1)
    other = site.submit(params={"duration": "1s"}, members="1")
    site.settle(job)
    other.refresh_from_db()
    assert other.state == JobState.QUEUED and other.reason == "NodesUnavailable"
    assert ReleaseRecord.objects.get(allocation__attempt__job=job).completed_at
    assert step(site)
    proved = node()
    assert (proved.stage, proved.standing, proved.trial) == ("schedulable", "", {})
    assert proved.proof["job"] == str(job.pk) and proved.proof["by"] == "run"
    assert proved.proof["facts"] == {"runtime": proved.container_runtime, "devices": {}}
    assert [(e.old, e.new, e.cause) for e in NodeEvent.objects.filter(node=proved)][:2] == [
        ("validating", "schedulable", "Validated"),
        ("discovered", "validating", "Validating"),
    ]
    assert AuditEvent.objects.filter(verb="node.validated", target_id=str(proved.pk)).count() == 1
    site.settle(other)
    assert other.state == JobState.SUCCEEDED
    assert not step(site)


def test_a_job_that_succeeded_proves_nothing_before_its_release(site):
    ask(site)
    step(site)
    job = Job.objects.get(validates=node())
    site.settle(job)
    Allocation.objects.filter(attempt__job=job).update(state="LEAKED")
    ReleaseRecord.objects.filter(allocation__attempt__job=job).update(completed_at=None)
    assert not step(site) and node().stage == "validating"
    Allocation.objects.filter(attempt__job=job).update(state="RELEASED")
    ReleaseRecord.objects.filter(allocation__attempt__job=job).update(completed_at=utc_now())
    assert step(site) and node().stage == "schedulable"


def test_a_run_that_fails_leaves_it_discovered_and_is_repeated_by_rule(site):
    ask(site, template="too-long")
    job = validated(site)
    assert job.state == JobState.FAILED
    failed = node()
    assert (failed.stage, failed.standing, failed.trial["reason"]) == ("discovered", "ValidationFailed", job.reason)
    assert failed.trial["job"] == str(job.pk) and failed.trial["failures"] == 1
    assert nodes_to_visit(utc_now()) == [] and nodes_to_visit(utc_now() + timedelta(minutes=6)) == []
    fresh(site)
    for failures in range(2, AUTOMATIC + 1):
        Node.objects.update(trial=node().trial | {"next": utc_now().isoformat()})
        validated(site)
        assert node().trial["failures"] == failures
    assert node().trial["next"] is None
    assert not step(site)
    retry_validation(actor=site.boss, node=node(), now=utc_now(), note="A new fan.")
    assert (node().standing, node().trial) == ("NotValidated", {}) and nodes_to_visit(utc_now()) == [node().pk]


def fresh(site) -> None:
    """Its cluster reported just now."""
    type(site.cluster).objects.update(last_seen_at=utc_now())


def test_what_cannot_be_asked_for_is_said_and_makes_no_job(site):
    ask(site)
    JobTemplate.objects.filter(slug="quick").update(retired_at=utc_now())
    assert step(site)
    assert (node().stage, node().trial["reason"], node().trial["failures"]) == ("discovered", "TemplateRetired", 0)
    assert not Job.objects.exists() and not step(site)


def test_a_run_that_can_never_start_ends_with_the_reason(site):
    ask(site)
    step(site)
    job = Job.objects.get(validates=node())
    job.alternatives[0]["pod_sets"][0]["lines"][0][2] = 10**9
    job.save(update_fields=["alternatives"])
    site.tick()
    assert step(site)
    job.refresh_from_db()
    assert (job.state, job.reason) == (JobState.FAILED, "NeverFits")
    assert (node().standing, node().trial["reason"]) == ("ValidationFailed", "AboveLargestNode")


def test_what_changed_since_the_run_makes_it_void(site):
    ask(site)
    validated(site)
    Node.objects.update(container_runtime="another://2")
    restage_nodes(nodes=[node().pk], now=utc_now())
    assert (node().stage, node().standing) == ("discovered", "ValidationVoid")
    validated(site)
    assert node().stage == "schedulable" and node().proof["facts"]["runtime"] == "another://2"


def test_what_changes_while_the_run_goes_on_is_not_proved_by_it(site):
    ask(site)
    step(site)
    job = Job.objects.get(validates=node())
    Node.objects.update(container_runtime="another://2")
    site.settle(job)
    assert step(site)
    assert (node().stage, node().standing, node().proof) == ("discovered", "NotValidated", {})
    assert NodeEvent.objects.filter(node=node())[0].facts["changed"] == [["runtime", "", "another://2"]]
    validated(site)
    assert node().stage == "schedulable"


def test_nodes_in_service_may_stay_and_say_that_they_are_not_verified(site):
    ask(site, keep_present=True)
    assert (node().stage, node().proof["by"]) == ("schedulable", "before")
    assert not step(site)
    retry_validation(actor=site.boss, node=node(), now=utc_now(), note="To be sure.")
    assert node().stage == "discovered"


def test_a_person_may_let_it_in_by_hand_and_it_says_so(site):
    ask(site, template="too-long")
    admit_node(actor=site.boss, node=node(), now=utc_now(), note="We need it today.")
    assert (node().stage, node().proof["by"], node().proof["note"]) == ("schedulable", "hand", "We need it today.")
    assert AuditEvent.objects.get(verb="node.admitted").note == "We need it today."
    with pytest.raises(Conflict):
        admit_node(actor=site.boss, node=node(), now=utc_now(), note="Again.")
    with pytest.raises(Denied):
        admit_node(actor=site.owner, node=node(), now=utc_now(), note="I want it.")


def test_nobody_lets_a_node_in_while_its_job_runs(site):
    ask(site)
    step(site)
    with pytest.raises(Conflict):
        admit_node(actor=site.boss, node=node(), now=utc_now(), note="Now.")
    with pytest.raises(Conflict):
        retry_validation(actor=site.boss, node=node(), now=utc_now(), note="Now.")


def test_a_cordon_holds_against_a_validation(site):
    ask(site)
    step(site)
    hold_node(actor=None, node=node(), stage="cordoned", note="", now=utc_now(), jobs_on=lambda _node: 0)
    site.tick()
    job = Job.objects.get(validates=node())
    assert (node().stage, job.state) == ("cordoned", JobState.QUEUED)
    hold_node(actor=None, node=node(), stage="", note="", now=utc_now(), jobs_on=lambda _node: 0)
    assert node().stage == "validating"
    site.settle(job)
    assert step(site) and node().stage == "schedulable"


def test_only_who_may_spend_a_project_may_charge_it(site):
    keeper = make.make_user("keeper", (Role.POOL_ADMIN, Pool.objects.get(key="local")))
    with pytest.raises(Denied):
        ask(site, actor=keeper)
    stranger = make.make_project("stranger", site.team.parent)
    with pytest.raises(Invalid) as refused:
        ask(site, project=stranger, template="serve-checkpoint")
    assert {error.field for error in refused.value.fields} == {"template", "project"}
    assert node().stage == "schedulable"


def test_passes_at_once_make_one_job(site):
    ask(site)
    barrier = threading.Barrier(4)
    steps = []

    def one_pass() -> None:
        barrier.wait()
        steps.append(validate_node(node=Node.objects.get(), now=utc_now()))
        connection.close()

    threads = [threading.Thread(target=one_pass) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(steps) == [False, False, False, True]
    assert Job.objects.filter(validates=node()).count() == 1


def test_what_a_run_was_given_on_is_written_down(site):
    ask(site)
    job = validated(site)
    lines = AllocationLine.objects.filter(allocation__attempt__job=job)
    assert {(line.driver_version, line.container_runtime) for line in lines} == {("", node().container_runtime)}
    assert job.attempts.get().runtime_as is not None


def test_a_quarantine_ends_by_a_run_that_passes(site):
    ask(site, keep_present=True)
    quarantine_node(node=node(), cause="RepeatedFailures", jobs=["a"], since=utc_now(), now=utc_now())
    assert (node().stage, node().standing) == ("cordoned", "Quarantined")
    job = validated(site)
    back = node()
    assert (back.stage, back.quarantine, back.proof["job"]) == ("schedulable", {}, str(job.pk))
    assert back.health_since
    assert not quarantine_node(node=back, cause="X", jobs=[], since=back.health_since, now=utc_now())


def test_the_matrix_claims_what_a_run_has_shown_until_its_ground_changes(site):
    def cell(row_state: str = ""):
        found = [dict(row.cells)["batch"] for row in matrix(class_key="cpu", state=row_state) if row.runtime == ""]
        return found[0] if found else None

    assert cell() is None
    job = site.submit(params={"duration": "1s"}, members="1")
    site.settle(job)
    assert (cell().state, cell().run.job) == ("verified", job.pk)
    ReleaseRecord.objects.filter(allocation__attempt__job=job).update(completed_at=None)
    assert cell() is None
    ReleaseRecord.objects.filter(allocation__attempt__job=job).update(completed_at=utc_now())
    Node.objects.update(container_runtime="another://2")
    turned = cell("not_verified")
    assert (turned.run.job, [change.fact for change in turned.changed]) == (job.pk, ["container"])
    type(site.cluster).objects.update(simulated=True)
    assert cell().state == "simulated"
