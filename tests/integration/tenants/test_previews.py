"""A preview says what a change would do as its page does, refuses what the change refuses, and stores nothing."""

import json

import pytest

from resources.models import RateVersion
from tenants.models import AuditEvent, Grant, Membership, Notice, Project, QuotaCell, Team, User
from tests import builders as make

ROOT = "/api/v1"
KEPT = (AuditEvent, Grant, Membership, Notice, Project, QuotaCell, RateVersion, Team, User)


@pytest.fixture
def ask(cast, as_user):
    """A preview of the platform administrator: path and body; status and data, after a look that nothing is stored."""
    client = as_user(cast.platform_admin)

    def stored():
        return [list(model.objects.order_by("pk").values()) for model in KEPT]

    def run(path, body=None, person=None):
        asked, before = (as_user(person) if person else client), stored()
        answer = asked.post(f"{ROOT}{path}/preview", data=json.dumps(body or {}), content_type="application/json")
        refused = answer.status_code in (403, 404)  # a refusal is kept in the audit trail, as it should
        assert refused or stored() == before
        return answer.status_code, answer.json()

    return run


def fields(found):
    return {item["name"]: (item["old"], item["new"]) for item in found["changes"]}


def said(found):
    return " | ".join(item["text"] for item in found["effects"])


def test_teams_and_projects(ask, cast):
    status, found = ask("/teams", {"parent": str(cast.models.pk), "name": "Speech", "slug": "speech"})
    assert status == 200 and fields(found)["name"] == ("", "Speech")
    assert fields(ask(f"/teams/{cast.models.pk}", {"name": "Language"})[1]) == {"name": ("Models", "Language")}
    status, refused = ask(f"/teams/{cast.models.pk}/delete")
    assert (status, refused["reason"]) == (409, "TeamNotEmpty")
    spare = make.make_team("spare", cast.models)
    assert "records in the audit trail stay" in said(ask(f"/teams/{spare.pk}/delete")[1])
    body = {"team": str(cast.models.pk), "name": "Voices", "slug": "voices"}
    assert "granted to Models and the teams above" in said(ask("/projects", body)[1])
    assert ask("/projects", body | {"slug": "alpha"})[0] == 422
    changed = ask(f"/projects/{cast.alpha.pk}", {"environment": "test"})[1]
    assert fields(changed) == {"environment": ("research", "test")}
    assert "jobs that wait are held back" in said(ask(f"/projects/{cast.alpha.pk}/archive")[1])
    assert "It takes jobs again" in said(ask(f"/projects/{cast.alpha.pk}/restore")[1])


def test_roles_and_accounts(ask, cast):
    body = {"username": "stranger", "role": "viewer"}
    found = ask(f"/projects/{cast.alpha.pk}/members", body)[1]
    assert fields(found)["role"] == ("", "Viewer") and "may look, and change nothing, in Alpha" in said(found)
    assert "in Models" in said(ask(f"/teams/{cast.models.pk}/members", body)[1])
    row = Membership.objects.get(user=cast.member)
    found = ask(f"/members/{row.pk}", {"role": "owner"})[1]
    assert fields(found)["role"] == ("Project member", "Project owner") and "next request" in said(found)
    assert "They hold no other role here" in said(ask(f"/members/{row.pk}/remove")[1])
    last = Membership.objects.get(user=cast.platform_admin)
    assert ask(f"/members/{last.pk}/remove")[1]["reason"] == "LastAdministrator"
    assert "holds no role" in said(ask("/people", {"username": "fresh", "display_name": "Fresh"})[1])
    blocked = ask(f"/people/{cast.member.pk}/active", {"active": False})[1]
    assert fields(blocked)["is_active"] == ("yes", "no") and "Project member · Alpha" in said(blocked)
    assert "open sessions end" in said(ask(f"/people/{cast.member.pk}/password")[1])


def test_grants_and_quotas(ask, cast):
    found = ask("/grants", {"team": str(cast.models.pk), "pool": "other", "largest_job_parts": 42_000})[1]
    assert "1 project below may use the pool" in said(found) and "No node is in this pool" in said(found)
    grant = Grant.objects.get(project=cast.alpha)
    found = ask(f"/grants/{grant.pk}", {"most_at_once": 3})[1]
    assert fields(found)["most_at_once"] == ("", "3") and "0 jobs run in the pool now" in said(found)
    assert "no job starts in Shared by this grant" in said(ask(f"/grants/{grant.pk}/end")[1])
    body = {"project": str(cast.alpha.pk), "pool": "shared", "class_key": "cpu", "nominal": 4_000}
    found = ask("/quotas", body)[1]
    assert fields(found)["nominal"] == ("", "4 cores") and "All nominal quotas sum up to 4 cores" in said(found)
    assert ask("/quotas", body | {"class_key": "no-such-class"})[0] == 422
    assert ask("/quotas", body | {"guarantee": 10**9})[1]["reason"] == "QuotaOutOfOrder"
    cell = make.set_cell(cast.alpha, "shared", "cpu", "cpu", nominal=1_000, ceiling=None)
    assert "No rule is left here" in said(ask(f"/quotas/{cell.pk}/delete")[1])


def test_rates(ask, cast):
    found = ask("/classes/cpu/rates", {"price_micro": 2_000_000, "weight_micro": None})[1]
    assert "no use of it is entered" in said(found)
    assert any("2" in new for _old, new in fields(found).values())
    early = {"price_micro": 1, "weight_micro": None, "valid_from": "2020-06-01T00:00:00Z"}
    assert ask("/classes/cpu/rates", early)[0] == 422


def test_who_may_not_change_it_may_not_try_it_either(ask, cast):
    body = {"project": str(cast.beta.pk), "pool": "shared", "class_key": "cpu", "nominal": 1}
    assert ask("/quotas", body, person=cast.member)[0] == 404
    own = body | {"project": str(cast.alpha.pk)}
    assert ask("/quotas", own, person=cast.member)[0] == 403
    assert ask("/classes/cpu/rates", {"price_micro": 1, "weight_micro": None}, person=cast.lead)[0] == 403
