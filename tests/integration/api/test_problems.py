"""Every refusal has one shape, in the language of Accept-Language, whoever refuses."""

from typing import Any

import pytest
from django.http import HttpResponse
from django.test import Client
from rest_framework import exceptions

from jobs.states import JobState
from portal.lib.problem import exception_handler
from tenants.models import AuditEvent
from tests import builders as make
from tests.cast import Cast
from tests.integration.api.conftest import Api, As

MEMBERS = {"type", "title", "status", "reason", "detail", "facts", "fields"}


def problem(response: HttpResponse, status: int, reason: str) -> dict[str, Any]:
    """The body of a refusal that is as it should be."""
    body: dict[str, Any] = response.json()
    assert (response.status_code, body["status"], body["reason"]) == (status, status, reason), body
    assert response["Content-Type"] == "application/problem+json" and response["Cache-Control"] == "no-store"
    assert body.keys() == MEMBERS and body["title"] and body["detail"] and "{" not in body["detail"]
    return body


@pytest.fixture
def member(cast: Cast, as_user: As) -> Api:
    return as_user(cast.member)


def test_nobody_is_asked_to_sign_in(as_user: As, db: None) -> None:
    response = as_user(None).get("/jobs")
    problem(response, 401, "NotAuthenticated")
    assert response["WWW-Authenticate"] == "Bearer"


def test_a_session_may_read_and_with_its_csrf_token_change(cast: Cast, wanted: dict[str, Any]) -> None:
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(cast.member)
    assert browser.get("/api/v1/jobs").status_code == 200
    response = browser.post("/api/v1/jobs", wanted, content_type="application/json")
    problem(response, 403, "CsrfFailed")
    browser.get("/login")
    browser.cookies["csrftoken"] = "a" * 32
    headers = {"X-CSRFToken": "a" * 32}
    assert browser.post("/api/v1/jobs", wanted, content_type="application/json", headers=headers).status_code == 201


def test_a_token_needs_no_csrf_token(cast: Cast, as_user: As, wanted: dict[str, Any]) -> None:
    api = as_user(cast.member)
    api.client = Client(enforce_csrf_checks=True)
    assert api.post("/jobs", wanted).status_code == 201


def test_an_unknown_method_is_told_what_is_possible(member: Api) -> None:
    response = member.client.put("/api/v1/jobs", headers=member.headers)
    body = problem(response, 405, "MethodNotAllowed")
    assert body["facts"] == {"method": "PUT", "allowed": "GET, HEAD, POST"} and "GET, HEAD, POST" in body["detail"]


@pytest.mark.parametrize("method", ["options", "trace", "patch"])
def test_no_other_method_does_anything(member: Api, method: str) -> None:
    response = getattr(member.client, method)("/api/v1/jobs", headers=member.headers)
    problem(response, 405, "MethodNotAllowed")


@pytest.mark.parametrize(
    "content_type",
    ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "application/xml", ""],
)
def test_only_json_is_read(member: Api, content_type: str) -> None:
    problem(member.raw("/jobs", b'{"a": 1}', content_type), 415, "UnsupportedMediaType")


@pytest.mark.parametrize(
    "content_type", ["application/json; charset=utf-8", "APPLICATION/JSON", "application/json;x=1"]
)
def test_json_is_json_in_any_spelling(member: Api, content_type: str) -> None:
    assert member.raw("/jobs", b"{}", content_type).status_code == 422


def test_a_large_body_is_not_read(member: Api) -> None:
    body = problem(member.raw("/jobs", b"x" * 1_048_577), 413, "BodyTooLarge")
    assert body["facts"] == {"most": 1_048_576}


@pytest.mark.parametrize(
    ("raw", "reason"),
    [
        (b"{", "NotJson"),
        (b"\xff", "NotUtf8"),
        (b"[]", "NotAnObject"),
        (b'{"a": 1, "a": 2}', "RepeatedName"),
        (b'{"a": {"b": 1, "b": 1}}', "RepeatedName"),
        (b'{"a": NaN}', "NotANumber"),
        (b'{"a": 1e999}', "NotANumber"),
        (b'{"a": ' + b"9" * 500 + b"}", "NumberTooLong"),
        (b'{"a": "\\ud800"}', "NotACharacter"),
        (b'{"a": ' + b"[" * 30 + b"]" * 30 + b"}", "TooDeep"),
    ],
)
def test_a_body_that_cannot_be_read_says_why(member: Api, raw: bytes, reason: str) -> None:
    problem(member.raw("/jobs", raw), 400, reason)


def test_an_unknown_path_is_a_problem_too(member: Api) -> None:
    problem(member.get("/nothing"), 404, "NotFound")
    problem(member.get("/jobs/not-a-key"), 404, "NotFound")


def test_what_may_not_be_seen_is_as_absent(cast: Cast, as_user: As) -> None:
    job = make.make_job(cast.alpha, cast.member)
    api = as_user(cast.outsider)
    foreign = problem(api.get(f"/jobs/{job.pk}"), 404, "NotFound")
    absent = problem(api.get("/jobs/00000000-0000-4000-8000-000000000000"), 404, "NotFound")
    assert foreign == absent


def test_a_denial_names_the_rule_and_is_audited(cast: Cast, as_user: As, wanted: dict[str, Any]) -> None:
    body = problem(as_user(cast.viewer).post("/jobs", wanted), 403, "NotPermitted")
    assert body["facts"]["permission"] == "job.ask" and "Alpha" in body["detail"]
    event = AuditEvent.objects.filter(verb="access.denied").latest("seq")
    assert (event.actor_id, event.after["act"]) == (cast.viewer.pk, "POST /api/v1/jobs")


def test_a_conflict_says_what_is_so_now(cast: Cast, as_user: As) -> None:
    job = make.make_job(cast.alpha, cast.member, state=JobState.SUCCEEDED)
    problem(as_user(cast.member).post(f"/jobs/{job.pk}/cancel"), 409, "JobEnded")


def test_wrong_fields_are_all_named_at_once(member: Api, wanted: dict[str, Any]) -> None:
    given = wanted | {"cpu": "-1", "memory": "٣Gi", "params": {"size_mib": 0, "colour": 1}}
    body = problem(member.post("/jobs", given), 422, "InvalidInput")
    assert {f["field"] for f in body["fields"]} == {"cpu", "memory", "size_mib", ""}
    assert all(f.keys() == {"field", "reason", "detail", "facts"} and f["detail"] for f in body["fields"])
    assert any("colour" in f["detail"] for f in body["fields"])


@pytest.mark.parametrize("language", ["zh-CN", "zh-Hans", "fr, zh-hans;q=0.8, en;q=0.5"])
def test_a_problem_is_translated_by_the_accepted_language(member: Api, language: str) -> None:
    response = member.get("/jobs", {"limit": "0"}, **{"Accept-Language": language})
    assert response.status_code == 422 and response["Content-Language"] == "zh-hans"
    body = response.json()
    assert body["title"] == "部分输入未被接受" and body["fields"][0]["detail"] == "请填写 1 到 200 之间的整数。"


def test_the_saved_language_of_a_person_does_not_overrule_what_the_client_accepts(cast: Cast) -> None:
    cast.member.language = "zh-hans"
    cast.member.save()
    browser = Client()
    browser.force_login(cast.member)
    assert browser.get("/api/v1/jobs", headers={"Accept-Language": "en"})["Content-Language"] == "en"


def test_the_accept_header_chooses_nothing(member: Api) -> None:
    response = member.get("/jobs", Accept="text/html, application/xml;q=0.9")
    assert (response.status_code, response["Content-Type"]) == (200, "application/json")


def test_what_the_framework_refuses_by_itself_has_the_same_shape() -> None:
    slow = exception_handler(exceptions.Throttled(wait=1.2), {})
    assert slow is not None and slow["Retry-After"] == "2" and slow.data.keys() == MEMBERS
    assert (slow.data["reason"], slow.data["facts"]) == ("TooManyRequests", {"retry_after": 2})
    other = exception_handler(exceptions.NotAcceptable(), {})
    assert other is not None and (other.status_code, other.data["reason"]) == (406, "BadRequest")
    assert exception_handler(ValueError(), {}) is None
