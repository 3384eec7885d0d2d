"""Personal tokens: made with a session or a password, listed, deleted."""

import uuid
from typing import Any

from django.utils.translation import gettext_lazy as _
from rest_framework.exceptions import AuthenticationFailed, NotAuthenticated
from rest_framework.permissions import AllowAny, BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from portal.lib.clock import utc_now
from portal.lib.errors import Denied, FieldError, Invalid, NotFound
from portal.lib.rest.inputs import MISSING
from portal.lib.rest.paging import PageQuery
from portal.lib.rest.view import ApiView, SignedIn, answer_page, endpoint
from tenants.api.shapes import NewToken, TokenMade, TokenPage, TokenRow
from tenants.models import User
from tenants.selectors.tokens import tokens_of
from tenants.services.create_token import DAYS, create_token
from tenants.services.delete_token import delete_token
from tenants.services.verify_credentials import verify_credentials


class Tokens(ApiView):
    """The reader's own tokens."""

    def get_permissions(self) -> list[BasePermission]:
        """Whoever has no token yet may ask for one."""
        return [AllowAny() if self.request.method == "POST" else SignedIn()]

    @endpoint("list_tokens", "Your tokens that still work", query=PageQuery, gives={200: TokenPage})
    def get(self, request: Request, given: dict[str, Any]) -> Response:
        """Newest first; what they are is shown nowhere, only what they are called."""
        return answer_page(TokenPage, tokens_of(self.actor, utc_now()), ("-created", "-key"), given)

    @endpoint(
        "create_token",
        "Make a token",
        body=NewToken,
        gives={201: TokenMade},
        refuses=(401, 409, 429, 503),
        anyone=True,
    )
    def post(self, request: Request, given: dict[str, Any]) -> Response:
        """For the session's user, or for whom user name and password belong to. It is shown this once."""
        token, clear = create_token(
            user=_owner(request, given),
            name=given["name"],
            days=given.get("days", DAYS),
            read_only=given.get("read_only", False),
            now=utc_now(),
        )
        return Response({**TokenRow(token).data, "token": clear}, status=201)


class OneToken(ApiView):
    """One of the reader's own tokens."""

    @endpoint("delete_token", "Delete a token", gives={204: ""}, refuses=(403, 404))
    def delete(self, request: Request, given: dict[str, Any], key: uuid.UUID) -> Response:
        """From the next request on it is refused."""
        token = tokens_of(self.actor, utc_now()).filter(key=key).first()
        if token is None:
            raise NotFound(f"token {key}")
        delete_token(actor=self.actor, token=token, now=utc_now())
        return Response(status=204)


def _owner(request: Request, given: dict[str, Any]) -> User:
    """Whose the token will be. Raises Denied for a token that asks for another: it would outlive its own end."""
    if "username" in given or "password" in given:
        return _by_password(request, given)
    if request.auth is not None:
        raise Denied("TokenMakesNoToken", _("A token cannot make another. Use a session, or name and password."))
    if not isinstance(request.user, User):
        raise NotAuthenticated
    return request.user


def _by_password(request: Request, given: dict[str, Any]) -> User:
    missing = [name for name in ("username", "password") if not given.get(name)]
    if missing:
        raise Invalid.of(*(FieldError(name, "Missing", MISSING, {}) for name in missing))
    user = verify_credentials(
        username=given["username"],
        password=given["password"],
        address=str(request.META.get("REMOTE_ADDR") or ""),
        now=utc_now(),
    )
    if user is None:
        message = _("User name and password do not belong together.")
        raise AuthenticationFailed(message, code="WrongCredentials")
    return user
