"""What PageMiddleware puts around every response."""

from collections.abc import Callable

import pytest
from django.http import HttpRequest, HttpResponse
from django.utils import translation

from portal.lib import request_context
from portal.lib.errors import Conflict
from portal.web.context import language_switch, page
from portal.web.csp import POLICY
from portal.web.middleware import PageMiddleware
from tenants.models import User

Get = Callable[..., HttpRequest]


def served(request: HttpRequest, view: Callable[[HttpRequest], HttpResponse]) -> HttpResponse:
    response = PageMiddleware(view)(request)
    assert isinstance(response, HttpResponse)
    return response


def test_every_response_is_hardened(get: Get) -> None:
    response = served(get(), lambda request: HttpResponse("ok"))
    assert response["Content-Security-Policy"] == POLICY
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["Referrer-Policy"] == "same-origin"
    assert "camera=()" in response["Permissions-Policy"]


@pytest.mark.parametrize("word", ["unsafe-inline", "unsafe-eval", "*", "http:", "https:", "blob:"])
def test_the_policy_lets_nothing_inline_or_foreign_in(word: str) -> None:
    assert word not in POLICY.split() and f"'{word}'" not in POLICY


def test_a_view_may_be_stricter(get: Get) -> None:
    response = served(get(), lambda request: HttpResponse(headers={"Content-Security-Policy": "default-src 'none'"}))
    assert response["Content-Security-Policy"] == "default-src 'none'"


def test_the_saved_language_wins_over_what_was_found_before(get: Get) -> None:
    request = get()
    request.user = User(username="wei", language="zh-hans")
    seen: list[str | None] = []
    with translation.override("en"):
        served(request, lambda r: HttpResponse(seen.append(translation.get_language())))
    assert seen == ["zh-hans"]


@pytest.mark.parametrize("saved", ["", "xx"])
def test_no_or_an_unknown_saved_language_changes_nothing(get: Get, saved: str) -> None:
    request = get()
    request.user = User(username="wei", language=saved)
    seen: list[str | None] = []
    with translation.override("en"):
        served(request, lambda r: HttpResponse(seen.append(translation.get_language())))
    assert seen == ["en"]


def test_the_audit_can_tell_who_asked_from_where_and_which_request(get: Get) -> None:
    seen: list[request_context.RequestContext] = []
    response = served(get(), lambda r: HttpResponse(seen.append(request_context.current())))
    assert seen[0].source_ip == "127.0.0.1"
    assert str(seen[0].request_id) == response["X-Request-ID"]
    assert request_context.current().request_id is None


def test_a_refusal_becomes_its_page_and_a_bug_does_not(get: Get) -> None:
    middleware = PageMiddleware(lambda request: HttpResponse())
    refused = middleware.process_exception(get(), Conflict("FactsChanged", "Changed."))
    assert refused is not None and refused.status_code == 409
    assert middleware.process_exception(get(), RuntimeError()) is None


def test_the_switch_offers_the_other_language_and_stays_on_the_page(get: Get) -> None:
    with translation.override("zh-hans"):
        switch = language_switch(get("/jobs?state=failed"))
    assert switch == {
        "url": "/language",
        "code": "en",
        "tag": "en",
        "label": "English",
        "next": "/jobs?state=failed",
    }


def test_the_shell_offers_an_anonymous_reader_no_navigation(get: Get) -> None:
    shell = page(get())
    assert shell["nav"]() == [] and shell["role_word"]() == ""
