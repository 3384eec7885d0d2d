"""The map of the site: one nested list, so that a path can be found by reading."""

from django.urls import URLPattern, URLResolver, include, path

from portal.web import health
from portal.web.language import set_language

urlpatterns: list[URLPattern | URLResolver] = [
    path("healthz", health.healthz, name="healthz"),
    path("language", set_language, name="set_language"),
    path("api/v1/", include("portal.web.api_urls")),
    path("", include("tenants.web.urls")),
    path("", include("resources.web.urls")),
    path("", include("jobs.web.urls")),
    path("", include("metering.web.urls")),
    path("", include("portal.web.admin.urls")),
    path("", include("portal.web.urls")),
]

handler400 = "portal.web.errors.bad_request"
handler403 = "portal.web.errors.permission_denied"
handler404 = "portal.web.errors.not_found"
handler500 = "portal.web.errors.server_error"
