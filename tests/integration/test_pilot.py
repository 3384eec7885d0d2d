"""The smallest pilot: the same from the command line, the wizard and the API; what is there is left alone."""

import io
import json
import re

import pytest
from django.core.management import CommandError, call_command
from django.test import Client
from django.utils import translation

from jobs.models import JobTemplate
from portal.lib.errors import Denied, Invalid
from portal.web.pilot import apply_pilot, planned
from portal.web.pilot.plan import free_slug
from resources.models import Cluster, Pool
from tenants.models import AuditEvent, Grant, Membership, Project, Team
from tests import builders as make
from tests.builders import NOW
from tests.cast import cast, cast_rows

__all__ = ["cast", "cast_rows"]

ASKED = {
    "team": "Pilot team",
    "lead": "lead",
    "project_1": "Grid inspection",
    "people_1": "owner, member",
    "project_2": "巡检",
    "people_2": "outsider",
}


@pytest.fixture(autouse=True)
def in_english():
    """A page served before in this process may have left another language behind."""
    with translation.override("en"):
        yield


def counts() -> list[int]:
    models = (Cluster, Pool, Team, Project, Grant, Membership, JobTemplate, AuditEvent)
    return [model.objects.count() for model in models]


def names(steps) -> set[tuple[str, str, bool]]:
    return {(s.kind, s.name, s.there) for s in steps}


def test_an_empty_installation_gets_cluster_pool_team_projects_templates_grant_and_roles(db):
    make.make_team("organisation")
    for name in ("lead", "owner", "member", "outsider"):
        make.make_user(name)
    assert not any(step.there for step in planned(ASKED, NOW)[1])
    done = apply_pilot(actor=None, given=ASKED, now=NOW, note="first try")
    assert done.made == len(done.steps) == 13
    assert all(step.there for step in planned(ASKED, NOW)[1])
    assert Cluster.objects.get().driver == "local" and Pool.objects.get().selector == {"cluster": "local"}
    team = Team.objects.get(slug="pilot-team")
    first, second = Project.objects.get(name="Grid inspection"), Project.objects.get(name="巡检")
    assert (first.team, second.team) == (team, team) and re.fullmatch(r"p-[0-9a-f]{8}", second.slug)
    held = Membership.objects.filter(user__isnull=False).values_list("user__username", "role", "team", "project")
    assert set(held) == {
        ("lead", "lead", team.pk, None),
        ("owner", "owner", None, first.pk),
        ("member", "member", None, first.pk),
        ("outsider", "owner", None, second.pk),
    }
    assert {"train-network", "serve-checkpoint"} <= set(JobTemplate.objects.values_list("slug", flat=True))
    record = AuditEvent.objects.filter(verb="pilot.applied").get()
    assert record.note == "first try" and "project Grid inspection" in record.after["made"]


@pytest.mark.parametrize("names", [("team", "pool"), ("cluster", "role")])
def test_projects_may_be_called_like_the_parts_of_a_pilot(db, names):
    make.make_team("organisation")
    asked = ASKED | {"project_1": names[0], "project_2": names[1]}
    for name in ("lead", "owner", "member", "outsider"):
        make.make_user(name)
    apply_pilot(actor=None, given=asked, now=NOW, note="named alike")
    team = Team.objects.get(slug="pilot-team")
    assert [grant.pool_key for grant in team.grants.all()] == [Pool.objects.get().key]
    assert set(team.projects.values_list("name", flat=True)) == set(names)


def test_a_second_time_makes_and_records_nothing(cast):
    apply_pilot(actor=cast.platform_admin, given=ASKED, now=NOW)
    before = counts()
    again = {**ASKED, "team": "PILOT TEAM", "project_1": "grid  INSPECTION"}
    assert apply_pilot(actor=cast.platform_admin, given=again, now=NOW).made == 0
    assert counts() == before


def test_what_is_there_is_used_and_only_the_rest_is_made(cast):
    steps = planned({**ASKED, "team": "Models", "project_1": "Alpha"}, NOW)[1]
    there = {(kind, name) for kind, name, is_there in names(steps) if is_there}
    assert {("cluster", "site"), ("pool", "shared"), ("team", "Models"), ("project", "Alpha")} <= there
    assert {("role", "lead"), ("role", "owner"), ("role", "member")} <= there
    assert ("project", "巡检", False) in names(steps)


def test_a_simulated_cluster_is_not_where_a_pilot_runs(cast):
    Cluster.objects.update(simulated=True)
    assert ("cluster", "local", False) in names(planned(ASKED, NOW)[1])


@pytest.mark.parametrize(
    ("field", "value", "reason"),
    [
        ("team", " ", "Blank"),
        ("team", "x" * 200, "TooLong"),
        ("project_2", "Grid Inspection", "SameName"),
        ("project_1", "a\u202eb", "BadCharacter"),
        ("people_1", "", "NoOwner"),
        ("people_1", "owner, nobody-of-this-name", "NoSuchUser"),
        ("people_2", "own\0er", "NoSuchUser"),
        ("people_1", " ".join(f"u{n}" for n in range(60)), "TooMany"),
        ("lead", "Lead", "NoSuchUser"),
    ],
)
def test_bad_input_names_its_field_and_stores_nothing(cast, field, value, reason):
    before = counts()
    with pytest.raises(Invalid) as refused:
        apply_pilot(actor=cast.platform_admin, given={**ASKED, field: value}, now=NOW)
    assert (refused.value.fields[0].field, refused.value.fields[0].reason) == (field, reason)
    assert counts() == before


def test_nobody_but_the_platform_administrator_makes_one(cast):
    with pytest.raises(Denied):
        apply_pilot(actor=cast.lead, given=ASKED, now=NOW)


def test_names_in_any_script_get_a_slug_of_their_own():
    assert free_slug("Grid inspection, phase 2", set()) == "grid-inspection-phase-2"
    assert free_slug("Grid", {"grid", "grid-2"}) == "grid-3"
    assert free_slug("巡检", set()) == free_slug("巡检", set()) != free_slug("对齐", set())
    assert free_slug("new", set()) == "new-2"


def command(*extra: str) -> tuple[list[dict[str, str]], str]:
    out, err = io.StringIO(), io.StringIO()
    options = ["--team", "Pilot team", "--project", "Grid inspection", "--project", "巡检", "--people", "owner,member"]
    call_command("pilot", *options, "--people", "outsider", *extra, stdout=out, stderr=err)
    return [json.loads(line) for line in out.getvalue().splitlines()], err.getvalue()


def test_the_command_says_each_step_and_is_idempotent(cast):
    rows, said = command("--dry-run")
    assert {row["state"] for row in rows} == {"there", "would be made"} and "would be" in said
    assert not Team.objects.filter(slug="pilot-team").exists()
    rows, _ = command("--lead", "lead")
    assert {"kind": "team", "name": "Pilot team", "key": "pilot-team", "state": "made"} in rows
    rows, said = command("--lead", "lead")
    assert {row["state"] for row in rows} == {"there"} and said.startswith("0 of")


def test_the_command_says_which_option_is_wrong(cast):
    with pytest.raises(CommandError, match="--lead: There is no active user nobody"):
        command("--lead", "nobody")
    with pytest.raises(CommandError, match="two projects"):
        command("--project", "third")


def test_the_wizard_previews_then_makes_it_with_a_reason(cast):
    client = Client()
    client.force_login(cast.platform_admin)
    assert client.get("/setup/pilot").status_code == 200
    bad = client.post("/setup/pilot", {**ASKED, "step": "preview", "people_1": "nobody"})
    assert bad.status_code == 422 and "There is no active user nobody" in bad.content.decode()
    page = client.post("/setup/pilot", {**ASKED, "step": "preview"}).content.decode()
    assert "Pilot team (pilot-team): will be made" in page and "site: is there" in page
    assert not Team.objects.filter(slug="pilot-team").exists()
    digest = re.search(r'name="digest" value="([0-9a-f]+)"', page)[1]
    save = {**ASKED, "step": "save", "digest": digest, "reason": "Start of the pilot"}
    assert client.post("/setup/pilot", {**save, "reason": ""}).status_code == 422
    assert client.post("/setup/pilot", save)["Location"] == "/setup"
    assert AuditEvent.objects.get(verb="pilot.applied").note == "Start of the pilot"
    # A double click finds other facts than were shown.
    assert client.post("/setup/pilot", save).status_code == 409


def test_the_api_previews_and_makes_the_same(cast):
    client = Client()
    client.force_login(cast.platform_admin)
    body = {"data": json.dumps(ASKED), "content_type": "application/json"}
    seen = client.post("/api/v1/setup/pilot/preview", **body).json()["steps"]
    made = client.post("/api/v1/setup/pilot", **body).json()["steps"]
    assert seen == made and {s["kind"] for s in made if not s["there"]} >= {"team", "project", "role"}
    assert all(step["there"] for step in client.post("/api/v1/setup/pilot/preview", **body).json()["steps"])
    refused = client.post("/api/v1/setup/pilot", data="{}", content_type="application/json")
    assert refused.status_code == 422 and refused.json()["fields"][0]["field"] == "team"
