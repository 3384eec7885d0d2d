"""The map of /api/v1: each app names its own routes."""

from django.urls import URLResolver, include, path

urlpatterns: list[URLResolver] = [
    path("", include("tenants.api.urls")),
    path("", include("resources.api.urls")),
    path("", include("jobs.api.urls")),
    path("", include("metering.api.urls")),
]
