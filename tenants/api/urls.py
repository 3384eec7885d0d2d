"""Operations on tenants."""

from django.urls import URLPattern, path

from tenants.api import audit, members, previews, scopes, tokens

urlpatterns: list[URLPattern] = [
    path("tokens", tokens.Tokens.as_view(), name="api_tokens"),
    path("tokens/<uuid:key>", tokens.OneToken.as_view(), name="api_token"),
    path("teams", scopes.Teams.as_view(), name="api_teams"),
    path("teams/<uuid:key>", scopes.OneTeam.as_view(), name="api_team"),
    path("teams/<uuid:key>/delete", scopes.TeamDeleted.as_view(), name="api_team_delete"),
    path("teams/<uuid:key>/members", members.TeamMembers.as_view(), name="api_team_members"),
    path("projects", scopes.Projects.as_view(), name="api_projects"),
    path("projects/<uuid:key>", scopes.OneProject.as_view(), name="api_project"),
    path("projects/<uuid:key>/service-token", scopes.ProjectServiceToken.as_view(), name="api_service_token"),
    path("projects/<uuid:key>/archive", scopes.ProjectArchived.as_view(), name="api_project_archive"),
    path("projects/<uuid:key>/restore", scopes.ProjectRestored.as_view(), name="api_project_restore"),
    path("projects/<uuid:key>/members", members.ProjectMembers.as_view(), name="api_project_members"),
    path("members/<uuid:key>", members.OneMember.as_view(), name="api_member"),
    path("members/<uuid:key>/remove", members.MemberRemoved.as_view(), name="api_member_remove"),
    path("people", members.People.as_view(), name="api_people"),
    path("people/<uuid:key>/active", members.PersonActive.as_view(), name="api_person_active"),
    path("people/<uuid:key>/password", members.PersonPassword.as_view(), name="api_person_password"),
    path("teams/preview", previews.NewTeam.as_view(), name="api_team_new_preview"),
    path("teams/<uuid:key>/preview", previews.TeamChange.as_view(), name="api_team_preview"),
    path("teams/<uuid:key>/delete/preview", previews.TeamDeleted.as_view(), name="api_team_delete_preview"),
    path("teams/<uuid:key>/members/preview", previews.TeamMember.as_view(), name="api_team_members_preview"),
    path("projects/preview", previews.NewProject.as_view(), name="api_project_new_preview"),
    path("projects/<uuid:key>/preview", previews.ProjectChange.as_view(), name="api_project_preview"),
    path("projects/<uuid:key>/archive/preview", previews.ProjectArchived.as_view(), name="api_project_archive_preview"),
    path("projects/<uuid:key>/restore/preview", previews.ProjectRestored.as_view(), name="api_project_restore_preview"),
    path("projects/<uuid:key>/members/preview", previews.ProjectMember.as_view(), name="api_project_members_preview"),
    path("members/<uuid:key>/preview", previews.RoleChange.as_view(), name="api_member_preview"),
    path("members/<uuid:key>/remove/preview", previews.RoleTaken.as_view(), name="api_member_remove_preview"),
    path("people/preview", previews.NewPerson.as_view(), name="api_person_new_preview"),
    path("people/<uuid:key>/active/preview", previews.PersonActive.as_view(), name="api_person_active_preview"),
    path("people/<uuid:key>/password/preview", previews.PersonPassword.as_view(), name="api_person_password_preview"),
    path("roles", members.Roles.as_view(), name="api_roles"),
    path("audit/chain", audit.AuditChain.as_view(), name="api_audit_chain"),
    path("audit", audit.Audit.as_view(), name="api_audit"),
]
