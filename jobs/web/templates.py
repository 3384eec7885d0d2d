"""Templates: the list to start from, and one template with its versions."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_GET

from jobs.models import TemplateVersion
from jobs.selectors.templates import newest_version, schema_of, submittable_projects, templates_visible_to
from portal.lib.signin import signed_in


@require_GET
@signed_in
def template_list(request: HttpRequest) -> HttpResponse:
    """Every template the user may start from."""
    templates = [t for t in templates_visible_to(request.user) if t.newest]  # type: ignore[attr-defined]
    may_submit = submittable_projects(request.user).exists()
    return render(request, "jobs/template_list.html", {"templates": templates, "may_submit": may_submit})


@require_GET
@signed_in
def template_detail(request: HttpRequest, slug: str) -> HttpResponse:
    """What it does, its parameters and sizes, and its published versions."""
    version = newest_version(request.user, slug)
    context = {
        "version": version,
        "spec": version.spec,
        "params": schema_of(version).params,
        "versions": TemplateVersion.objects.filter(template=version.template).order_by("-number"),
        "may_submit": submittable_projects(request.user).exists(),
    }
    return render(request, "jobs/template_detail.html", context)
