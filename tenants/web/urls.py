"""Pages of tenants."""

from django.urls import URLPattern, path

from tenants.web import audit, members, people, role_table, sign_in, team_changes, teams, tokens

urlpatterns: list[URLPattern] = [
    path("login", sign_in.SignIn.as_view(), name="login"),
    path("logout", sign_in.SignOut.as_view(), name="logout"),
    path("audit", audit.audit_list, name="audit_list"),
    path("audit/verify", audit.audit_verify, name="audit_verify"),
    path("team", teams.my_team, name="my_team"),
    path("teams", teams.team_list, name="team_list"),
    path("teams/<slug:slug>", teams.team_detail, name="team_detail"),
    path("teams/<slug:slug>/change", team_changes.team_edit, name="team_edit"),
    path("teams/<slug:slug>/delete", team_changes.team_delete, name="team_delete"),
    path("teams/<slug:slug>/teams/new", team_changes.team_new, name="team_new"),
    path("teams/<slug:slug>/projects/new", team_changes.project_new, name="project_new"),
    path("teams/<slug:slug>/members/new", members.team_member_new, name="team_member_new"),
    path("projects", teams.project_list, name="project_list"),
    path("projects/<slug:slug>", teams.project_detail, name="project_detail"),
    path("projects/<slug:slug>/change", team_changes.project_edit, name="project_edit"),
    path("projects/<slug:slug>/archive", team_changes.project_archive, name="project_archive"),
    path("projects/<slug:slug>/restore", team_changes.project_restore, name="project_restore"),
    path("projects/<slug:slug>/members/new", members.project_member_new, name="project_member_new"),
    path("members/<uuid:key>", members.member_edit, name="member_edit"),
    path("members/<uuid:key>/remove", members.member_remove, name="member_remove"),
    path("tokens", tokens.token_list, name="token_list"),
    path("tokens/new", tokens.token_new, name="token_new"),
    path("tokens/<uuid:key>/delete", tokens.token_delete, name="token_delete"),
    path("people", people.people, name="people"),
    path("people/new", people.person_new, name="person_new"),
    path("people/<uuid:key>", people.person_detail, name="person_detail"),
    path("people/<uuid:key>/block", people.person_block, name="person_block"),
    path("people/<uuid:key>/let-in", people.person_unblock, name="person_unblock"),
    path("people/<uuid:key>/password", people.person_password, name="person_password"),
    path("roles", role_table.role_list, name="role_list"),
]
