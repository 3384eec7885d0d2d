"""The view every API starts from, and the decorator that reads a request and documents the operation."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import timedelta
from functools import wraps
from typing import Any, Final

from django.db.models import QuerySet
from django.utils import translation
from django.utils.translation import gettext_lazy as _
from django.utils.translation.trans_real import get_supported_language_variant, parse_accept_lang_header
from drf_spectacular.extensions import OpenApiAuthenticationExtension
from drf_spectacular.utils import OpenApiParameter, OpenApiResponse, extend_schema
from knox.auth import TokenAuthentication
from rest_framework.authentication import SessionAuthentication
from rest_framework.exceptions import AuthenticationFailed, PermissionDenied
from rest_framework.negotiation import BaseContentNegotiation
from rest_framework.permissions import SAFE_METHODS, BasePermission
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from portal.lib.clock import utc_now
from portal.lib.problem import MEDIA_TYPE
from portal.lib.rest.body import StrictJson
from portal.lib.rest.inputs import Input, Nothing
from portal.lib.rest.outputs import Problem, Shown
from portal.lib.rest.paging import page

USE_NOTED_EVERY: Final = timedelta(minutes=10)
_TOKEN: Final = re.compile(rb"[0-9a-f]{64}")


class Token(TokenAuthentication):
    """A personal token: `Authorization: Bearer …`."""

    def authenticate_header(self, request: Request) -> str:
        """The scheme of the header, and of WWW-Authenticate."""
        return "Bearer"

    def authenticate_credentials(self, token: bytes) -> Any:
        """User and token. What cannot be a token is refused before it reaches a decoder or the database."""
        if not _TOKEN.fullmatch(token):
            raise AuthenticationFailed
        user, found = super().authenticate_credentials(token)
        _note_use(found)
        return user, found


def _note_use(token: Any) -> None:
    """Keep when the token was last used, to within USE_NOTED_EVERY: a write at each request would cost more."""
    now = utc_now()
    if token.last_used is None or now - token.last_used >= USE_NOTED_EVERY:
        type(token).objects.filter(pk=token.pk).update(last_used=now)


class Session(SessionAuthentication):
    """The session of the pages, with their CSRF token in X-CSRFToken for whatever changes something."""

    def enforce_csrf(self, request: Request) -> None:
        """Raise PermissionDenied with a reason of its own."""
        try:
            super().enforce_csrf(request)
        except PermissionDenied as error:
            message = _("A session needs its CSRF token in the header X-CSRFToken; a personal token needs none.")
            raise PermissionDenied(message, code="CsrfFailed") from error


class SignedIn(BasePermission):
    """Somebody, and with a read-only token nothing that changes anything."""

    def has_permission(self, request: Request, view: APIView) -> bool:
        """False asks for a sign-in; a read-only token is told what it is."""
        if getattr(request.auth, "read_only", False) and request.method not in SAFE_METHODS:
            message = _("This token may only read. Make one that may also change things.")
            raise PermissionDenied(message, code="ReadOnlyToken")
        return bool(request.user.is_authenticated)


class AlwaysTheSame(BaseContentNegotiation):
    """JSON for everyone: the Accept header chooses nothing here."""

    def select_parser(self, request: Request, parsers: Iterable[Any]) -> Any:
        """The parser of the body's type, None for any other."""
        media_type = request.content_type.partition(";")[0].strip().lower()
        return next((parser for parser in parsers if parser.media_type == media_type), None)

    def select_renderer(
        self, request: Request, renderers: Iterable[Any], format_suffix: str | None = None
    ) -> tuple[Any, str]:
        """The one renderer there is."""
        renderer = next(iter(renderers))
        return renderer, renderer.media_type


class ApiView(APIView):
    """Tokens or session, strict JSON in, JSON out, the language of Accept-Language, nothing cached."""

    authentication_classes = [Token, Session]
    permission_classes = [SignedIn]
    parser_classes = [StrictJson]
    renderer_classes = [JSONRenderer]
    content_negotiation_class = AlwaysTheSame
    metadata_class = None
    http_method_names = ["get", "head", "post", "put", "patch", "delete"]

    @property
    def actor(self) -> Any:
        """Who asks. Behind `SignedIn` it is a user."""
        return self.request.user

    def initial(self, request: Request, *args: Any, **kwargs: Any) -> None:
        """Choose the language before anything can be refused."""
        translation.activate(_language(request.headers.get("Accept-Language", "")))
        super().initial(request, *args, **kwargs)

    def finalize_response(self, request: Request, response: Any, *args: Any, **kwargs: Any) -> Any:
        """Answers are for one person at one moment."""
        response.headers.setdefault("Cache-Control", "no-store")
        return super().finalize_response(request, response, *args, **kwargs)


def _language(accepted: str) -> str:
    """The first accepted language there is, else English; a client has no other way to say it."""
    for code, _quality in parse_accept_lang_header(accepted):
        try:
            return get_supported_language_variant(code)
        except LookupError:
            continue
    return "en"


Method = Callable[..., Any]


class Bytes(str):
    """A sentence about an answer that is a file."""

    __slots__ = ()


def endpoint(
    operation: str,
    summary: str,
    *,
    gives: Mapping[int, type[Shown] | str],
    query: type[Input] = Nothing,
    body: type[Input] | None = None,
    headers: Sequence[OpenApiParameter] = (),
    refuses: Sequence[int] = (),
    anyone: bool = False,
) -> Callable[[Method], Method]:
    """Reads query and body into one dict for the method, and documents all that the operation may answer.

    `gives` is what a status answers with: a shape, or a sentence for plain text ("" for nothing, `Bytes` for a
    file). `refuses` adds
    to what every operation may refuse. A POST without `body` still refuses one that is not empty.
    """
    refused = {422, *([] if anyone else [401]), *refuses}

    def decorate(method: Method) -> Method:
        reads_body = method.__name__ not in ("get", "delete")

        @wraps(method)
        def view(self: ApiView, request: Request, **path: Any) -> Any:
            given = query.read_query(request.query_params)
            if reads_body:
                given |= (body or Nothing).read(request.data)
            return method(self, request, given, **path)

        statuses = sorted(refused | ({400, 403, 413, 415} if reads_body else set()))
        documented: Method = extend_schema(
            operation_id=operation,
            summary=summary,
            request=body,
            parameters=[*headers, *([query] if query is not Nothing else [])],
            responses={
                **{_key(status, shape): _answer(shape) for status, shape in gives.items()},
                **{(status, MEDIA_TYPE): Problem for status in statuses},
            },
        )(view)
        return documented

    return decorate


def _key(status: int, shape: type[Shown] | str) -> tuple[int, str] | int:
    if isinstance(shape, Bytes):
        return (status, "application/octet-stream")
    return (status, "text/plain") if shape and isinstance(shape, str) else status


def _answer(shape: type[Shown] | str) -> Any:
    if not isinstance(shape, str):
        return shape
    schema = {"type": "string"} | ({"format": "binary"} if isinstance(shape, Bytes) else {})
    return OpenApiResponse(schema, description=shape) if shape else None


def answer(shape: type[Shown], value: Any, *, status: int = 200, **context: Any) -> Response:
    """The value in that shape; `context` is what the shape needs beside it."""
    return Response(shape(value, context=context).data, status=status)


def answer_page(
    shape: type[Shown], rows: QuerySet[Any], order: Sequence[str], given: Mapping[str, Any], **context: Any
) -> Response:
    """The page of the rows that the request asks for, see `paging.page`."""
    found, following = page(rows, order, given)
    return answer(shape, {"results": found, "next": following}, **context)


class TokenScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the documentation names a personal token."""

    target_class = "portal.lib.rest.view.Token"
    name = "token"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        """A bearer token."""
        return {"type": "http", "scheme": "bearer"}


class SessionScheme(OpenApiAuthenticationExtension):  # type: ignore[no-untyped-call]
    """How the documentation names the session of the pages."""

    target_class = "portal.lib.rest.view.Session"
    name = "session"

    def get_security_definition(self, auto_schema: Any) -> dict[str, Any]:
        """A cookie."""
        return {"type": "apiKey", "in": "cookie", "name": "sessionid"}
