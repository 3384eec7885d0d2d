"""What every page needs around its own content; computed only where the page shell is drawn."""

from functools import cache
from typing import Any

from django.http import HttpRequest
from django.utils.translation import get_language

from portal.lib import clock
from portal.web.demo.progress import progress_now
from portal.web.nav import Item, address, main_role, nav_for, section_of, tabs_for
from resources.selectors.fleet import simulated_names
from tenants import access
from tenants.role_words import ROLE_WORDS
from tenants.roles import Role
from tenants.selectors.notices import unread_count

# What the switch offers, in its own words; it is the one text that is never translated.
OTHER_LANGUAGE = {"en": ("zh-hans", "zh-Hans", "中文"), "zh-hans": ("en", "en", "English")}


def page(request: HttpRequest) -> dict[str, Any]:
    """What the shell draws; the callables cost nothing on a partial."""
    match = request.resolver_match
    here = (match.url_name or "") if match else ""

    @cache
    def roles() -> frozenset[Role]:
        user = getattr(request, "user", None)
        return access.permissions_anywhere(user) if user is not None else frozenset()

    @cache
    def nav() -> list[Item]:
        return nav_for(roles(), here)

    @cache
    def section_tabs() -> list[Item]:
        return tabs_for(roles(), here)

    @cache
    def unread() -> int:
        user = getattr(request, "user", None)
        return unread_count(user) if user is not None else 0

    def role_word() -> str:
        role = main_role(roles())
        return str(ROLE_WORDS[role]) if role else ""

    return {
        "now": clock.utc_now(),
        "nav": nav,
        "section_tabs": section_tabs,
        "section_name": section_of(here),
        "unread": unread,
        "seeding": progress_now,
        "simulated_anywhere": simulated_names,
        "role_word": role_word,
        "language_switch": language_switch(request),
        "find_url": address("job_list"),
        "about_url": address("about"),
        "tokens_url": address("token_list"),
    }


def language_switch(request: HttpRequest) -> dict[str, str]:
    """The other language, and the page to come back to: the one shown, as far as a GET can show it."""
    code, tag, label = OTHER_LANGUAGE.get(get_language() or "en", OTHER_LANGUAGE["en"])
    return {
        "url": address("set_language"),
        "code": code,
        "tag": tag,
        "label": label,
        "next": request.get_full_path(),
    }
