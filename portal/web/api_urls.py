"""The map of /api/v1: each app names its own routes."""

from django.urls import URLPattern, URLResolver, include, path

from portal.web import notices_api, setup_api
from portal.web.admin import api as admin_api
from portal.web.admin import previews_api

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("tenants.api.urls")),
    path("", include("resources.api.urls")),
    path("", include("jobs.api.urls")),
    path("", include("metering.api.urls")),
    path("grants", admin_api.Grants.as_view(), name="api_grants"),
    path("grants/<uuid:key>", admin_api.OneGrant.as_view(), name="api_grant"),
    path("grants/<uuid:key>/end", admin_api.GrantEnded.as_view(), name="api_grant_end"),
    path("quotas", admin_api.Quotas.as_view(), name="api_quotas"),
    path("quotas/<uuid:key>/delete", admin_api.QuotaDeleted.as_view(), name="api_quota_delete"),
    path("grants/preview", previews_api.NewGrant.as_view(), name="api_grant_new_preview"),
    path("grants/<uuid:key>/preview", previews_api.GrantChange.as_view(), name="api_grant_preview"),
    path("grants/<uuid:key>/end/preview", previews_api.GrantEnded.as_view(), name="api_grant_end_preview"),
    path("quotas/preview", previews_api.QuotaSet.as_view(), name="api_quota_preview"),
    path("quotas/<uuid:key>/delete/preview", previews_api.QuotaDeleted.as_view(), name="api_quota_delete_preview"),
    path("notices", notices_api.Notices.as_view(), name="api_notices"),
    path("notices/read", notices_api.AllRead.as_view(), name="api_notices_read"),
    path("notices/<uuid:key>/read", notices_api.OneRead.as_view(), name="api_notice_read"),
    path("setup", setup_api.Setup.as_view(), name="api_setup"),
    path("setup/pilot", setup_api.MakePilot.as_view(), name="api_pilot"),
    path("setup/pilot/preview", setup_api.PilotPreview.as_view(), name="api_pilot_preview"),
    path("about", setup_api.About.as_view(), name="api_about"),
]
