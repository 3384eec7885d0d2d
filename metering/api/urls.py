"""Operations on usage."""

from django.urls import URLPattern, path

from metering.api import usage

urlpatterns: list[URLPattern] = [
    path("usage/me", usage.MyUsage.as_view(), name="api_my_usage"),
    path("usage/projects", usage.UsageByProject.as_view(), name="api_project_usage"),
]
