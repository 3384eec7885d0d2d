"""Make a template of one's own from a published version of another."""

from datetime import datetime

from django.db import IntegrityError, transaction
from django.utils.translation import gettext_lazy as _

from jobs.models import JobTemplate, TemplateVersion
from jobs.template_access import require_change
from portal.lib.errors import FieldError, Invalid
from portal.lib.text import BadInput, clean_name, clean_note, clean_slug
from tenants.models import Project, User
from tenants.services.record_audit import record_audit

TAKEN = _("There is a template {slug} already. Choose another short name.")


def copy_template(
    *,
    actor: User | None,
    source: TemplateVersion,
    project: Project | None,
    slug: str,
    title: str,
    now: datetime,
    note: str = "",
) -> TemplateVersion:
    """Version 1 of the new template: the source's program, parameters and bounds under another name.

    Without a project it is for everybody. Raises Denied, or Invalid for a bad or taken slug and a bad title.
    """
    if actor is not None:
        require_change(actor, project)
    slug, title, note = _checked(slug, title, note)
    spec = {**source.spec, "slug": slug, "version": 1, "title": {"en": title}}
    try:
        with transaction.atomic():
            template = JobTemplate.objects.create(
                slug=slug, project=project, task_type=source.template.task_type, created_at=now
            )
            version = TemplateVersion.objects.create(
                template=template, number=1, spec=spec, published_at=now, published_by=actor
            )
            after = {"slug": slug, "version": 1, "copied_from": f"{source.template.slug} v{source.number}"}
            record_audit(actor=actor, verb="template.copied", target=template, after=after, note=note, now=now)
    except IntegrityError as error:
        raise Invalid.of(FieldError("slug", "SlugTaken", TAKEN, {"slug": slug})) from error
    return version


def _checked(slug: str, title: str, note: str) -> tuple[str, str, str]:
    errors: list[FieldError] = []
    cleaned: list[str] = []
    for name, clean, raw in (
        ("slug", clean_slug, slug),
        ("title", lambda value: clean_name(value, maximum=120), title),
        ("note", lambda value: clean_note(value, maximum=1_000), note),
    ):
        try:
            cleaned.append(clean(raw))
        except BadInput as bad:
            errors.append(FieldError(name, bad.reason, _(bad.template), bad.facts))
    if errors:
        raise Invalid.of(*errors)
    return cleaned[0], cleaned[1], cleaned[2]
