"""A refusal as problem+json (RFC 9457), and what the REST framework refuses by itself in the same shape.

Our own refusals (`DomainError`) pass the handler and are answered, logged and audited where those of pages are.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from rest_framework import exceptions
from rest_framework.response import Response

from portal.lib.errors import FieldError, fill

MEDIA_TYPE = "application/problem+json"
TITLES: dict[int, str | Promise] = {
    400: _("The request could not be read"),
    401: _("Not signed in"),
    403: _("Not allowed"),
    404: _("Nothing here"),
    405: _("Not possible with this method"),
    409: _("The facts have changed"),
    413: _("The request is too large"),
    415: _("The request is of another type"),
    422: _("Some input is not accepted"),
    429: _("Too many requests"),
    500: _("Something went wrong on our side"),
    503: _("A part of the portal does not answer"),
}


def problem_body(
    *, status: int, reason: str, detail: str, facts: Mapping[str, Any], fields: Iterable[FieldError] = ()
) -> dict[str, Any]:
    """The members of a problem in the active language. Facts may hold anything `json.dumps(default=str)` writes."""
    return {
        "type": "about:blank",
        "title": str(TITLES.get(status, TITLES[500 if status >= 500 else 400])),
        "status": status,
        "reason": reason,
        "detail": detail,
        "facts": dict(facts),
        "fields": [{"field": f.field, "reason": f.reason, "detail": f.text(), "facts": dict(f.facts)} for f in fields],
    }


def exception_handler(error: Exception, context: Mapping[str, Any]) -> Response | None:
    """The answer to what the framework raised; None lets any other error pass to the middleware."""
    if not isinstance(error, exceptions.APIException):
        return None
    reason, message, facts = _said(error, context)
    body = problem_body(status=error.status_code, reason=reason, detail=fill(message, facts), facts=facts)
    return Response(body, status=error.status_code, headers=_headers(error), content_type=MEDIA_TYPE)


_WORDS: dict[type[exceptions.APIException], tuple[str, str | Promise]] = {
    exceptions.NotAuthenticated: ("NotAuthenticated", _("Sign in, or send a token in the Authorization header.")),
    exceptions.AuthenticationFailed: ("TokenRefused", _("This token is not known, has expired or was deleted.")),
    exceptions.PermissionDenied: ("Forbidden", _("This action is not allowed for you.")),
    exceptions.NotFound: ("NotFound", _("There is nothing here, or it is not visible to you.")),
    exceptions.MethodNotAllowed: (
        "MethodNotAllowed",
        _("{method} is not possible here. Possible: {allowed}."),
    ),
    exceptions.UnsupportedMediaType: (
        "UnsupportedMediaType",
        _("The body must be JSON, with the content type {expected}."),
    ),
    exceptions.Throttled: ("TooManyRequests", _("Too many requests. Try again in {retry_after} seconds.")),
}
_OTHERWISE = ("BadRequest", _("The request is malformed or its sender is not trusted."))


def _said(error: exceptions.APIException, context: Mapping[str, Any]) -> tuple[str, str | Promise, dict[str, Any]]:
    """Reason, message and facts. An error raised with a reason of its own (PascalCase code) brings its words."""
    code = error.get_codes()
    if isinstance(code, str) and code[:1].isupper():
        return code, str(error.detail), {}
    reason, message = next((said for kind, said in _WORDS.items() if isinstance(error, kind)), _OTHERWISE)
    return reason, message, _facts(error, context)


def _facts(error: exceptions.APIException, context: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(error, exceptions.MethodNotAllowed):
        return {"method": str(context["request"].method), "allowed": ", ".join(context["view"].allowed_methods)}
    if isinstance(error, exceptions.UnsupportedMediaType):
        return {"expected": "application/json"}
    if isinstance(error, exceptions.Throttled):
        return {"retry_after": _wait(error)}
    return {}


def _headers(error: exceptions.APIException) -> dict[str, str]:
    headers = {}
    if getattr(error, "auth_header", None):
        headers["WWW-Authenticate"] = str(error.auth_header)  # type: ignore[attr-defined]
    if isinstance(error, exceptions.Throttled):
        headers["Retry-After"] = str(_wait(error))
    return headers


def _wait(error: exceptions.Throttled) -> int:
    return math.ceil(getattr(error, "wait", None) or 1)
