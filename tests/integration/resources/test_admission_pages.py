"""The rule of a pool and the admission of a node, on the pages and in the API."""

import json

import pytest

from jobs.models import JobTemplate, ReleaseRecord, TemplateVersion
from jobs.shipped.catalogue import BATCH
from jobs.states import JobState
from resources.models import Node, NodeEvent, Pool
from resources.services.hold_node import hold_node
from tenants.models import AuditEvent
from tests import builders as make
from tests.builders import NOW

RULE = {"admission": "validate", "template": "quick", "project": "alpha"}


@pytest.fixture
def quick(cast):
    """A template for everybody that can validate the node."""
    row = JobTemplate.objects.create(slug="quick", task_type="batch", created_at=NOW)
    TemplateVersion.objects.create(template=row, number=1, spec=BATCH.spec(), published_at=NOW)
    return row


def node(cast) -> Node:
    return Node.objects.get(pk=cast.node.pk)


def test_the_rule_is_explained_before_it_is_set(cast, quick, as_user):
    admin = as_user(cast.platform_admin)
    said = admin.preview("/pools/shared/admission", **RULE)
    assert "1 node leaves service until its validation job has passed." in said
    assert node(cast).stage == "schedulable" and not AuditEvent.objects.filter(verb="pool.admission_set").exists()
    admin.save("/pools/shared/admission", reason="R-10", **RULE)
    pool = Pool.objects.get(key="shared")
    assert (pool.admission, pool.validation_project, pool.validation_by) == (
        "validate",
        cast.alpha,
        cast.platform_admin,
    )
    event = AuditEvent.objects.get(verb="pool.admission_set")
    assert event.after == {"admission": "validate", "template": "quick", "project": "alpha", "keep_present": False}
    page = admin.page(f"/nodes/{cast.node.pk}")
    assert "Waits for its validation job." in page and "Discovered" in page
    assert "After a validation job" in admin.page("/pools/shared")


def test_a_rule_that_keeps_what_is_there_says_what_it_is(cast, quick, as_user):
    admin = as_user(cast.platform_admin)
    admin.save("/pools/shared/admission", **RULE, keep_present="on")
    assert node(cast).stage == "schedulable"
    page = admin.page(f"/nodes/{cast.node.pk}")
    assert "In service before its pool asked for validation, not verified." in page and "Not verified" in page


def test_what_cannot_be_chosen_is_refused_beside_its_field(cast, quick, as_user):
    admin = as_user(cast.platform_admin)
    page = admin.send("/pools/shared/admission", 422, step="preview", admission="validate", template="", project="")
    assert "is no template that can validate nodes of this pool" in page
    assert "Name a project that is granted this pool now" in page
    assert node(cast).stage == "schedulable"


def test_who_looks_after_the_pool_may_not_spend_a_project_of_others(cast, quick, as_user):
    keeper = as_user(cast.pool_admin)
    assert "alpha" not in keeper.page("/pools/shared/admission").split("Charged to")[1].split("</select>")[0]
    keeper.send("/pools/shared/admission", 422, step="preview", **RULE)


def test_a_node_is_admitted_by_hand_with_a_reason(cast, quick, as_user):
    admin = as_user(cast.platform_admin)
    admin.save("/pools/shared/admission", **RULE)
    path = f"/nodes/{cast.node.pk}/admit"
    assert "It is shown as admitted by hand, not verified." in admin.page(path)
    admin.save(path, reason="We trust it.")
    page = admin.page(f"/nodes/{cast.node.pk}")
    assert "Admitted by hand by Admin, not verified: We trust it." in page
    admin.save(f"/nodes/{cast.node.pk}/validate", reason="Now prove it.")
    assert node(cast).stage == "discovered" and "Now prove it." in admin.page(f"/nodes/{cast.node.pk}")


def test_an_act_that_is_not_possible_says_why(cast, as_user):
    admin = as_user(cast.platform_admin)
    assert "Set the admission of its pool first." in admin.page(f"/nodes/{cast.node.pk}/validate")
    assert "there is nothing to let it in from" in admin.page(f"/nodes/{cast.node.pk}/admit")


def test_the_node_page_shows_the_cause_and_time_of_each_change(cast, as_user):
    hold_node(actor=cast.platform_admin, node=cast.node, stage="draining", note="Noise.", now=NOW, jobs_on=lambda _n: 0)
    (event,) = NodeEvent.objects.filter(node=cast.node)
    assert (event.old, event.new, event.cause, event.actor_name) == ("schedulable", "draining", "Draining", "Admin")
    page = as_user(cast.platform_admin).page(f"/nodes/{cast.node.pk}")
    assert "Drained by an operator." in page and "Noise." in page


def test_the_page_says_whether_the_readers_projects_may_ask_for_the_node(cast, as_user):
    asks = {row["project"]: (row["may"], row["reason"]) for row in admission(cast, as_user)["asks"]}
    assert asks["alpha"] == (True, "") and asks["beta"][1] in ("", "NotGranted")
    hold_node(actor=None, node=cast.node, stage="cordoned", note="", now=NOW, jobs_on=lambda _node: 0)
    asks = {row["project"]: row["reason"] for row in admission(cast, as_user)["asks"]}
    assert asks["alpha"] == "Cordoned"


def admission(cast, as_user) -> dict:
    answer = as_user(cast.platform_admin).client.get(f"/api/v1/nodes/{cast.node.pk}/admission")
    assert answer.status_code == 200, answer.content
    return answer.json()


def test_the_api_does_what_the_pages_do(cast, quick, as_user):
    client = as_user(cast.platform_admin).client

    def send(verb: str, path: str, **body) -> dict:
        answer = client.generic(verb, f"/api/v1/{path}", data=json.dumps(body), content_type="application/json")
        assert answer.status_code == 200, answer.content
        return answer.json()

    body = {**RULE, "reason": "R-10"}
    found = send("POST", "pools/shared/admission/preview", **RULE)
    assert {change["name"] for change in found["changes"]} >= {"admission", "template", "project"}
    assert node(cast).stage == "schedulable"
    assert send("PUT", "pools/shared/admission", **body)["submitter"] == cast.platform_admin.username
    assert admission(cast, as_user)["standing"] == "NotValidated"
    shown = send("POST", f"nodes/{cast.node.pk}/admission", reason="Now.")
    assert (shown["stage"], shown["verdict"], shown["proof"]["by"]) == ("schedulable", "not_verified", "hand")
    assert send("POST", f"nodes/{cast.node.pk}/validation", reason="Prove it.")["stage"] == "discovered"


def test_the_matrix_page_and_its_file(cast, as_user):
    member = as_user(cast.member)
    job = make.make_job(cast.alpha, cast.member, state=JobState.SUCCEEDED, reason="Succeeded")
    held = make.make_allocation(job, cast.node, reserved=NOW, bound=NOW, started=NOW, stopped=NOW, released=NOW)
    assert job.ref not in member.page("/validation")
    held.attempt.end_reason, held.attempt.runtime_as = "Succeeded", ""
    held.attempt.save()
    held.lines.update(driver_version="", container_runtime=cast.node.container_runtime)
    ReleaseRecord.objects.create(allocation=held, stopped_at=NOW, completed_at=NOW)
    page = member.page("/validation")
    assert f'href="/jobs/{job.pk}"' in page and "Verified" in page
    assert f'href="/jobs/{job.pk}"' not in as_user(cast.stranger).page("/validation")
    assert "No row matches" in member.page("/validation?state=failed")
    rows = b"".join(member.client.get("/validation?format=csv")).decode().splitlines()
    assert [row.split(",")[:5] for row in rows if str(job.pk) in row] == [["cpu", "", "batch", "verified", str(job.pk)]]
    cells = member.client.get("/api/v1/validation-matrix?class_key=cpu&state=verified").json()["cells"]
    assert [cell["run"]["job"] for cell in cells if cell["state"] == "verified"] == [str(job.pk)]
