"""Publish the templates that come with the product, each version once."""

from collections.abc import Iterable
from datetime import datetime

from django.db import transaction

from jobs.models import JobTemplate, TemplateVersion
from jobs.shipped.catalogue import TEMPLATES
from jobs.shipped.template import Template
from tenants.services.record_audit import record_audit


@transaction.atomic
def publish_shipped_templates(*, now: datetime, templates: Iterable[Template] = TEMPLATES) -> int:
    """How many versions are new. A published version never changes: a changed template has a higher number."""
    new = 0
    for shipped in templates:
        template, _ = JobTemplate.objects.get_or_create(
            slug=shipped.slug, defaults={"task_type": shipped.task_type, "created_at": now}
        )
        version, created = TemplateVersion.objects.get_or_create(
            template=template, number=shipped.version, defaults={"spec": shipped.spec(), "published_at": now}
        )
        if created:
            new += 1
            after = {"slug": shipped.slug, "version": version.number}
            record_audit(actor=None, verb="template.published", target=None, after=after, now=now)
    return new
