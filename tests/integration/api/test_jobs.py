"""Jobs over the API: the same services and selectors as the pages."""

import hashlib
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.utils import translation

from jobs.models import Artifact, IdempotencyKey, Job
from jobs.reasons import Reason
from jobs.sentences import sentence
from jobs.states import JobState
from metering.services.record_usage import record_usage
from tenants.services.renew_service_token import renew_service_token
from tenants.services.set_quota import set_quota
from tests import builders as make
from tests.builders import GIB, NOW, ago
from tests.cast import Cast
from tests.integration.api.conftest import Api, As


@pytest.fixture
def member(cast: Cast, as_user: As) -> Api:
    return as_user(cast.member)


# --- templates ------------------------------------------------------------------------------------------


def test_templates_say_what_may_be_asked_in_the_language_of_the_request(member: Api, templates: None) -> None:
    rows = member.get("/templates", **{"Accept-Language": "zh-CN"}).json()["results"]
    assert len(rows) == 7 and "生成数据集" in [row["title"] for row in rows]
    shown = member.get("/templates/make-data-set").json()
    assert shown["title"] == "Make a data set" and shown["params"]["properties"]["rows"]["minimum"] == 16
    assert shown["cpu_milli"] == {"default": 500, "minimum": 100, "maximum": 16000}
    assert shown["devices"] == {"default": 0, "minimum": 0, "maximum": 0}
    assert member.get("/templates/serve-checkpoint").json()["time_limit_ms"] is None
    assert member.get("/templates/none").status_code == 404


def test_a_template_of_a_project_is_not_seen_from_outside(cast: Cast, member: Api, as_user: As) -> None:
    make.make_template("own-batch", cast.alpha)
    seen = [row["slug"] for row in member.get("/templates").json()["results"]]
    foreign = [row["slug"] for row in as_user(cast.outsider).get("/templates").json()["results"]]
    assert "own-batch" in seen and "own-batch" not in foreign


# --- submit and preview ---------------------------------------------------------------------------------


def test_a_submit_gives_the_job_and_where_it_is(cast: Cast, member: Api, wanted: dict[str, Any]) -> None:
    given = wanted | {"name": "first", "cpu": "1", "memory": "1Gi", "params": {"size_mib": 8}, "time_limit": "10m"}
    response = member.post("/jobs", given)
    job = Job.objects.get()
    assert response.status_code == 201 and response["Location"] == f"/api/v1/jobs/{job.pk}"
    assert response.json()["id"] == str(job.pk) and response.json()["state"] == "QUEUED"
    shown = member.get(f"/jobs/{job.pk}").json()
    assert (shown["name"], shown["params"]["size_mib"], shown["time_limit_ms"]) == ("first", 8, 600_000)
    assert shown["size"]["lines"] == [
        {"class_key": "cpu", "resource": "cpu", "amount": 1000},
        {"class_key": "memory", "resource": "memory", "amount": GIB},
    ]
    assert (job.submitter_id, job.project_id) == (cast.member.pk, cast.alpha.pk)


def test_the_same_key_and_body_give_the_same_job(member: Api, wanted: dict[str, Any]) -> None:
    answers = [member.post("/jobs", wanted, **{"Idempotency-Key": "k" * 128}) for _ in range(3)]
    assert [a.status_code for a in answers] == [201, 200, 200]
    assert len({a.json()["id"] for a in answers}) == 1 and Job.objects.count() == 1
    other = member.post("/jobs", wanted | {"name": "other"}, **{"Idempotency-Key": "k" * 128})
    assert (other.status_code, other.json()["reason"]) == (409, "IdempotencyKeyReused")
    assert Job.objects.count() == 1


def test_a_key_is_its_users_own(cast: Cast, member: Api, as_user: As, wanted: dict[str, Any]) -> None:
    first = member.post("/jobs", wanted, **{"Idempotency-Key": "k"})
    second = as_user(cast.owner).post("/jobs", wanted, **{"Idempotency-Key": "k"})
    assert (first.status_code, second.status_code) == (201, 201)
    assert IdempotencyKey.objects.count() == 2


def test_without_a_key_every_submit_is_a_job(member: Api, wanted: dict[str, Any]) -> None:
    assert [member.post("/jobs", wanted).status_code for _ in range(2)] == [201, 201]
    assert Job.objects.count() == 2


@pytest.mark.parametrize(("role", "status"), [("owner", 201), ("viewer", 403), ("outsider", 404), ("stranger", 404)])
def test_who_may_submit_to_a_project(cast: Cast, as_user: As, wanted: dict[str, Any], role: str, status: int) -> None:
    for path in ("/jobs", "/jobs/preview"):
        response = as_user(cast.person(role)).post(path, wanted)
        assert response.status_code == (status if path == "/jobs" or status != 201 else 200)


def test_a_run_again_points_to_a_job_that_is_seen(cast: Cast, member: Api, wanted: dict[str, Any]) -> None:
    mine, foreign = make.make_job(cast.alpha, cast.member), make.make_job(cast.beta, cast.outsider)
    made = member.post("/jobs", wanted | {"run_again_of": str(mine.pk)}).json()
    assert member.get(f"/jobs/{made['id']}").json()["run_again_of"] == str(mine.pk)
    assert member.post("/jobs", wanted | {"run_again_of": str(foreign.pk)}).status_code == 404


def test_a_preview_says_now_and_stores_nothing(member: Api, wanted: dict[str, Any]) -> None:
    shown = member.post("/jobs/preview", wanted).json()
    assert (shown["verdict"], shown["pool_key"], shown["nodes"]) == ("now", "shared", ["n1"])
    assert shown["price_micro_hour"] == 500_000 + 50_000  # half a core at 1, half a GiB at 0.1
    assert Job.objects.count() == 0


def test_a_preview_says_wait_and_whose_turn_it_is(cast: Cast, member: Api, wanted: dict[str, Any]) -> None:
    busy = make.make_job(cast.alpha, cast.owner, state=JobState.RUNNING, reason=Reason.RUNNING)
    make.make_allocation(busy, cast.node, (("cpu", "cpu", 7_800),), reserved=ago(hours=1), bound=ago(hours=1))
    shown = member.post("/jobs/preview", wanted).json()
    assert shown["verdict"] == "wait" and shown["nodes"] == []
    assert shown["sentence"] == sentence(shown["reason"], shown["facts"], NOW)


def test_never_says_which_maximum_in_both_places(member: Api, wanted: dict[str, Any]) -> None:
    too_much = wanted | {"cpu": "16"}
    shown = member.post("/jobs/preview", too_much).json()
    assert shown["verdict"] == "never" and shown["price_micro_hour"]
    refused = member.post("/jobs", too_much)
    body = refused.json()
    assert (refused.status_code, body["reason"], body["detail"]) == (422, shown["reason"], shown["sentence"])
    assert "16" in body["detail"] and "16000" not in body["detail"] and body["facts"]["need"] == 16_000
    assert Job.objects.count() == 0


# --- lists ----------------------------------------------------------------------------------------------


def test_jobs_are_narrowed_by_group_type_project_name_and_mine(cast: Cast, as_user: As) -> None:
    make.make_job(cast.alpha, cast.member, name="waits")
    make.make_job(cast.alpha, cast.owner, name="runs", state=JobState.RUNNING, task_type="training")
    make.make_job(cast.beta, cast.outsider, name="fails 100%", state=JobState.FAILED)
    api = as_user(cast.platform_admin)

    def names(**query: str) -> set[str]:
        return {row["name"] for row in api.get("/jobs", query).json()["results"]}

    assert names() == {"waits", "runs", "fails 100%"}
    assert names(group="waiting") == {"waits"} and names(group="active") == {"runs"}
    assert names(group="failed") == {"fails 100%"} and names(group="cancelled") == set()
    assert names(type="training") == {"runs"} and names(project=str(cast.beta.pk)) == {"fails 100%"}
    assert names(q="WAI") == {"waits"} and names(q="0%") == {"fails 100%"} and names(q="_") == set()
    assert names(mine="true") == set() and names(mine="false") == names()
    assert {row["name"] for row in as_user(cast.member).get("/jobs", {"mine": "true"}).json()["results"]} == {"waits"}


def test_a_list_shows_only_what_is_seen(cast: Cast, as_user: As) -> None:
    make.make_job(cast.alpha, cast.member)
    make.make_job(cast.beta, cast.outsider)
    for role, count in (
        ("member", 1),
        ("outsider", 1),
        ("lead", 1),
        ("auditor", 2),
        ("stranger", 0),
        ("pool_admin", 0),
    ):
        assert len(as_user(cast.person(role)).get("/jobs").json()["results"]) == count, role


# --- one job --------------------------------------------------------------------------------------------


def test_a_job_shows_its_rail_its_tries_and_the_proof_of_release(member: Api, ended: Job) -> None:
    shown = member.get(f"/jobs/{ended.pk}").json()
    stages = {stage["key"]: stage for stage in shown["stages"]}
    assert stages["running"]["time"] == ago(minutes=60).isoformat().replace("+00:00", "Z")
    assert stages["running"]["status"] == "bad" and stages["released"]["status"] == "now"
    (attempt,) = shown["attempts"]
    assert (attempt["nodes"], attempt["exit_code"], attempt["cluster"]) == (["n1"], 3, "site")
    assert attempt["end_sentence"] == shown["sentence"] != ""
    (proof,) = shown["proofs"]
    assert {level["key"]: level["observed"] for level in proof["levels"]} == {
        "objects": "seen", "capacity": "unobserved", "devices": "unobserved"
    }  # fmt: skip
    assert proof["levels"][0]["after_ms"] == 60_000
    assert {level["key"]: level["observed"] for level in proof["returned"]} == {
        "quota": "seen", "queue_slot": "waiting", "temporary_files": "waiting"
    }  # fmt: skip


def test_use_is_open_until_it_is_in_the_ledger_and_never_in_both(member: Api, ended: Job) -> None:
    before = member.get(f"/jobs/{ended.pk}").json()["usage"]
    assert record_usage(now=NOW) == 1
    after = member.get(f"/jobs/{ended.pk}").json()["usage"]
    assert before["entered"] == after["open"] == [] and before["open"] == after["entered"]
    (use,) = after["entered"]
    assert use["phases"] == {"startup": str(49 * 60_000_000), "running": "1800000000", "release_lag": "60000000"}
    assert use["allocated"] == str(80 * 60_000_000) and use["unrated"] == "0"
    ((cost),) = use["cost"]
    assert cost["currency"] == "points" and float(cost["micro"]) == pytest.approx(80 / 60 * 1_000_000)


def test_a_sentence_comes_in_the_language_of_the_request(cast: Cast, member: Api) -> None:
    job = make.make_job(cast.alpha, cast.member, state=JobState.RUNNING, reason=Reason.RUNNING, facts={"nodes": 2})
    for accepted, language in (("en", "en"), ("zh-CN", "zh-hans")):
        response = member.get(f"/jobs/{job.pk}", **{"Accept-Language": accepted})
        with translation.override(language):
            assert response.json()["sentence"] == sentence(job.reason, job.facts, NOW)
        assert response["Content-Language"] == language and response.json()["facts"] == {"nodes": 2}


def test_a_history_is_read_in_order_page_by_page(member: Api, ended: Job) -> None:
    first = member.get(f"/jobs/{ended.pk}/events", {"limit": "3"}).json()
    second = member.get(f"/jobs/{ended.pk}/events", {"limit": "3", "cursor": first["next"]}).json()
    rows = first["results"] + second["results"]
    assert [row["new"] for row in rows] == ["QUEUED", "ADMITTED", "STARTING", "RUNNING", "FAILED"]
    assert second["next"] is None


def test_files_are_listed_with_digest_and_without_their_place(cast: Cast, member: Api, ended: Job) -> None:
    attempt = ended.attempts.get()
    common = {"project": cast.alpha, "job": ended, "attempt": attempt, "kind": "result", "bytes": 2, "created_at": NOW}
    digest = hashlib.sha256(b"{}").hexdigest()
    kept = Artifact.objects.create(name="metrics.json", location="/secret/metrics.json", sha256=digest, **common)
    Artifact.objects.create(name="gone", location="/secret/gone", sha256=digest, deleted_at=NOW, **common)
    response = member.get(f"/jobs/{ended.pk}/artifacts")
    (row,) = response.json()["results"]
    assert (row["id"], row["name"], row["sha256"], row["attempt"]) == (str(kept.pk), "metrics.json", digest, 1)
    assert b"secret" not in response.content


# --- log ------------------------------------------------------------------------------------------------


def test_a_log_is_text_with_controls_shown_and_says_where_to_read_on(member: Api, ended: Job, log: Path) -> None:
    response = member.get(f"/jobs/{ended.pk}/log")
    assert response.status_code == 200 and response["Content-Type"] == "text/plain; charset=utf-8"
    assert response.content.decode() == "第一行 first\nsecond␛[31m\n"
    assert (response["X-Log-Offset"], response["X-Log-Ended"]) == (str(log.stat().st_size), "1")
    assert response["Cache-Control"] == "no-store"


def test_a_log_is_read_in_parts_without_cutting_a_character(member: Api, ended: Job, log: Path) -> None:
    text, offset = "", 0
    for _ in range(100):
        response = member.get(f"/jobs/{ended.pk}/log", {"offset": str(offset), "limit": "4"})
        text, offset = text + response.content.decode(), int(response["X-Log-Offset"])
        if "X-Log-Ended" in response:
            break
    assert text == "第一行 first\nsecond␛[31m\n" and offset == log.stat().st_size


def test_the_tail_of_a_log_counts_from_its_end(member: Api, ended: Job, log: Path) -> None:
    assert member.get(f"/jobs/{ended.pk}/log", {"offset": "-6"}).content.decode() == "␛[31m\n"


def test_there_is_no_log_of_a_member_that_is_not_there(cast: Cast, member: Api, ended: Job, log: Path) -> None:
    assert member.get(f"/jobs/{ended.pk}/log", {"member": "1"}).status_code == 404
    waiting = make.make_job(cast.alpha, cast.member)
    assert member.get(f"/jobs/{waiting.pk}/log").status_code == 404


def test_a_cluster_that_does_not_answer_is_said_to(cast: Cast, member: Api, ended: Job, settings: Any) -> None:
    cast.cluster.driver = "none"
    cast.cluster.save()
    response = member.get(f"/jobs/{ended.pk}/log")
    assert (response.status_code, response.json()["reason"]) == (503, "ClusterUnavailable")


# --- acts -----------------------------------------------------------------------------------------------


def test_ones_own_job_is_cancelled_and_again_changes_nothing(cast: Cast, member: Api) -> None:
    job = make.make_job(cast.alpha, cast.member)
    for _ in range(2):
        response = member.post(f"/jobs/{job.pk}/cancel")
        assert (response.status_code, response.json()["state"]) == (200, "CANCELLED")


@pytest.mark.parametrize(
    ("role", "status"), [("owner", 200), ("lead", 200), ("viewer", 403), ("auditor", 403), ("outsider", 404)]
)
def test_who_may_cancel_somebody_elses_job(cast: Cast, as_user: As, role: str, status: int) -> None:
    job = make.make_job(cast.alpha, cast.member)
    assert as_user(cast.person(role)).post(f"/jobs/{job.pk}/cancel").status_code == status


def test_a_new_service_token_replaces_the_old_one(cast: Cast, as_user: As) -> None:
    old = renew_service_token(actor=None, project=cast.alpha, now=NOW)
    response = as_user(cast.owner).post(f"/projects/{cast.alpha.pk}/service-token")
    assert response.status_code == 201 and response["Cache-Control"] == "no-store"
    cast.alpha.refresh_from_db()
    new = response.json()["token"]
    assert new != old and cast.alpha.service_token_sha256 == hashlib.sha256(new.encode()).hexdigest()
    assert as_user(cast.member).post(f"/projects/{cast.alpha.pk}/service-token").status_code == 403
    assert as_user(cast.outsider).post(f"/projects/{cast.alpha.pk}/service-token").status_code == 404


def test_quota_is_a_reason_like_any_other(cast: Cast, member: Api, wanted: dict[str, Any]) -> None:
    set_quota(
        actor=None, tenant=cast.alpha, pool_key="shared", class_key="cpu", resource="cpu",
        guarantee=None, nominal=None, ceiling=100, now=NOW - timedelta(days=1),
    )  # fmt: skip
    shown = member.post("/jobs/preview", wanted).json()
    assert shown["verdict"] == "never" and shown["reason"] != "NeverFits"
