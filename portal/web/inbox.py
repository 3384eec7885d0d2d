"""The inbox: what a person was told, unread first, and the bell that counts it."""

from datetime import datetime
from urllib.parse import urlencode
from uuid import UUID

from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils.dateparse import parse_datetime
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET, require_POST

from portal.lib.clock import utc_now
from portal.lib.display import Link
from portal.lib.errors import NotFound
from portal.lib.pages import page_of, word
from portal.lib.signin import signed_in
from portal.web.notices import address_of, row_of
from tenants.models import Notice, User
from tenants.notify.events import GROUPS
from tenants.selectors.notices import notices_of, unread_count
from tenants.services.mark_notices_read import mark_notices_read


@require_GET
@signed_in
def inbox(request: HttpRequest) -> HttpResponse:
    """The reader's notices, filtered by `?group=` and `?unread=1`."""
    now = utc_now()
    group, unread = word(request, "group"), word(request, "unread") == "1"
    page = page_of(request, notices_of(request.user, group=group if group in GROUPS else "", unread=unread))
    context = {
        "page": page,
        "rows": [row_of(notice, now) for notice in page],
        "links": _links(group, unread),
        "filtered": bool(group or unread),
        "any_unread": unread_count(request.user) > 0,
        "now": now,
    }
    return render(request, "portal/inbox.html", context)


@require_GET
@signed_in
def inbox_count(request: HttpRequest) -> HttpResponse:
    """The bell alone, for the header's own poll."""
    return render(request, "ui/bell.html", {"unread": unread_count(request.user)})


@require_POST
@signed_in
def notice_read(request: HttpRequest, key: UUID) -> HttpResponse:
    """Mark one read; with `open` go on to what it is about, else back to the inbox."""
    user = _reader(request)
    notice = Notice.objects.filter(pk=key, recipient=user).first()
    if notice is None:
        raise NotFound(f"notice {key}")
    mark_notices_read(actor=user, keys=[key], now=utc_now())
    onward = address_of(notice) if "open" in request.POST else ""
    return redirect(onward or _back(request))


@require_POST
@signed_in
def notices_read(request: HttpRequest) -> HttpResponse:
    """Mark all read that the page could have shown, see `until`."""
    now = utc_now()
    mark_notices_read(actor=_reader(request), until=_moment(request.POST.get("until", "")) or now, now=now)
    return redirect(_back(request))


def _reader(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user


def _moment(text: str) -> datetime | None:
    try:
        found = parse_datetime(text)
    except ValueError:
        return None
    return found if found and found.tzinfo else None


def _back(request: HttpRequest) -> str:
    """The inbox with the filters it had."""
    kept = {name: request.POST.get(name, "")[:20] for name in ("group", "unread")}
    query = urlencode({name: value for name, value in kept.items() if value})
    return reverse("inbox") + (f"?{query}" if query else "")


def _links(group: str, unread: bool) -> list[Link]:
    """Chips that set or take off one filter and keep the other."""

    def url(**changes: str) -> str:
        given = {"unread": "1" if unread else "", "group": group} | changes
        return "?" + urlencode({name: value for name, value in given.items() if value})

    links = [Link(_("Unread"), url(unread="" if unread else "1"), current=unread)]
    return links + [
        Link(str(label), url(group="" if key == group else key), current=key == group) for key, label in GROUPS.items()
    ]
