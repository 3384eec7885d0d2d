"""Operations of metering."""

from django.urls import URLPattern

urlpatterns: list[URLPattern] = []
