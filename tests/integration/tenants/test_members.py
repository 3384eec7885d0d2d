"""Roles are given, changed and taken with a reason; nobody gives more than they hold, and one administrator stays."""

import re

import pytest

from portal.lib.errors import Conflict, Denied, NotFound
from tenants import access
from tenants.models import AuditEvent, Membership, User
from tenants.roles import Role
from tenants.services.change_role import change_role
from tenants.services.grant_role import grant_role
from tenants.services.revoke_role import revoke_role
from tenants.services.set_user_active import set_user_active
from tests import builders as make
from tests.builders import NOW
from tests.integration.tenants.steps import change, preview, save


def membership(user: User, role: Role) -> Membership:
    return Membership.objects.get(user=user, role=role.value)


def test_an_owner_adds_a_person_by_user_name_who_then_sees_the_project(cast, as_user):
    owner, stranger = as_user(cast.owner), as_user(cast.stranger)
    assert stranger.get("/projects/alpha").status_code == 404
    answer = change(owner, "/projects/alpha/members/new", username="stranger", role="member", reason="Joins us")
    assert answer["Location"] == "/projects/alpha" and stranger.get("/projects/alpha").status_code == 200
    record = AuditEvent.objects.filter(verb="role.granted").order_by("-seq").first()
    assert (record.after, record.note) == ({"user": "stranger", "role": "member"}, "Joins us")


@pytest.mark.parametrize(
    ("who", "path", "weakest_first"),
    [
        ("owner", "/projects/alpha/members/new", ["", "viewer", "member", "owner"]),
        ("lead", "/teams/models/members/new", ["", "viewer", "lead"]),
        ("platform_admin", "/teams/organisation/members/new", ["", "viewer", "manager", "auditor", "platform_admin"]),
    ],
)
def test_no_role_is_chosen_beforehand_and_the_weakest_comes_first(cast, as_user, who, path, weakest_first):
    client = as_user(cast.person(who))
    page = client.get(path).content.decode()
    select = page[page.index('<select name="role"') : page.index("</select>")]
    assert re.findall(r'<option value="(\w*)"', select)[: len(weakest_first)] == weakest_first
    assert re.findall(r'<option value="(\w*)" selected', select) in ([], [""])
    answer = preview(client, path, username="stranger", role="")
    assert answer.status_code == 422 and 'id="id_role_error"' in answer.content.decode()


@pytest.mark.parametrize("username", ["Stranger", "strange", "", "nul\0", "nobody", "x" * 151])
def test_a_name_that_is_nobodys_is_refused_beside_the_field(cast, as_user, username):
    answer = change(as_user(cast.owner), "/projects/alpha/members/new", username=username, role="member")
    assert answer.status_code == 422 and 'id="id_username_error"' in answer.content.decode()


def test_a_role_that_is_held_already_cannot_be_given_again(cast, as_user):
    page = preview(as_user(cast.owner), "/projects/alpha/members/new", username="member", role="member")
    assert "They hold this role here already." in page.content.decode() and b'value="save"' not in page.content


def test_a_removal_takes_effect_on_the_next_request_and_says_what_is_left(cast, as_user):
    reader = as_user(cast.member)
    assert reader.get("/projects/alpha").status_code == 200
    path = f"/members/{membership(cast.member, Role.MEMBER).pk}/remove"
    assert "They hold no other role here" in as_user(cast.lead).get(path).content.decode()
    assert change(as_user(cast.lead), path, reason="Left")["Location"] == "/projects/alpha"
    assert reader.get("/projects/alpha").status_code == 404
    record = AuditEvent.objects.filter(verb="role.revoked").get()
    assert (record.before, record.note) == ({"user": "member", "role": "member"}, "Left")


def test_another_role_keeps_what_it_gives_when_one_is_taken(cast):
    grant_role(actor=cast.owner, user=cast.member, role=Role.VIEWER, scope=cast.alpha, now=NOW)
    revoke_role(actor=cast.owner, membership=membership(cast.member, Role.MEMBER), now=NOW)
    assert access.can(cast.member, "job.see", cast.alpha) and not access.can(cast.member, "job.ask", cast.alpha)


def test_a_role_is_changed_in_one_step(cast, as_user):
    path = f"/members/{membership(cast.member, Role.MEMBER).pk}"
    assert change(as_user(cast.owner), path, role="viewer").status_code == 302
    assert [m.role for m in Membership.objects.filter(user=cast.member)] == ["viewer"]
    assert not access.can(cast.member, "job.ask", cast.alpha)


def test_a_role_that_was_taken_meanwhile_is_not_found(cast, as_user):
    row = membership(cast.member, Role.MEMBER)
    client = as_user(cast.owner)
    page = preview(client, f"/members/{row.pk}", role="viewer")
    revoke_role(actor=None, membership=row, now=NOW)
    assert save(client, f"/members/{row.pk}", page).status_code == 404
    with pytest.raises(NotFound):
        change_role(actor=None, membership=row, role=Role.VIEWER, now=NOW)


@pytest.mark.parametrize(
    ("actor", "role", "scope"),
    [
        ("lead", Role.AUDITOR, "models"),
        ("lead", Role.MANAGER, "models"),
        ("lead", Role.LEAD, "vision"),
        ("lead", Role.MEMBER, "beta"),
        ("owner", Role.LEAD, "models"),
        ("member", Role.VIEWER, "alpha"),
        ("manager", Role.VIEWER, "alpha"),
        ("auditor", Role.AUDITOR, "organisation"),
    ],
)
def test_nobody_gives_more_than_they_hold_or_outside_their_scope(cast, actor, role, scope):
    with pytest.raises(Denied):
        grant_role(actor=cast.person(actor), user=cast.stranger, role=role, scope=getattr(cast, scope), now=NOW)
    assert not Membership.objects.filter(user=cast.stranger).exists()


def test_nobody_takes_a_role_that_reaches_further_than_their_own(cast, as_user):
    row = membership(cast.team_auditor, Role.AUDITOR)
    with pytest.raises(Denied) as refused:
        revoke_role(actor=cast.lead, membership=row, now=NOW)
    assert refused.value.reason == "RoleAboveOwn"
    assert as_user(cast.lead).get(f"/members/{row.pk}/remove").status_code == 403
    page = as_user(cast.lead).get("/teams/models").content.decode()
    assert f"/members/{row.pk}" not in page and f"/members/{membership(cast.lead, Role.LEAD).pk}" in page


@pytest.mark.parametrize("role", ["owner", "member", "viewer"])
def test_the_form_offers_only_roles_that_may_be_given(cast, as_user, role):
    form = as_user(cast.owner).get("/projects/alpha/members/new").context["form"]
    assert role in [key for key, _ in form.fields["role"].choices]
    assert len(form.fields["role"].choices) == 1 + 3  # none is chosen


def test_the_last_platform_administrator_stays(cast, as_user):
    row = membership(cast.platform_admin, Role.PLATFORM_ADMIN)
    answer = change(as_user(cast.platform_admin), f"/members/{row.pk}/remove")
    assert answer.status_code == 409 and "last platform administrator" in answer.content.decode()
    with pytest.raises(Conflict) as refused:
        set_user_active(actor=cast.platform_admin, user=cast.platform_admin, active=False, now=NOW)
    assert refused.value.reason == "LastAdministrator"
    with pytest.raises(Conflict):
        change_role(actor=None, membership=row, role=Role.VIEWER, now=NOW)
    assert Membership.objects.filter(pk=row.pk).exists()


def test_a_blocked_administrator_does_not_count(cast):
    second = make.make_user("second", (Role.PLATFORM_ADMIN, cast.organisation))
    set_user_active(actor=cast.platform_admin, user=second, active=False, now=NOW)
    with pytest.raises(Conflict):
        revoke_role(actor=None, membership=membership(cast.platform_admin, Role.PLATFORM_ADMIN), now=NOW)
