"""Publish the next version of a template."""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from django.db import transaction
from django.utils.translation import gettext_lazy as _

from jobs.models import JobTemplate, TemplateVersion
from jobs.template_access import refuse_change, require_change
from jobs.template_spec import BadSpec, changes_between, next_spec
from portal.lib.errors import Conflict, FieldError, Invalid
from tenants.models import User
from tenants.services.record_audit import record_audit


@transaction.atomic
def publish_version(
    *,
    actor: User | None,
    template: JobTemplate,
    base: int,
    parts: Mapping[str, Any],
    now: datetime,
    note: str = "",
) -> TemplateVersion:
    """The new version: the newest one with these parts in their place; jobs of earlier versions keep theirs.

    `base` is the number the parts were written against. Raises Denied; Conflict when it is no longer the newest,
    when nothing changes, or when the template is retired or comes with the product; Invalid with a JSON path for
    each problem.
    """
    if actor is not None:
        require_change(actor, template.project)
    locked = JobTemplate.objects.select_for_update(of=("self",)).get(pk=template.pk)
    newest = TemplateVersion.objects.filter(template=locked).order_by("-number").first()
    assert newest is not None
    refuse_change(locked, newest, base)
    try:
        spec = next_spec(newest.spec, parts, version=newest.number + 1)
    except BadSpec as bad:
        fields = (FieldError(p.path, p.reason, _(p.template), p.facts) for p in bad.problems)
        raise Invalid.of(*fields) from bad
    changes = changes_between(newest.spec, spec)
    if not changes:
        raise Conflict("NothingChanged", _("Nothing has changed: this is the newest version as it is."))
    version = TemplateVersion.objects.create(
        template=locked, number=newest.number + 1, spec=spec, published_at=now, published_by=actor
    )
    before = {"version": newest.number, **{c.path: c.old for c in changes}}
    after = {"version": version.number, **{c.path: c.new for c in changes}}
    record_audit(actor=actor, verb="template.published", target=locked, before=before, after=after, note=note, now=now)
    return version
