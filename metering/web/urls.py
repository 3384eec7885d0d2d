"""Pages of metering."""

from django.urls import URLPattern, path

from metering.web import rates, usage

urlpatterns: list[URLPattern] = [
    path("classes/<slug:key>/rates/new", rates.rate_publish, name="rate_publish"),
    path("usage/me", usage.my_usage, name="my_usage"),
    path("usage/projects", usage.usage_by_project, name="usage_by_project"),
    path("usage/jobs/<uuid:key>", usage.job_usage, name="job_usage"),
]
