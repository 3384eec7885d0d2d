"""A person's own notices, as data with the sentence in the language of Accept-Language.

They stand on the roof because a sentence may quote a reason of a job, which tenants does not know.
"""

import uuid
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from portal.lib.clock import utc_now
from portal.lib.errors import NotFound
from portal.lib.rest import inputs
from portal.lib.rest.outputs import Facts, Moment, Shown, Word, page_of
from portal.lib.rest.paging import PageQuery
from portal.lib.rest.view import ApiView, answer, answer_page, endpoint
from portal.web.notices import text_of
from tenants.models import Notice
from tenants.notify.events import GROUPS, Event
from tenants.selectors.notices import notices_of
from tenants.services.mark_notices_read import mark_notices_read


class NoticeQuery(PageQuery):
    """Which notices, newest first."""

    group = inputs.choice(tuple(GROUPS))
    unread = inputs.flag(help_text="Only those that are not read yet.")


class ReadUntil(inputs.Input):
    """Up to when."""

    until = inputs.moment(help_text="Only what happened up to this moment; without it all of them.")


class NoticeRow(Shown):
    """A notice."""

    id = serializers.UUIDField()
    event = Word("NoticeEvent", Event)
    subject_type = serializers.CharField()
    subject_id = serializers.CharField()
    facts = Facts()
    text = serializers.SerializerMethodField()
    at = Moment()
    read_at = Moment(allow_null=True)

    def get_text(self, notice: Notice) -> str:
        """The sentence."""
        return text_of(notice, utc_now())


class MarkedRead(Shown):
    """What a mark changed."""

    marked = serializers.IntegerField(help_text="How many were unread until now.")


NoticePage = page_of(NoticeRow)


class Notices(ApiView):
    """The reader's own notices."""

    @endpoint("list_notices", "Your notices", query=NoticeQuery, gives={200: NoticePage})
    def get(self, request: Request, given: dict[str, Any]) -> Response:
        """Newest first, read or not."""
        rows = notices_of(self.actor, group=given.get("group", ""), unread=given.get("unread", False))
        return answer_page(NoticePage, rows, ("-at", "-id"), given)


class AllRead(ApiView):
    """All of the reader's notices."""

    @endpoint("mark_notices_read", "Mark your notices read", body=ReadUntil, gives={200: MarkedRead})
    def post(self, request: Request, given: dict[str, Any]) -> Response:
        """Idempotent."""
        marked = mark_notices_read(actor=self.actor, until=given.get("until"), now=utc_now())
        return answer(MarkedRead, {"marked": marked})


class OneRead(ApiView):
    """One of the reader's notices."""

    @endpoint("mark_notice_read", "Mark a notice read", gives={200: MarkedRead}, refuses=(404,))
    def post(self, request: Request, given: dict[str, Any], key: uuid.UUID) -> Response:
        """Idempotent."""
        if not Notice.objects.filter(pk=key, recipient=self.actor).exists():
            raise NotFound(f"notice {key}")
        return answer(MarkedRead, {"marked": mark_notices_read(actor=self.actor, keys=[key], now=utc_now())})
