"""Templates: the list to start from, one template, and its versions side by side."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from jobs.models import JobTemplate, TemplateVersion
from jobs.selectors.templates import (
    latest_of,
    retired_templates,
    schema_of,
    submittable_projects,
    template_of,
    templates_visible_to,
    version_of,
    versions_of,
)
from jobs.template_access import may_change, may_copy
from jobs.template_spec import changes_between
from portal.lib.pages import page_of, word
from portal.lib.signin import signed_in

PER_PAGE = 100


@require_GET
@signed_in
def template_list(request: HttpRequest) -> HttpResponse:
    """Every template the user may start from; `?retired=1` those out of use."""
    retired = request.GET.get("retired") == "1"
    rows = retired_templates(request.user) if retired else templates_visible_to(request.user)
    page = page_of(request, rows.select_related("project").filter(versions__isnull=False).distinct(), size=PER_PAGE)
    context = {
        "page": page,
        "templates": list(page),
        "retired": retired,
        "retired_count": retired_templates(request.user).count(),
        "may_submit": submittable_projects(request.user).exists(),
    }
    return render(request, "jobs/template_list.html", context)


@require_GET
@signed_in
def template_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """What it does, its parameters and sizes, and its published versions."""
    template = template_of(request.user, slug)
    version = latest_of(template)
    context = {
        "template": template,
        "version": version,
        "spec": version.spec,
        "params": schema_of(version).params,
        "versions": versions_of(template)[:PER_PAGE],
        "may_submit": submittable_projects(request.user).exists(),
        "may_copy": may_copy(request.user),
        "may_change": may_change(request.user, template),
        "shipped": template.is_shipped,
    }
    return render(request, "jobs/template_detail.html", context)


@require_GET
@signed_in
def template_versions(request: HttpRequest, slug: str) -> HttpResponse:
    """Every version, and what changed between any two: `?from=` and `?to=`, else the last two."""
    template = template_of(request.user, slug)
    old, new = _two(request, template)
    context = {
        "template": template,
        "versions": versions_of(template),
        "old": old,
        "new": new,
        "changes": changes_between(old.spec, new.spec) if old else [],
    }
    return render(request, "jobs/template_versions.html", context)


def _two(request: HttpRequest, template: JobTemplate) -> tuple[TemplateVersion | None, TemplateVersion]:
    """The versions to compare. Raises NotFound for a number there is none of."""
    newest = latest_of(template)
    new = version_of(template, _number(word(request, "to", 9), newest.number))
    before = _number(word(request, "from", 9), new.number - 1)
    return (version_of(template, before) if before else None), new


def _number(raw: str, default: int) -> int:
    return int(raw) if raw.isascii() and raw.isdigit() else default
