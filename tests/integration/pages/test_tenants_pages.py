"""Team and project pages: the tree, where a role comes from, what binds, and who is offered what."""

import pytest

from tenants.models import Membership, Project
from tenants.roles import Role
from tests import builders as make
from tests.builders import NOW


def text(client, path: str) -> str:
    response = client.get(path)
    assert response.status_code == 200, path
    return response.content.decode()


@pytest.mark.parametrize(
    ("role", "seen", "unseen"),
    [
        ("platform_admin", ["/teams/organisation", "/teams/models", "/teams/vision", "/projects/beta"], []),
        ("manager", ["/teams/organisation", "/teams/vision"], []),
        ("lead", ["/teams/models", "/projects/alpha"], ["/teams/vision", "/teams/organisation", "/projects/beta"]),
        ("member", ["/projects/alpha"], ["/teams/models", "/projects/beta"]),
        ("stranger", [], ["/teams/models", "/projects/alpha"]),
    ],
)
def test_the_tree_holds_what_its_reader_may_see(cast, as_user, role, seen, unseen):
    page = text(as_user(cast.person(role)), "/teams")
    assert [path for path in seen if f'href="{path}"' not in page] == []
    assert [path for path in unseen if f'href="{path}"' in page] == []


def test_teams_below_stand_deeper(cast, as_user):
    make.make_team("inner", cast.models)
    rows = as_user(cast.platform_admin).get("/teams").context["rows"]
    depths = {row.team.slug: row.depth for row in rows}
    assert depths == {"organisation": 0, "models": 1, "inner": 2, "vision": 1}
    assert [row.depth for row in as_user(cast.lead).get("/teams").context["rows"]] == [0, 1]


def test_my_team_is_the_one_that_is_led_and_the_list_for_others(cast, as_user):
    assert as_user(cast.lead).get("/team")["Location"] == "/teams/models"
    assert as_user(cast.member).get("/team")["Location"] == "/teams"
    make.make_user("two", (Role.LEAD, cast.models), (Role.LEAD, cast.vision))
    two = Membership.objects.filter(user__username="two").first().user
    assert as_user(two).get("/team")["Location"] == "/teams"


def test_a_project_names_its_members_and_where_their_roles_come_from(cast, as_user):
    response = as_user(cast.owner).get("/projects/alpha")
    rows = {(r.membership.user.username, r.membership.role): r.inherited for r in response.context["members"]}
    assert rows["owner", "owner"] is None and rows["lead", "lead"] == cast.models
    assert rows["admin", "platform_admin"] == cast.organisation
    assert ("outsider", "member") not in rows
    assert "inherited from Models" in response.content.decode()


@pytest.mark.parametrize(("role", "sees"), [("viewer", False), ("member", True), ("manager", True)])
def test_only_those_who_may_see_members_see_them(cast, as_user, role, sees):
    page = text(as_user(cast.person(role)), "/projects/alpha")
    assert ('data-panel="members"' in page) is sees


def test_grants_and_quota_on_the_path_say_where_they_come_from(cast, as_user):
    make.set_cell(cast.models, "shared", "cpu", "cpu", nominal=8_000, ceiling=None)
    response = as_user(cast.member).get("/projects/alpha")
    (grant,) = response.context["grant_rows"]
    assert (grant[0].pool_key, grant[1], grant[2]) == ("shared", True, None)
    (cell,) = response.context["cell_rows"]
    assert (cell[0].nominal, cell[3]) == (8_000, cast.models)
    assert "no rule" in response.content.decode()


def test_a_held_or_archived_project_says_why(cast, as_user):
    Project.objects.filter(pk=cast.alpha.pk).update(held_reason="BudgetExhausted")
    assert "The budget is used up." in text(as_user(cast.member), "/projects/alpha")
    Project.objects.filter(pk=cast.alpha.pk).update(held_reason="Strange")
    assert "Strange" in text(as_user(cast.member), "/projects/alpha")


@pytest.mark.parametrize(
    ("role", "offered"),
    [
        ("lead", ["change", "teams/new", "projects/new", "members/new"]),
        ("platform_admin", ["change", "teams/new", "projects/new", "members/new", "delete"]),
        ("manager", []),
        ("auditor", []),
    ],
)
def test_a_team_page_offers_what_its_reader_may_do(cast, as_user, role, offered):
    page = text(as_user(cast.person(role)), "/teams/models")
    every = ["change", "teams/new", "projects/new", "members/new", "delete"]
    assert [name for name in every if f'href="/teams/models/{name}"' in page] == offered


def test_archived_projects_are_a_filter_of_their_own(cast, as_user):
    client = as_user(cast.platform_admin)
    Project.objects.filter(pk=cast.beta.pk).update(archived_at=NOW)
    assert [p.slug for p in client.get("/projects").context["page"]] == ["alpha"]
    assert [p.slug for p in client.get("/projects?archived=1").context["page"]] == ["beta"]
    assert [p.slug for p in client.get("/projects?q=ALPH").context["page"]] == ["alpha"]
    assert "No project matches" in text(client, "/projects?q=nothing")


def test_last_changes_are_shown_to_those_who_run_the_team(cast, as_user):
    make.make_user("new", (Role.VIEWER, cast.models))
    assert "gave a role" in text(as_user(cast.lead), "/teams/models")
    assert "gave a role" not in text(as_user(cast.manager), "/teams/models")


@pytest.mark.parametrize("path", ["/teams", "/teams/models", "/projects", "/projects/alpha"])
def test_the_pages_speak_both_languages(cast, as_user, path):
    cast.platform_admin.language = "zh-hans"
    cast.platform_admin.save()
    assert '<html lang="zh-Hans">' in text(as_user(cast.platform_admin), path)
