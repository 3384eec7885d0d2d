"""The language switch: a cookie for everyone, and the user's own record for those signed in."""

from django.conf import settings
from django.http import HttpRequest, HttpResponseBase
from django.views.decorators.http import require_POST
from django.views.i18n import set_language as set_language_cookie


@require_POST
def set_language(request: HttpRequest) -> HttpResponseBase:
    """Store the choice and go back to the page it was made on."""
    code = request.POST.get("language", "")
    user = request.user
    if user.is_authenticated and code in dict(settings.LANGUAGES):
        user.language = code
        user.save(update_fields=["language"])
    return set_language_cookie(request)
