"""What each role finds on its home: a section with its title, its template and what fills that."""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from portal.web.homes.audit import audit_home
from portal.web.homes.lead import lead_home
from portal.web.homes.manager import manager_home
from portal.web.homes.platform import platform_home
from portal.web.homes.pools import pools_home
from portal.web.homes.viewer import viewer_home
from portal.web.homes.work import work_home
from tenants.models import User
from tenants.roles import Role

Build = Callable[[User, datetime], dict[str, Any]]


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the page: who gets it, what it is called, its template and what fills that."""

    roles: frozenset[Role]
    title: str | Promise
    template: str
    build: Build


SECTIONS = (
    Section(frozenset({Role.PLATFORM_ADMIN}), _("Platform"), "portal/home/platform.html", platform_home),
    Section(frozenset({Role.POOL_ADMIN}), _("My pools"), "portal/home/pools.html", pools_home),
    Section(frozenset({Role.AUDITOR}), _("Audit"), "portal/home/audit.html", audit_home),
    Section(frozenset({Role.MANAGER}), _("Cost and usage"), "portal/home/manager.html", manager_home),
    Section(frozenset({Role.LEAD}), _("My teams"), "portal/home/lead.html", lead_home),
    Section(frozenset({Role.OWNER, Role.MEMBER}), _("My work"), "portal/home/work.html", work_home),
    Section(frozenset({Role.VIEWER}), _("Jobs I may follow"), "portal/home/viewer.html", viewer_home),
)
