"""What every page needs around its own content; computed only where the page shell is drawn."""

from functools import cache
from typing import Any

from django.http import HttpRequest
from django.urls import NoReverseMatch, reverse
from django.utils.translation import get_language

from portal.lib import clock
from portal.web.nav import Item, main_role, nav_for
from tenants import access
from tenants.role_words import ROLE_WORDS
from tenants.roles import Role

# What the switch offers, in its own words; it is the one text that is never translated.
OTHER_LANGUAGE = {"en": ("zh-hans", "zh-Hans", "中文"), "zh-hans": ("en", "en", "English")}


def page(request: HttpRequest) -> dict[str, Any]:
    """`now`, `nav`, `role_word`, `language_switch`, `find_url`; the callables cost nothing on a partial."""

    @cache
    def roles() -> frozenset[Role]:
        user = getattr(request, "user", None)
        return access.permissions_anywhere(user) if user is not None else frozenset()

    @cache
    def nav() -> list[Item]:
        match = request.resolver_match
        return nav_for(roles(), (match.url_name or "") if match else "")

    def role_word() -> str:
        role = main_role(roles())
        return str(ROLE_WORDS[role]) if role else ""

    return {
        "now": clock.utc_now(),
        "nav": nav,
        "role_word": role_word,
        "language_switch": language_switch(request),
        "find_url": _url("job_list"),
    }


def language_switch(request: HttpRequest) -> dict[str, str]:
    """The other language, and the page to come back to: the one shown, as far as a GET can show it."""
    code, tag, label = OTHER_LANGUAGE.get(get_language() or "en", OTHER_LANGUAGE["en"])
    return {
        "url": _url("set_language"),
        "code": code,
        "tag": tag,
        "label": label,
        "next": request.get_full_path(),
    }


def _url(name: str) -> str:
    try:
        return reverse(name)
    except NoReverseMatch:
        return ""
