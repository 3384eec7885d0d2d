"""Home: one section for each role a person holds, in the order of the navigation."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from portal.lib.clock import utc_now
from portal.lib.signin import signed_in
from portal.web.homes import SECTIONS
from tenants import access
from tenants.models import User
from tenants.selectors.people import whom_to_ask


@require_GET
@signed_in
def home(request: HttpRequest) -> HttpResponse:
    """The sections of all the roles held; without a role, whom to ask."""
    user, now = request.user, utc_now()
    assert isinstance(user, User)
    roles = access.permissions_anywhere(user)
    sections = [
        {"title": section.title, "template": section.template, **section.build(user, now)}
        for section in SECTIONS
        if section.roles & roles
    ]
    if not sections:
        return render(request, "portal/home/none.html", {"ask": whom_to_ask(), "now": now})
    simulated = sorted({name for section in sections for name in section.get("simulated", ())})
    return render(request, "portal/home.html", {"sections": sections, "simulated": simulated, "now": now})
