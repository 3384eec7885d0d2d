"""Pages of the roof."""

from django.urls import URLPattern, path

from portal.web.home import home

urlpatterns: list[URLPattern] = [path("", home, name="home")]
