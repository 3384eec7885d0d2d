"""Teams and projects are made, changed, archived and deleted with a reason, and never behind anybody's back."""

import pytest

from jobs.models import Job
from jobs.services.publish_shipped_templates import publish_shipped_templates
from portal.lib.errors import Conflict, Denied, Invalid
from tenants.models import AuditEvent, Project, Team
from tenants.services.archive_project import archive_project
from tenants.services.change_team import change_team
from tenants.services.create_project import create_project
from tenants.services.create_team import create_team
from tenants.services.delete_team import delete_team
from tenants.services.restore_project import restore_project
from tests import builders as make
from tests.builders import NOW
from tests.integration.tenants.steps import change, preview


def last(verb: str) -> AuditEvent:
    return AuditEvent.objects.filter(verb=verb).order_by("-seq").first()


def test_a_lead_makes_a_team_below_and_a_project_in_it(cast, as_user):
    client = as_user(cast.lead)
    answer = change(client, "/teams/models/teams/new", name="Speech", slug="speech", reason="A new field")
    assert answer["Location"] == "/teams/speech"
    answer = change(
        client, "/teams/speech/projects/new", name="Voices", slug="voices", environment="test", reason="First work"
    )
    assert answer["Location"] == "/projects/voices"
    assert client.get("/projects/voices").status_code == 200
    record = last("project.created")
    assert (record.note, record.after["environment"], record.actor_id) == ("First work", "test", cast.lead.pk)


def test_a_change_keeps_old_and_new_value_and_the_reason(cast, as_user):
    answer = change(as_user(cast.lead), "/teams/models/change", name="Big models", contact="Lin", reason="Renamed")
    assert answer.status_code == 302
    record = last("team.changed")
    assert record.before == {"name": "Models", "contact": ""} and record.note == "Renamed"
    assert record.after == {"name": "Big models", "contact": "Lin"}


def test_unchanged_values_leave_no_record(cast):
    change_team(actor=cast.lead, team=cast.models, name="Models", contact="", now=NOW)
    assert last("team.changed") is None


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"name": "Vision", "slug": "vision-2"}, "name"),
        ({"name": "V\u0456sion", "slug": "vision-2"}, "name"),
        ({"name": "Other", "slug": "models"}, "slug"),
        ({"name": "Other", "slug": "Not A Slug"}, "slug"),
        ({"name": "\u200d", "slug": "other"}, "name"),
        ({"name": "nul\0", "slug": "other"}, "name"),
        ({"name": "x" * 121, "slug": "other"}, "name"),
    ],
)
def test_names_that_are_taken_or_no_names_are_refused_beside_their_field(cast, as_user, values, field):
    answer = change(as_user(cast.platform_admin), "/teams/organisation/teams/new", **values)
    assert answer.status_code == 422 and f'id="id_{field}_error"' in answer.content.decode()
    assert Team.objects.count() == 3


def test_the_services_keep_the_rules_for_whoever_calls_them(cast):
    with pytest.raises(Invalid):
        create_team(actor=None, name="nul\0", slug="x", parent=cast.organisation, now=NOW)
    with pytest.raises(Invalid):
        create_project(actor=None, name="Alpha", slug="alpha", team=cast.vision, now=NOW)
    with pytest.raises(Denied):
        create_project(actor=cast.lead, name="Mine", slug="mine", team=cast.vision, now=NOW)


def test_a_team_is_deleted_only_when_it_is_empty_and_the_page_says_what_is_in_the_way(cast, as_user):
    client = as_user(cast.platform_admin)
    page = client.get("/teams/models/delete").content.decode()
    assert "It holds 1 project" in page and "2 roles are held in it." in page and 'value="save"' not in page
    with pytest.raises(Conflict) as refused:
        delete_team(actor=cast.platform_admin, team=cast.models, now=NOW)
    assert (refused.value.reason, refused.value.facts["projects"]) == ("TeamNotEmpty", 1)
    make.make_team("brief", cast.organisation)
    assert change(client, "/teams/brief/delete", reason="Never used")["Location"] == "/teams"
    assert not Team.objects.filter(slug="brief").exists() and last("team.deleted").before["slug"] == "brief"


def test_the_organisation_cannot_be_deleted(cast, as_user):
    assert (
        "It is the organisation itself."
        in as_user(cast.platform_admin).get("/teams/organisation/delete").content.decode()
    )
    with pytest.raises(Conflict):
        delete_team(actor=None, team=cast.organisation, now=NOW)


def test_a_lead_cannot_delete_the_team_they_lead(cast, as_user):
    assert as_user(cast.lead).get("/teams/models/delete").status_code == 403


def test_an_archived_project_takes_no_jobs_by_page_or_api_and_takes_them_again_when_restored(cast, as_user):
    publish_shipped_templates(now=NOW)
    client = as_user(cast.platform_admin)
    assert change(client, "/projects/alpha/archive", reason="Done")["Location"] == "/projects/alpha"
    project = Project.objects.get(pk=cast.alpha.pk)
    assert (project.archived_at, project.held_reason) == (NOW, "ProjectArchived")
    body = {"template": "run-operation", "project": str(project.pk)}
    answer = client.post("/api/v1/jobs", body, content_type="application/json")
    assert (answer.status_code, answer.json()["reason"]) == (422, "ProjectArchived")
    assert as_user(cast.member).post("/templates/run-operation/new", body).status_code in (404, 422)
    assert not Job.objects.exists()
    assert 'value="save"' not in client.get("/projects/alpha/archive").content.decode()
    assert change(client, "/projects/alpha/restore", reason="Again").status_code == 302
    assert client.post("/api/v1/jobs", body, content_type="application/json").status_code == 201


def test_another_hold_outlives_the_archive(cast):
    Project.objects.filter(pk=cast.alpha.pk).update(held_reason="BudgetExhausted")
    archive_project(actor=None, project=cast.alpha, now=NOW)
    restore_project(actor=None, project=cast.alpha, now=NOW)
    assert Project.objects.get(pk=cast.alpha.pk).held_reason == "BudgetExhausted"


def test_archiving_twice_is_one_record(cast):
    for _ in range(2):
        archive_project(actor=None, project=cast.alpha, now=NOW)
    assert AuditEvent.objects.filter(verb="project.archived").count() == 1


def test_an_environment_that_is_not_listed_can_be_kept(cast, as_user):
    Project.objects.filter(pk=cast.alpha.pk).update(environment="old")
    page = preview(as_user(cast.owner), "/projects/alpha/change", name="Alpha two", environment="old")
    assert [c.label for c in page.context["preview"].changes] == ["Name"]
