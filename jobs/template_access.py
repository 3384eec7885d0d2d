"""Who may change templates: of a project its owners and leads; those for everybody, the platform's administrators."""

from django.utils.translation import gettext_lazy as _

from jobs.models import JobTemplate, TemplateVersion
from portal.lib.errors import Conflict
from tenants import access
from tenants.access import Actor
from tenants.models import Project

IN_PROJECT, FOR_ALL = "template.change", "template.manage"


def require_change(user: Actor, project: Project | None) -> None:
    """Raise Denied unless the user may change templates of the project, or without one those for everybody."""
    if project is not None:
        access.require(user, IN_PROJECT, project)
    else:
        access.require_platform(user, FOR_ALL)


def may_change(user: Actor, template: JobTemplate) -> bool:
    """Whether the user may publish versions of the template, retire and restore it."""
    if template.project is not None:
        return access.can(user, IN_PROJECT, template.project)
    return access.at_platform(user, FOR_ALL)


def may_copy(user: Actor) -> bool:
    """Whether there is any place the user may copy a template to."""
    return access.at_platform(user, FOR_ALL) or access.visible_projects(user, IN_PROJECT).exists()


def refuse_change(template: JobTemplate, newest: TemplateVersion, base: int) -> None:
    """Raise Conflict for a template that takes no new version, or one that has got another meanwhile."""
    facts = {"slug": template.slug, "newest": newest.number, "base": base}
    if template.is_shipped:
        message = _("{slug} comes with the product, and so do its versions. Copy it and change the copy.")
        raise Conflict("TemplateShipped", message, facts=facts)
    if template.retired_at is not None:
        raise Conflict("TemplateRetired", _("{slug} is retired. Restore it first."), facts=facts)
    if newest.number != base:
        message = _("Version {newest} was published meanwhile; this was written against version {base}.")
        raise Conflict("VersionOutdated", message, facts=facts)
