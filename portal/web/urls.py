"""Pages of the roof."""

from django.urls import URLPattern, path

from portal.web import inbox
from portal.web.about import about
from portal.web.home import home
from portal.web.setup import views as setup

urlpatterns: list[URLPattern] = [
    path("", home, name="home"),
    path("inbox", inbox.inbox, name="inbox"),
    path("inbox/count", inbox.inbox_count, name="inbox_count"),
    path("inbox/read", inbox.notices_read, name="notices_read"),
    path("inbox/<uuid:key>/read", inbox.notice_read, name="notice_read"),
    path("setup", setup.setup, name="setup"),
    path("setup/pilot", setup.setup_pilot, name="setup_pilot"),
    path("about", about, name="about"),
]
