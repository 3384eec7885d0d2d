"""The inbox: what a person reads there, what marks it read, and the bell that counts it."""

import json
import re
from datetime import timedelta

import pytest
from django.test import Client

from tenants.models import Notice
from tenants.notify.events import EVENTS, GROUPS, Event
from tests import builders as make
from tests.builders import NOW, ago


def tell(user, event=Event.ROLE_GRANTED, *, at=None, read=False, subject_type="Membership", subject_id="x", **facts):
    number = Notice.objects.count()
    return Notice.objects.create(
        dedupe_key=f"test:{number}",
        recipient=user,
        event=event,
        subject_type=subject_type,
        subject_id=str(subject_id),
        facts=facts,
        at=at or NOW,
        read_at=NOW if read else None,
    )


def texts(page: str) -> list[str]:
    rows = re.findall(r'<tr data-event="[^"]+".*?</tr>', page, flags=re.DOTALL)
    return [re.sub(r"<[^>]+>|\s+", " ", row) for row in rows]


def test_unread_come_first_then_the_newest(cast, as_user):
    tell(cast.member, at=ago(minutes=1), read=True, role="member", scope="Read new")
    tell(cast.member, at=ago(days=2), role="member", scope="Unread old")
    tell(cast.member, at=ago(days=1), role="member", scope="Unread newer")
    found = texts(as_user(cast.member).get("/inbox").content.decode())
    assert [next(n for n in ("Read new", "Unread old", "Unread newer") if n in t) for t in found] == [
        "Unread newer",
        "Unread old",
        "Read new",
    ]


def test_a_job_that_failed_is_told_with_its_reason_in_the_readers_language_and_leads_to_it(cast, as_user):
    job = make.make_job(cast.alpha, cast.member, name="night-run", state="FAILED")
    facts = {"job": "night-run", "reason": "MemoryLimit", "reason_facts": {"max": make.GIB, "resource": "memory"}}
    tell(cast.member, Event.JOB_FAILED, subject_type="Job", subject_id=job.pk, **facts)
    client = as_user(cast.member)
    page = client.get("/inbox").content.decode()
    assert "night-run failed: Memory use reached 1 GiB and the process was ended." in page
    assert f'href="/jobs/{job.pk}"' in page
    cast.member.language = "zh-hans"
    cast.member.save()
    page = as_user(cast.member).get("/inbox").content.decode()
    assert "Memory use reached" not in page and "内存" in page


def test_filters_narrow_and_an_empty_inbox_differs_from_no_match(cast, as_user):
    client = as_user(cast.member)
    assert "Nothing to tell you yet" in client.get("/inbox").content.decode()
    tell(cast.member, read=True, role="member", scope="Alpha")
    tell(cast.member, Event.QUOTA_CHANGED, scope="Alpha", pool="shared")
    assert len(texts(client.get("/inbox").content.decode())) == 2
    assert len(texts(client.get("/inbox?unread=1").content.decode())) == 1
    assert len(texts(client.get("/inbox?group=access").content.decode())) == 1
    page = client.get("/inbox?group=fleet").content.decode()
    assert "No notice matches" in page
    assert len(texts(client.get("/inbox?group=nonsense").content.decode())) == 2


def test_marking_is_the_readers_own_act_and_may_be_repeated(cast, as_user):
    mine, others = tell(cast.member, role="member", scope="A"), tell(cast.owner, role="owner", scope="B")
    client = as_user(cast.member)
    for _ in range(2):
        assert client.post(f"/inbox/{mine.pk}/read")["Location"] == "/inbox"
    assert client.post(f"/inbox/{others.pk}/read").status_code == 404
    assert client.post("/inbox/read").status_code == 302
    mine.refresh_from_db()
    others.refresh_from_db()
    assert mine.read_at == NOW and others.read_at is None


def test_open_marks_it_read_and_goes_to_what_it_is_about(cast, as_user):
    job = make.make_job(cast.alpha, cast.member)
    notice = tell(cast.member, Event.JOB_SUCCEEDED, subject_type="Job", subject_id=job.pk, job=job.name)
    assert as_user(cast.member).post(f"/inbox/{notice.pk}/read", {"open": "1"})["Location"] == f"/jobs/{job.pk}"
    notice.refresh_from_db()
    assert notice.read_at == NOW


def test_mark_all_leaves_what_arrived_after_the_page_was_drawn(cast, as_user):
    old = tell(cast.member, at=ago(minutes=5), role="member", scope="A")
    late = tell(cast.member, at=NOW, role="member", scope="B")
    client = as_user(cast.member)
    client.post("/inbox/read", {"until": ago(minutes=1).isoformat()})
    assert list(Notice.objects.filter(read_at__isnull=True)) == [late]
    client.post("/inbox/read", {"until": "no moment \x00"})
    assert not Notice.objects.filter(read_at__isnull=True).exists()
    old.refresh_from_db()
    assert old.read_at == NOW


def test_the_bell_counts_to_ninety_nine_on_every_page(cast, as_user):
    client = as_user(cast.member)
    assert "Inbox, nothing unread" in client.get("/templates").content.decode()
    tell(cast.member, role="member", scope="A")
    assert "Inbox, 1 unread notice" in client.get("/templates").content.decode()
    for _ in range(120):
        tell(cast.member, role="member", scope="A")
    part = client.get("/inbox/count").content.decode()
    assert "<b>99+</b>" in part and "<html" not in part
    assert "Inbox, nothing unread" in as_user(cast.owner).get("/inbox/count").content.decode()


def test_the_inbox_costs_the_same_however_full_it_is(cast, as_user, django_assert_max_num_queries):
    for number in range(60):
        tell(cast.member, at=NOW - timedelta(minutes=number), role="member", scope=f"S{number}")
    client = as_user(cast.member)
    with django_assert_max_num_queries(12):
        client.get("/inbox")


def test_the_api_lists_marks_and_never_shows_anothers(cast, as_user):
    mine = tell(cast.member, role="member", scope="Alpha")
    other = tell(cast.owner, role="owner", scope="Alpha")
    client: Client = as_user(cast.member)
    body = client.get("/api/v1/notices?unread=true").json()
    assert [row["id"] for row in body["results"]] == [str(mine.pk)]
    assert body["results"][0]["text"] == "You now hold the role Project member in Alpha."
    token = {"content_type": "application/json"}
    assert client.post(f"/api/v1/notices/{other.pk}/read", **token).status_code == 404
    assert client.post(f"/api/v1/notices/{mine.pk}/read", **token).json() == {"marked": 1}
    assert client.post("/api/v1/notices/read", data=json.dumps({"until": NOW.isoformat()}), **token).json() == {
        "marked": 0
    }


@pytest.mark.parametrize("event", Event)
def test_every_event_has_words_a_group_and_a_sentence(event, cast, as_user):
    assert EVENTS[event].group in GROUPS
    tell(cast.member, event)
    page = as_user(cast.member).get("/inbox").content.decode()
    (text,) = texts(page)
    assert "{" not in text and event.value not in text
