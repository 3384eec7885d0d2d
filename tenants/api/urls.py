"""Operations on tenants."""

from django.urls import URLPattern, path

from tenants.api import audit, scopes, tokens

urlpatterns: list[URLPattern] = [
    path("tokens", tokens.Tokens.as_view(), name="api_tokens"),
    path("tokens/<uuid:key>", tokens.OneToken.as_view(), name="api_token"),
    path("teams", scopes.Teams.as_view(), name="api_teams"),
    path("projects", scopes.Projects.as_view(), name="api_projects"),
    path("projects/<uuid:key>", scopes.OneProject.as_view(), name="api_project"),
    path("projects/<uuid:key>/service-token", scopes.ProjectServiceToken.as_view(), name="api_service_token"),
    path("audit", audit.Audit.as_view(), name="api_audit"),
]
