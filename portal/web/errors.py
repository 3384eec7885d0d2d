"""Error pages: reason, message, facts, next step, in the reader's language and with the true status."""

import json
import logging
import uuid
from dataclasses import dataclass, field
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.template import loader
from django.urls import NoReverseMatch, reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from portal.lib.clock import utc_now
from portal.lib.display import Tone
from portal.lib.errors import Denied, DomainError, FieldError
from portal.lib.problem import MEDIA_TYPE, TITLES, problem_body
from portal.web.csp import harden
from tenants.models import User
from tenants.services.record_denial import record_denial

log = logging.getLogger("portal.web.errors")


@dataclass(frozen=True, slots=True)
class Page:
    """How a status is introduced and what to do next when the refusal itself does not say."""

    title: str | Promise
    next_step: str | Promise
    tone: Tone = "warn"


PAGES: dict[int, Page] = {
    400: Page(TITLES[400], _("Go back, check what was entered and send it again.")),
    403: Page(TITLES[403], _("Ask someone who holds the role named above, or go back.")),
    404: Page(TITLES[404], _("Check the address, or find it from a list."), "off"),
    409: Page(TITLES[409], _("Go back and reload to see the present state, then decide again.")),
    422: Page(TITLES[422], _("Go back and correct the fields named below.")),
    429: Page(TITLES[429], _("Wait a moment, then try again.")),
    500: Page(TITLES[500], _("Try again; if it stays, report the support ID."), "bad"),
    503: Page(TITLES[503], _("Try again in a minute. Running jobs are not affected.")),
}


@dataclass(frozen=True, slots=True)
class Problem:
    """A refusal ready to be shown."""

    status: int
    reason: str
    message: str
    facts: dict[str, Any]
    fields: tuple[FieldError, ...] = ()
    page: Page = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "page", PAGES.get(self.status, PAGES[500 if self.status >= 500 else 400]))


def render_problem(request: HttpRequest, error: DomainError) -> HttpResponse:
    """The page of a refusal; a notice alone when only a part of a page was asked for (htmx)."""
    if error.detail:
        log.info("%s %s: %s", request.path, error.reason, error.detail)
    user = getattr(request, "user", None)
    if isinstance(error, Denied) and isinstance(user, User):
        record_denial(actor=user, error=error, act=f"{request.method} {request.path}", now=utc_now())
    response = _render(request, Problem(error.status, error.reason, error.text(), error.facts, error.fields))
    if "retry_after" in error.facts:
        response["Retry-After"] = str(error.facts["retry_after"])
    return response


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400: what Django itself refused to read."""
    message = _("The request is malformed or its sender is not trusted.")
    return _render(request, Problem(400, "BadRequest", str(message), {}))


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """403: refused by Django or a library; our own refusals carry facts and come as DomainError."""
    return _render(request, Problem(403, "Forbidden", str(_("This action is not allowed for you.")), {}))


def csrf_failure(request: HttpRequest, reason: str = "") -> HttpResponse:
    """403: the form is stale, or another site sent it."""
    log.info("%s CsrfFailed: %s", request.path, reason)
    message = _("This form has expired or came from another site. Reload the page and send it again.")
    return _render(request, Problem(403, "CsrfFailed", str(message), {}))


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404: no such address, or none this user may know of."""
    message = _("There is nothing here, or it is not visible to you.")
    return _render(request, Problem(404, "NotFound", str(message), {"path": request.path}))


def server_error(request: HttpRequest) -> HttpResponse:
    """500: drawn without database, session or user, because any of them may be what broke."""
    support_id = str(getattr(request, "request_id", None) or uuid.uuid4())
    log.error("support id %s: %s %s", support_id, request.method, request.path)
    message = _("The request was not completed. The error has been recorded.")
    problem = Problem(500, "InternalError", str(message), {"support_id": support_id})
    return _render(request, problem)


def _render(request: HttpRequest, problem: Problem) -> HttpResponse:
    if _wants_data(request):
        return _as_data(problem)
    # The shell needs a user, so authentication must have run; from 500 up its queries may be what fails.
    shell = problem.status < 500 and hasattr(request, "user")
    template = "errors/part.html" if _wants_part(request) else "errors/page.html" if shell else "errors/bare.html"
    page = loader.render_to_string(
        template, {"problem": problem, "home": _home()}, request if template == "errors/page.html" else None
    )
    return _sealed(HttpResponse(page, status=problem.status))


def _wants_part(request: HttpRequest) -> bool:
    htmx = getattr(request, "htmx", None)
    return htmx is not None and bool(htmx) and not htmx.boosted


def _wants_data(request: HttpRequest) -> bool:
    return request.path.startswith("/api/")


def _as_data(problem: Problem) -> HttpResponse:
    """The same four parts as problem+json (RFC 9457)."""
    body = problem_body(
        status=problem.status,
        reason=problem.reason,
        detail=problem.message,
        facts=problem.facts,
        fields=problem.fields,
    )
    text = json.dumps(body, default=str, ensure_ascii=False)
    return _sealed(HttpResponse(text, content_type=MEDIA_TYPE, status=problem.status))


def _sealed(response: HttpResponse) -> HttpResponse:
    response["Cache-Control"] = "no-store"
    harden(response)
    return response


def _home() -> str:
    try:
        return reverse("home")
    except NoReverseMatch:
        return "/"
