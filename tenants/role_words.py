"""Roles in words."""

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from tenants.roles import Role

ROLE_WORDS: dict[Role, str | Promise] = {
    Role.PLATFORM_ADMIN: _("Platform administrator"),
    Role.POOL_ADMIN: _("Pool administrator"),
    Role.AUDITOR: _("Auditor"),
    Role.MANAGER: _("Manager"),
    Role.LEAD: _("Team lead"),
    Role.OWNER: _("Project owner"),
    Role.MEMBER: _("Project member"),
    Role.VIEWER: _("Viewer"),
}
