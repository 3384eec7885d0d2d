"""The one door answers as guardian does, for people and for groups, and roles reach what is below their scope."""

import pytest
from django.contrib.auth.models import Group, Permission
from guardian.shortcuts import get_objects_for_user

from resources.models import Pool
from tenants import access
from tenants.models import Membership, Project, Team
from tenants.roles import GRANTS, Role, codename
from tests import builders as make
from tests.cast import ROLES

ASKED = ("project.see", "team.see", "job.ask", "member.change", "pool.change", "audit.see", "policy.manage")
"""Each is held by other roles than the rest."""


def by_guardian(user, model, permission):
    """What guardian's own shortcut says is held on rows of the model themselves."""
    return set(
        get_objects_for_user(
            user, codename(permission), klass=model, with_superuser=False, accept_global_perms=False
        ).values_list("pk", flat=True)
    )


def by_rule(user, permission):
    """Keys of teams and projects: what guardian says, and everything below such a team."""
    paths = tuple(Team.objects.filter(pk__in=by_guardian(user, Team, permission)).values_list("path", flat=True))
    teams = {team.pk for team in Team.objects.all() if team.path.startswith(paths)}
    return teams, by_guardian(user, Project, permission) | {
        project.pk for project in Project.objects.all() if project.team_id in teams
    }


@pytest.fixture
def grouped(cast):
    """A person whose only role is that of a group: lead of `vision`, and of a pool."""
    group = Group.objects.create(name="vision leads")
    cast.stranger.groups.add(group)
    for role, scope, column in ((Role.LEAD, cast.vision, "team"), (Role.POOL_ADMIN, cast.other, "pool_key")):
        value = scope.key if column == "pool_key" else scope
        row = Membership.objects.create(group=group, role=role, created_at=make.NOW, **{column: value})
        access.write_role(row, scope)
    return cast.stranger


@pytest.mark.parametrize("role", [*ROLES, "team_auditor", "outsider"])
def test_what_may_be_seen_and_done_is_what_guardian_says_and_what_is_below(cast, grouped, role):
    make.make_project("deep", make.make_team("deeper", cast.models))
    user, answers = cast.person(role), set()
    for permission in ASKED:
        teams, projects = by_rule(user, permission)
        assert {row.pk for row in access.visible_teams(user, permission)} == teams, permission
        assert {row.pk for row in access.visible_projects(user, permission)} == projects, permission
        platform = cast.organisation.pk in by_guardian(user, Team, permission)
        assert access.at_platform(user, permission) is platform, permission
        pools = set(Pool.objects.values_list("pk", flat=True)) if platform else by_guardian(user, Pool, permission)
        assert {row.pk for row in access.visible(user, Pool, permission)} == pools, permission
        answers |= {permission} if teams | projects | pools else set()
    held = {"stranger": GRANTS[Role.LEAD] | GRANTS[Role.POOL_ADMIN]}
    roles = {"outsider": "member", "team_auditor": "auditor"}
    assert answers == held.get(role, GRANTS.get(roles.get(role, role), frozenset())) & set(ASKED)


def test_a_groups_role_ends_with_its_membership(cast, grouped):
    assert access.can(grouped, "project.change", cast.beta) and access.can(grouped, "pool.change", cast.other)
    row = Membership.objects.get(group__isnull=False, role=Role.LEAD)
    access.erase_role(row, cast.vision, remaining={Role.VIEWER})
    assert not access.can(grouped, "project.change", cast.beta)
    assert access.can(grouped, "project.see", cast.beta) and access.can(grouped, "pool.change", cast.other)


def test_a_role_is_written_whole_or_not_at_all(cast):
    Permission.objects.filter(codename="job_ask", content_type__model="project").delete()
    with pytest.raises(Permission.DoesNotExist, match="run migrate"):
        make.make_user("half", (Role.MEMBER, cast.alpha))
