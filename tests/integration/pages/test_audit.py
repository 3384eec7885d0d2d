"""The audit pages: whose records one sees, filters, paging, export; and that refusals are recorded."""

import csv
import io
import json
from datetime import timedelta

import pytest
from django.db import DatabaseError

from tenants.models import AuditEvent
from tenants.selectors.audit import audit_visible_to
from tenants.services.record_audit import record_audit
from tests.builders import NOW


@pytest.fixture
def records(cast):
    """One record of each team, one of nobody's."""
    record_audit(actor=cast.owner, verb="test.alpha", target=cast.alpha, before={"a": 1}, after={"a": 2}, now=NOW)
    record_audit(actor=cast.outsider, verb="test.beta", target=cast.beta, result="failed", now=NOW)
    record_audit(actor=None, verb="test.system", now=NOW - timedelta(days=2))
    return cast


def seen(client, query: str = "") -> list[str]:
    page = client.get(f"/audit?verb=test.{query}").content.decode()
    return [verb for verb in ("test.alpha", "test.beta", "test.system") if f">{verb}<" in page]


@pytest.mark.parametrize(
    ("role", "verbs"),
    [
        ("platform_admin", ["test.alpha", "test.beta", "test.system"]),
        ("auditor", ["test.alpha", "test.beta", "test.system"]),
        ("team_auditor", ["test.alpha"]),
        ("lead", None),
        ("manager", None),
        ("owner", None),
        ("member", None),
        ("viewer", None),
        ("pool_admin", None),
        ("stranger", None),
    ],
)
def test_who_reads_which_records(records, as_user, role, verbs):
    client = as_user(records.person(role))
    if verbs is None:
        assert client.get("/audit").status_code == 403
        assert client.get("/audit?format=csv").status_code == 403
    else:
        assert seen(client) == verbs


def test_anonymous_readers_are_sent_to_sign_in(client, db):
    assert client.get("/audit")["Location"] == "/login?next=/audit"


@pytest.mark.parametrize(
    ("query", "verbs"),
    [
        ("&actor=owner", ["test.alpha"]),
        ("&result=failed", ["test.beta"]),
        ("&project=alpha", ["test.alpha"]),
        ("&project=Beta", ["test.beta"]),
        ("&since=2026-11-30", ["test.alpha", "test.beta"]),
        ("&until=2026-11-28", ["test.system"]),
        ("&until=2026-11-27", []),
        ("&since=2026-11-28&until=2026-11-28", ["test.system"]),
        ("alpha", ["test.alpha"]),
        ("&actor=owner&result=failed", []),
    ],
)
def test_filters(records, as_user, query, verbs):
    assert seen(as_user(records.auditor), query) == verbs


@pytest.mark.parametrize(
    "query",
    [
        {"result": "maybe"},
        {"since": "yesterday"},
        {"before": "-1"},
        {"before": "9" * 40},
        {"verb": "x" * 61},
        {"actor": "nul\0"},
    ],
)
def test_a_filter_that_makes_no_sense_is_refused_beside_its_field(records, as_user, query):
    response = as_user(records.auditor).get("/audit", query)
    assert response.status_code == 422
    assert "data-seq" not in response.content.decode()


@pytest.mark.parametrize("day", ["0001-01-01", "9999-12-31"])
def test_the_ends_of_the_calendar_are_no_error(records, as_user, day):
    client = as_user(records.auditor)
    assert client.get(f"/audit?since={day}").status_code == 200
    assert client.get(f"/audit?until={day}").status_code == 200


def test_values_before_and_after_stand_side_by_side_and_are_escaped(records, as_user):
    record_audit(
        actor=records.owner, verb="test.markup", target=records.alpha, before={"n": "<b>x</b>"}, after={"n": 7}, now=NOW
    )
    page = as_user(records.auditor).get("/audit?verb=test.markup").content.decode()
    assert "&lt;b&gt;x&lt;/b&gt; → 7" in page


def test_pages_follow_the_sequence_and_miss_nothing_when_records_arrive(records, as_user):
    for number in range(120):
        record_audit(actor=None, verb="many", after={"number": number}, now=NOW)
    client, found, url = as_user(records.auditor), [], "/audit?verb=many"
    while url:
        response = client.get(url)
        found += [event.seq for event, _, _ in response.context["rows"]]
        older = response.context["older"]
        record_audit(actor=None, verb="many", now=NOW)  # new records do not shift the pages below
        url = f"/audit{older}" if older else ""
    assert len(found) == len(set(found)) == 120
    assert found == sorted(found, reverse=True)


def test_csv_has_every_matching_record_the_reader_may_see(records, as_user):
    response = as_user(records.team_auditor).get("/audit?verb=test.&format=csv")
    text = b"".join(response.streaming_content).decode().removeprefix("\ufeff")
    (row,) = list(csv.DictReader(io.StringIO(text)))
    assert (row["verb"], row["target_name"], row["actor_name"]) == ("test.alpha", "Alpha", "Owner")
    assert (json.loads(row["before"]), json.loads(row["after"])) == ({"a": 1}, {"a": 2})


def test_a_refused_page_leaves_a_record_with_permission_and_facts(cast, as_user):
    as_user(cast.lead).get("/audit")
    record = AuditEvent.objects.get(verb="access.denied")
    assert (record.result, record.reason, record.actor_id) == ("denied", "NotPermitted", cast.lead.pk)
    assert record.after["permission"] == "audit.see"
    assert record.after["act"] == "GET /audit"
    assert record.after["facts"]["scope"] == "Organisation"
    assert (record.target_type, record.team_id) == ("Team", cast.organisation.pk)


def test_a_refusal_in_a_team_is_seen_by_the_auditor_of_that_team(cast, as_user):
    from django.test import RequestFactory

    from portal.lib.errors import Denied
    from portal.web.errors import render_problem
    from tenants import access

    request = RequestFactory().post("/projects/alpha")
    request.user = cast.viewer
    with pytest.raises(Denied) as refused:
        access.require(cast.viewer, "project.change", cast.alpha)
    assert render_problem(request, refused.value).status_code == 403
    (record,) = audit_visible_to(cast.team_auditor).filter(result="denied")
    assert (record.project_id, record.after["permission"]) == (cast.alpha.pk, "project.change")


def test_what_is_not_found_or_anonymous_leaves_no_denial(cast, as_user, client):
    as_user(cast.stranger).get(f"/nodes/{cast.node.pk}")
    client.get("/audit")
    client.get("/nowhere")
    assert not AuditEvent.objects.filter(result="denied").exists()


def test_a_refusal_that_cannot_be_written_down_is_still_answered(cast, as_user, monkeypatch):
    def fail(**_: object) -> None:
        raise DatabaseError("the trail is away")

    monkeypatch.setattr("tenants.services.record_denial.record_audit", fail)
    response = as_user(cast.lead).get("/audit")
    assert response.status_code == 403
    assert "NotPermitted" in response.content.decode()


def test_the_page_speaks_both_languages(records, as_user):
    records.auditor.language = "zh-hans"
    records.auditor.save()
    assert '<html lang="zh-Hans">' in as_user(records.auditor).get("/audit").content.decode()
