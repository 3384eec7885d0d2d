"""Refusals as pages, parts and data: four parts, both languages, the true status."""

import json
from collections.abc import Callable
from types import SimpleNamespace

import pytest
from django.http import HttpRequest
from django.test import RequestFactory

from portal.lib.errors import Conflict, Denied, DomainError, FieldError, Invalid, NotFound, TooMany, Unavailable
from portal.web import errors
from tests.unit.web.conftest import check

Get = Callable[..., HttpRequest]
REFUSALS: list[DomainError] = [
    Denied("NotPermitted", "Needs role {role}.", facts={"role": "lead", "contact": "Lin Yue"}),
    NotFound(),
    Conflict("FactsChanged", "The quota is {now} now.", facts={"now": 12}),
    TooMany("RateLimited", "At most {limit} a minute.", facts={"limit": 10, "retry_after": 12}),
    Unavailable("ClusterSilent", "Cluster {cluster} does not answer.", facts={"cluster": "c1"}),
]


@pytest.mark.parametrize("error", REFUSALS, ids=lambda e: e.reason)
def test_a_refusal_is_a_page_with_four_parts(language: str, get: Get, error: DomainError) -> None:
    response = errors.render_problem(get("/x"), error)
    html = response.content.decode()
    check(html)
    assert response.status_code == error.status
    assert f'data-reason="{error.reason}"' in html
    assert error.text() in html
    assert all(str(value) in html for value in error.facts.values())
    assert str(errors.PAGES[error.status].next_step) in html
    assert f'<html lang="{"en" if language == "en" else "zh-Hans"}">' in html


def test_a_refusal_with_a_wait_says_it_to_the_client_too(get: Get) -> None:
    assert errors.render_problem(get(), REFUSALS[3])["Retry-After"] == "12"


def test_bad_fields_are_named(get: Get) -> None:
    error = Invalid.of(FieldError("cards", "AboveMaximum", "At most {most}.", {"most": 8}))
    response = errors.render_problem(get(), error)
    assert response.status_code == 422
    assert "cards" in response.content.decode() and "At most 8." in response.content.decode()


def test_facts_are_escaped(get: Get) -> None:
    error = Denied("NotPermitted", "No {what}.", facts={"what": "<script>alert(1)</script>"})
    assert b"<script>alert" not in errors.render_problem(get(), error).content


@pytest.mark.parametrize("error", REFUSALS, ids=lambda e: e.reason)
def test_htmx_gets_a_notice_and_no_page(language: str, get: Get, error: DomainError) -> None:
    request = get()
    request.htmx = SimpleNamespace(boosted=False)  # type: ignore[attr-defined]
    html = errors.render_problem(request, error).content.decode()
    check(html)
    assert "<html" not in html and error.text() in html and 'role="alert"' in html


@pytest.mark.parametrize(
    ("view", "status", "reason"),
    [
        (lambda r: errors.bad_request(r, Exception()), 400, "BadRequest"),
        (lambda r: errors.permission_denied(r, Exception()), 403, "Forbidden"),
        (lambda r: errors.csrf_failure(r, "no cookie"), 403, "CsrfFailed"),
        (lambda r: errors.not_found(r, Exception()), 404, "NotFound"),
        (errors.server_error, 500, "InternalError"),
    ],
)
def test_what_django_refuses_looks_the_same(
    language: str, get: Get, view: Callable[[HttpRequest], object], status: int, reason: str
) -> None:
    response = view(get("/x"))
    assert response.status_code == status  # type: ignore[attr-defined]
    html = response.content.decode()  # type: ignore[attr-defined]
    check(html)
    assert f'data-reason="{reason}"' in html and str(errors.PAGES[status].title) in html


def test_a_crash_before_authentication_still_has_a_page(language: str) -> None:
    response = errors.server_error(RequestFactory().get("/x"))
    assert response.status_code == 500
    assert b"support_id" in response.content and response["Cache-Control"] == "no-store"
    assert "frame-ancestors 'none'" in response["Content-Security-Policy"]


def test_the_reason_django_gives_for_a_forged_form_is_not_shown(get: Get) -> None:
    assert b"secret detail" not in errors.csrf_failure(get(), "secret detail").content


def test_the_api_gets_data(language: str, get: Get) -> None:
    response = errors.not_found(get("/api/v1/nothing"), Exception())
    body = json.loads(response.content)
    assert response["Content-Type"] == "application/problem+json"
    assert (body["status"], body["reason"], body["facts"]) == (404, "NotFound", {"path": "/api/v1/nothing"})
