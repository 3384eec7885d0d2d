"""Around every page: who asks and from where, the language they chose, refusals as pages, safe headers."""

import uuid
from collections.abc import Callable

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.utils import translation

from portal.lib.errors import DomainError
from portal.lib.request_context import RequestContext, serving
from portal.web.csp import harden
from portal.web.errors import render_problem
from portal.web.stages import require_page

Handler = Callable[[HttpRequest], HttpResponseBase]


class PageMiddleware:
    """Stands behind authentication, so that a saved language wins over the cookie and the browser."""

    def __init__(self, get_response: Handler) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        request_id = uuid.uuid4()
        request.request_id = request_id  # type: ignore[attr-defined]
        _speak(request)
        with serving(RequestContext(request_id, request.META.get("REMOTE_ADDR") or None)):
            response = self.get_response(request)
        response.headers["X-Request-ID"] = str(request_id)
        return harden(response)

    def process_view(self, request: HttpRequest, *_view: object) -> HttpResponseBase | None:
        """A page of a stage that is switched off is not there."""
        match = request.resolver_match
        try:
            require_page((match.url_name or "") if match else "")
        except DomainError as error:
            return render_problem(request, error)
        return None

    def process_exception(self, request: HttpRequest, error: Exception) -> HttpResponseBase | None:
        """A refusal that a view lets pass becomes the page of its status; anything else is not ours."""
        return render_problem(request, error) if isinstance(error, DomainError) else None


def _speak(request: HttpRequest) -> None:
    """Switch to the language saved with the user; without one, what LocaleMiddleware found stays."""
    saved = getattr(request.user, "language", "") if request.user.is_authenticated else ""
    if saved in dict(settings.LANGUAGES):
        translation.activate(saved)
        request.LANGUAGE_CODE = translation.get_language()
