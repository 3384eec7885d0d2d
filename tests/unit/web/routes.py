"""A map of the site with some of its pages, so that what is missing can be seen to be left out."""

from django.http import HttpRequest, HttpResponse
from django.urls import path


def page(request: HttpRequest) -> HttpResponse:
    return HttpResponse("ok")


urlpatterns = [
    path(f"{name}/", page, name=name)
    for name in ("home", "template_list", "job_list", "my_usage", "node_list", "audit_list", "login", "logout")
]
urlpatterns.append(path("language", page, name="set_language"))
