"""Signing in and out: Django's views, with a limit before them and a record after them."""

from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView, LogoutView
from django.core.exceptions import NON_FIELD_ERRORS
from django.http import HttpRequest, HttpResponse

from portal.lib.clock import utc_now
from tenants.models import User
from tenants.services.limit_sign_in import limit_sign_in
from tenants.services.open_session import open_session
from tenants.services.record_audit import record_audit
from tenants.services.refuse_session import refuse_session


class SignIn(LoginView):
    """The form; a signed-in person is sent on."""

    redirect_authenticated_user = True

    def post(self, request: HttpRequest, *args: str, **kwargs: str) -> HttpResponse:
        """Count the try before the password is looked at."""
        username = request.POST.get("username", "")[:150]
        limit_sign_in(username=username, address=_address(request), now=utc_now())
        return super().post(request, *args, **kwargs)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        """Record it, then sign in."""
        user = form.get_user()
        assert isinstance(user, User)
        open_session(user=user, address=_address(self.request), now=utc_now())
        return super().form_valid(form)

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        """Record what was refused; a field left empty was no try."""
        if form.has_error(NON_FIELD_ERRORS):
            refuse_session(username=form.cleaned_data["username"], reason="WrongCredentials", now=utc_now())
        response = super().form_invalid(form)
        response.status_code = 422
        return response


class SignOut(LogoutView):
    """By POST only."""

    def post(self, request: HttpRequest, *args: str, **kwargs: str) -> HttpResponse:
        """Record it, then end the session."""
        if isinstance(request.user, User):
            record_audit(actor=request.user, verb="session.signed_out", target=request.user, now=utc_now())
        return super().post(request, *args, **kwargs)


def _address(request: HttpRequest) -> str:
    return str(request.META.get("REMOTE_ADDR") or "")
