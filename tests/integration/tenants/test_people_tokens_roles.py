"""Accounts, personal tokens in the browser, and the permission table as a page."""

import re

import pytest
from django.test import Client

from portal.lib.errors import Invalid
from tenants.models import ApiToken, AuditEvent, User
from tenants.role_words import ROLE_WORDS
from tenants.roles import GRANTS, OBJECTS, Role
from tenants.services.create_user import create_user
from tests.builders import NOW
from tests.integration.tenants.steps import change, save

SECRET = re.compile(r'id="secret"[^>]*>([^<]+)<')


def secret(response) -> str:
    assert response.status_code == 200 and response["Cache-Control"] == "no-store"
    found = SECRET.search(response.content.decode())
    assert found is not None
    return found[1]


def test_an_account_is_made_with_a_password_that_is_shown_once_and_works(cast, as_user):
    answer = change(
        as_user(cast.platform_admin), "/people/new", username="new.person", display_name="New Person", email="",
        reason="Joins the lab",
    )  # fmt: skip
    password = secret(answer)
    assert Client().login(username="new.person", password=password)
    record = AuditEvent.objects.filter(verb="user.created").get()
    assert record.note == "Joins the lab" and password not in str(list(AuditEvent.objects.values()))
    page = as_user(cast.platform_admin).get(f"/people/{record.target_id}").content.decode()
    assert password not in page and "No role yet" in page


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"username": "Upper"}, "username"),
        ({"username": "a b"}, "username"),
        ({"username": "member"}, "username"),
        ({"username": "ok", "display_name": "\u200d"}, "display_name"),
        ({"username": "ok", "display_name": "nul\0"}, "display_name"),
        ({"username": "ok", "email": "nowhere"}, "email"),
    ],
)
def test_what_makes_no_account_is_refused_beside_its_field(cast, as_user, values, field):
    before = User.objects.count()
    values = {"display_name": "Somebody"} | values
    answer = change(as_user(cast.platform_admin), "/people/new", **values)
    assert answer.status_code == 422 and f'id="id_{field}_error"' in answer.content.decode()
    assert User.objects.count() == before


def test_a_user_name_is_taken_in_any_case(cast):
    User.objects.create_user("MiXed")
    with pytest.raises(Invalid):
        create_user(actor=None, username="mixed", display_name="Mixed", now=NOW)


def test_a_blocked_person_is_out_at_the_next_request_and_back_with_all_roles(cast, as_user):
    client, admin = as_user(cast.member), as_user(cast.platform_admin)
    assert client.get("/projects/alpha").status_code == 200
    assert change(admin, f"/people/{cast.member.pk}/block", reason="Left").status_code == 302
    assert client.get("/projects/alpha").status_code == 302
    assert "The account is blocked already." in admin.get(f"/people/{cast.member.pk}/block").content.decode()
    assert change(admin, f"/people/{cast.member.pk}/let-in", reason="Back").status_code == 302
    assert as_user(cast.member).get("/projects/alpha").status_code == 200


def test_a_new_password_ends_the_one_before_and_open_sessions(cast, as_user):
    cast.member.set_password("before")
    cast.member.save()
    client = Client()
    assert client.login(username="member", password="before")
    page = as_user(cast.platform_admin).get(f"/people/{cast.member.pk}/password")
    password = secret(save(as_user(cast.platform_admin), f"/people/{cast.member.pk}/password", page))
    assert client.get("/jobs").status_code == 302
    assert not Client().login(username="member", password="before")
    assert Client().login(username="member", password=password)


def test_people_are_found_by_name_state_and_missing_role(cast, as_user):
    client = as_user(cast.platform_admin)
    User.objects.filter(username="viewer").update(is_active=False)
    names = lambda query: [p.username for p, _ in client.get(f"/people{query}").context["rows"]]  # noqa: E731
    assert (
        names("?q=OWN") == ["owner"] and names("?state=blocked") == ["viewer"] and names("?state=none") == ["stranger"]
    )
    assert "Nobody matches" in client.get("/people?q=zzz").content.decode()
    row = next(roles for person, roles in client.get("/people").context["rows"] if person.username == "pooler")
    assert row == [("Pool administrator", "shared", "/pools/shared")]


def test_a_token_is_made_in_the_browser_shown_once_and_speaks_for_its_owner(cast, as_user):
    client = as_user(cast.member)
    answer = client.post("/tokens/new", {"name": "notebook", "days": "7", "read_only": "on"})
    clear = secret(answer)
    bearer = Client(headers={"Authorization": f"Bearer {clear}"})
    assert bearer.get("/api/v1/jobs").status_code == 200 and bearer.post("/api/v1/jobs").status_code == 403
    page = client.get("/tokens").content.decode()
    assert "notebook" in page and clear not in page and ">never<" not in page
    assert ApiToken.objects.get().last_used == NOW


@pytest.mark.parametrize(
    ("values", "field"),
    [
        ({"days": "0"}, "days"),
        ({"days": "366"}, "days"),
        ({"days": "x"}, "days"),
        ({"name": "nul\0"}, "name"),
        ({"name": ""}, "name"),
    ],
)
def test_what_makes_no_token_is_refused_beside_its_field(cast, as_user, values, field):
    answer = as_user(cast.member).post("/tokens/new", {"name": "x", "days": "1"} | values)
    assert answer.status_code == 422 and f'id="id_{field}_error"' in answer.content.decode()
    assert not ApiToken.objects.exists()


def test_a_token_is_deleted_with_a_reason_and_nobody_elses_is_seen(cast, as_user):
    client = as_user(cast.member)
    client.post("/tokens/new", {"name": "notebook", "days": "7"})
    path = f"/tokens/{ApiToken.objects.get().key}/delete"
    assert as_user(cast.owner).get(path).status_code == 404
    assert change(client, path, reason="Lost the machine")["Location"] == "/tokens"
    assert not ApiToken.objects.exists()
    assert AuditEvent.objects.filter(verb="token.deleted").get().note == "Lost the machine"


def test_the_role_page_shows_the_whole_permission_table(cast, as_user):
    response = as_user(cast.viewer).get("/roles")
    rows = response.context["rows"]
    assert len(rows) == len(OBJECTS)
    for (_word, cells), thing in zip(rows, OBJECTS, strict=True):
        for text, role in zip(cells, Role, strict=True):
            shown = set(filter(None, text.split(", ")))
            assert shown == {p.partition(".")[2] for p in GRANTS[role] if p.startswith(f"{thing}.")}
    page = response.content.decode()
    assert all(str(word) in page for word in ROLE_WORDS.values())


def test_a_new_token_only_reads_unless_that_is_taken_off(cast, as_user):
    page = as_user(cast.member).get("/tokens/new").content.decode()
    assert 'name="read_only"' in page and "checked" in page[page.index('name="read_only"') :].partition(">")[0]
