"""What the pages of tenants can do, the API can: with a reason, from the same services."""

import json

import pytest

from tenants.models import AuditEvent, Grant, Membership, Project, QuotaCell, Team

ROOT = "/api/v1"
WHY = {"reason": "By script"}


@pytest.fixture
def call(cast, as_user):
    """A call of the platform administrator: method, path below /api/v1, body; the status and the answer's data."""
    client = as_user(cast.platform_admin)

    def run(method: str, path: str, body: dict | None = None):
        data = "" if body is None else json.dumps(body)
        answer = client.generic(method, ROOT + path, data=data, content_type="application/json")
        return answer.status_code, answer.json() if answer.content else None

    return run


def test_a_team_and_a_project_from_their_making_to_their_end(call, cast):
    status, team = call("POST", "/teams", {**WHY, "parent": str(cast.models.pk), "name": "Speech", "slug": "speech"})
    assert status == 201 and team["parent"] == str(cast.models.pk)
    status, project = call("POST", "/projects", {**WHY, "team": team["id"], "name": "Voices", "slug": "voices"})
    assert status == 201 and project["environment"] == "research"
    assert call("PATCH", f"/projects/{project['id']}", {**WHY, "environment": "test"})[1]["name"] == "Voices"
    assert call("PATCH", f"/teams/{team['id']}", {**WHY, "contact": "Lin"})[1]["contact"] == "Lin"
    assert call("POST", f"/projects/{project['id']}/archive", WHY)[1]["held_reason"] == "ProjectArchived"
    assert call("POST", f"/projects/{project['id']}/restore", WHY)[1]["archived_at"] is None
    status, problem = call("POST", f"/teams/{team['id']}/delete", WHY)
    assert (status, problem["reason"], problem["facts"]["projects"]) == (409, "TeamNotEmpty", 1)
    Project.objects.filter(pk=project["id"]).delete()
    assert call("POST", f"/teams/{team['id']}/delete", WHY)[0] == 204
    assert not Team.objects.filter(slug="speech").exists()
    assert set(AuditEvent.objects.filter(actor_name="Admin").values_list("note", flat=True)) == {"By script"}


def test_a_role_is_given_changed_and_taken(call, cast):
    status, member = call(
        "POST", f"/projects/{cast.alpha.pk}/members", {**WHY, "username": "stranger", "role": "member"}
    )
    assert (status, member["project"], member["team"], member["user"]["username"]) == (201, "alpha", None, "stranger")
    status, changed = call("PATCH", f"/members/{member['id']}", {**WHY, "role": "viewer"})
    assert (status, changed["role"]) == (200, "viewer")
    held = call("GET", f"/projects/{cast.alpha.pk}/members")[1]["results"]
    assert ("stranger", "viewer") in [(m["user"]["username"], m["role"]) for m in held]
    assert ("lead", "models") in [(m["user"]["username"], m["team"]) for m in held]
    assert call("POST", f"/members/{changed['id']}/remove", WHY)[0] == 204
    assert not Membership.objects.filter(user=cast.stranger).exists()
    row = Membership.objects.get(user=cast.platform_admin)
    assert call("POST", f"/members/{row.pk}/remove", WHY)[1]["reason"] == "LastAdministrator"


def test_a_pool_is_granted_changed_and_the_grant_ended(call, cast):
    status, grant = call("POST", "/grants", {**WHY, "team": str(cast.vision.pk), "pool": "other", "most_at_once": 2})
    assert (status, grant["most_at_once"], grant["valid_to"]) == (201, 2, None)
    status, changed = call("PATCH", f"/grants/{grant['id']}", {**WHY, "most_at_once": None, "largest_job_parts": 0})
    assert (status, changed["most_at_once"], changed["largest_job_parts"]) == (200, None, 0)
    assert grant["id"] in [row["id"] for row in call("GET", "/grants?pool=other")[1]["results"]]
    assert call("POST", f"/grants/{grant['id']}/end", WHY)[0] == 204
    assert not Grant.objects.filter(pk=grant["id"], valid_to=None).exists()
    nowhere = call("POST", "/grants", {**WHY, "team": str(cast.vision.pk), "pool": "nowhere"})
    assert (nowhere[0], nowhere[1]["fields"][0]["reason"]) == (422, "PoolNotFound")
    assert call("POST", "/grants", {**WHY, "pool": "other"})[1]["fields"][0]["reason"] == "OneTenant"


def test_a_quota_is_set_and_deleted_and_over_commit_needs_its_flag(call, cast):
    body = {**WHY, "project": str(cast.alpha.pk), "pool": "shared", "class_key": "cpu", "guarantee": 9_000}
    status, problem = call("PUT", "/quotas", body)
    assert (status, problem["fields"][0]["reason"]) == (422, "OverCommitted")
    status, cell = call("PUT", "/quotas", {**body, "overcommit": True})
    assert (status, cell["guarantee"], cell["nominal"], cell["resource"]) == (200, 9_000, None, "cpu")
    assert [row["id"] for row in call("GET", "/quotas")[1]["results"]] == [cell["id"]]
    assert call("POST", f"/quotas/{cell['id']}/delete", WHY)[0] == 204 and not QuotaCell.objects.exists()


def test_an_account_is_made_blocked_and_let_in(call, cast):
    status, made = call("POST", "/people", {**WHY, "username": "fresh", "display_name": "Fresh"})
    assert status == 201 and len(made["password"]) >= 20
    for active in (False, True):
        assert call("POST", f"/people/{made['id']}/active", {**WHY, "active": active})[1]["active"] is active
    assert call("POST", f"/people/{made['id']}/password", WHY)[1]["password"] != made["password"]
    assert "fresh" in [row["username"] for row in call("GET", "/people?q=FRE")[1]["results"]]


def test_the_permission_table_and_the_chain_are_read(call):
    rows = {row["role"]: row for row in call("GET", "/roles")[1]["results"]}
    assert rows["lead"]["held_in"] == ["team"] and "team.change" in rows["lead"]["permissions"]
    assert call("GET", "/audit/chain")[1]["holds"] is True
    assert {row["target_type"] for row in call("GET", "/audit?team=models&target_type=Team")[1]["results"]} == {"Team"}


@pytest.mark.parametrize("reason", [None, "", " ", "\u200d", "nul\0", 7])
def test_nothing_is_changed_without_a_reason(call, cast, reason):
    body = {"name": "Other"} if reason is None else {"name": "Other", "reason": reason}
    status, problem = call("PATCH", f"/teams/{cast.models.pk}", body)
    assert (status, problem["fields"][0]["field"]) == (422, "reason")
    assert Team.objects.get(pk=cast.models.pk).name == "Models"
