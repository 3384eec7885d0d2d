"""Pages of the roof."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
