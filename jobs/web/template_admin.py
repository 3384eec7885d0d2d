"""Copy a template, publish its next version, retire and restore it: each looked at before it is saved."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_http_methods

from jobs.models import JobTemplate, TemplateVersion
from jobs.params.forms import ParamsForm
from jobs.params.schema import read_schema
from jobs.selectors.templates import latest_of, template_of, unfinished_of
from jobs.services.copy_template import copy_template
from jobs.services.publish_version import publish_version
from jobs.services.restore_template import restore_template
from jobs.services.retire_template import retire_template
from jobs.template_access import FOR_ALL, IN_PROJECT, may_copy, refuse_change, require_change
from jobs.template_spec import BadSpec, changes_between, next_spec
from jobs.web.template_forms import CopyForm, VersionForm, field_of, parts_of, values_of
from portal.lib.change_form import Change, ChangePage, Effect, Preview, Text, run_change
from portal.lib.clock import utc_now
from portal.lib.errors import FieldError, Invalid
from portal.lib.localised import localised
from portal.lib.signin import signed_in
from tenants import access
from tenants.models import Project, User

GET_POST = ["GET", "POST"]
FOR_EVERYBODY = "-"


@require_http_methods(GET_POST)
@signed_in
def copy(request: HttpRequest, slug: str) -> HttpResponse:
    """A template of one's own with the same program and parameters."""
    actor, source = _actor(request), latest_of(template_of(request.user, slug))
    if not may_copy(actor):
        require_change(actor, None)
    places = _places(actor)

    def save(values: dict[str, Any], reason: str) -> str:
        place = values["place"]
        project = None if place == FOR_EVERYBODY else access.fetch(actor, Project, place, IN_PROJECT)
        made = copy_template(
            actor=actor,
            source=source,
            project=project,
            slug=values["slug"],
            title=values["title"],
            now=utc_now(),
            note=reason,
        )
        return reverse("template_detail", args=[made.template.slug])

    page = ChangePage(
        title=_("Copy {template}").format(template=slug),
        back=reverse("template_detail", args=[slug]),
        form=lambda *args, **options: CopyForm(*args, places=places, **options),
        preview=lambda _values: Preview(effects=[Effect(_COPIED % {"number": source.number})]),
        save=save,
        verb=gettext_lazy("Make the copy"),
        crumbs=_trail(slug, _("Copy")),
    )
    return run_change(request, page)


@require_http_methods(GET_POST)
@signed_in
def new_version(request: HttpRequest, slug: str) -> HttpResponse:
    """Titles, texts, bounds and parameters of the next version, with its form as it will be and a diff."""
    actor, template = _actor(request), template_of(request.user, slug)
    require_change(actor, template.project)
    newest = latest_of(template)
    refuse_change(template, newest, newest.number)

    def save(values: dict[str, Any], reason: str) -> str:
        try:
            publish_version(
                actor=actor, template=template, base=newest.number, parts=parts_of(values), now=utc_now(), note=reason
            )
        except Invalid as error:
            raise Invalid.of(*map(_on_form, error.fields)) from error
        return reverse("template_detail", args=[slug])

    page = ChangePage(
        title=_("Version {number} of {template}").format(number=newest.number + 1, template=slug),
        back=reverse("template_detail", args=[slug]),
        form=lambda *args, **options: VersionForm(*args, spec=newest.spec, **options),
        today=lambda: values_of(newest.spec) | {"base": newest.number},
        lock=lambda: JobTemplate.objects.select_for_update(of=("self",)).get(pk=template.pk),
        preview=lambda values: _preview(newest, values),
        save=save,
        verb=gettext_lazy("Publish the version"),
        done=gettext_lazy("The version is published."),
        crumbs=_trail(slug, _("New version")),
    )
    return run_change(request, page)


@require_http_methods(GET_POST)
@signed_in
def retire(request: HttpRequest, slug: str) -> HttpResponse:
    """Out of use: no new job, and everything under way goes on."""
    actor, template = _actor(request), template_of(request.user, slug)
    require_change(actor, template.project)

    def save(_values: dict[str, Any], reason: str) -> str:
        retire_template(actor=actor, template=template, now=utc_now(), note=reason)
        return reverse("template_detail", args=[slug])

    effects = [
        Effect(_going_on(unfinished_of(template)), live=True),
        Effect(_("No new job can be made of it: forms that are open now are refused when they are sent.")),
        Effect(_("Its versions and the jobs made of them stay readable; it can be restored.")),
    ]
    return run_change(request, _act(template, gettext_lazy("Retire"), save, effects, danger=True))


@require_http_methods(GET_POST)
@signed_in
def restore(request: HttpRequest, slug: str) -> HttpResponse:
    """Back into use."""
    actor, template = _actor(request), template_of(request.user, slug)
    require_change(actor, template.project)

    def save(_values: dict[str, Any], reason: str) -> str:
        restore_template(actor=actor, template=template, now=utc_now(), note=reason)
        return reverse("template_detail", args=[slug])

    effects = [Effect(_("New jobs can be made of its newest version again."))]
    return run_change(request, _act(template, gettext_lazy("Restore"), save, effects, danger=False))


def _going_on(unfinished: int) -> str:
    if not unfinished:
        return _("No job of it waits or runs.")
    said = ngettext("{n} job of it waits or runs, and goes on.", "{n} jobs of it wait or run, and go on.", unfinished)
    return said.format(n=unfinished)


def _preview(newest: TemplateVersion, values: dict[str, Any]) -> Preview:
    try:
        spec = next_spec(newest.spec, parts_of(values), version=newest.number + 1)
    except BadSpec as bad:
        fields = (FieldError(p.path, p.reason, gettext_lazy(p.template), p.facts) for p in bad.problems)
        raise Invalid.of(*map(_on_form, fields)) from bad
    changes = [Change(c.path, c.old or "–", c.new or "–") for c in changes_between(newest.spec, spec)]
    return Preview(
        changes=changes,
        effects=[Effect(_("Jobs of earlier versions keep theirs; new jobs take this one."))],
        part="jobs/version_sample.html",
        sample={"params": ParamsForm(read_schema(spec["params"])), "spec": spec},
    )


def _on_form(error: FieldError) -> FieldError:
    """The same refusal beside the form's field, with the JSON path in front where the field holds more than it."""
    name = field_of(error.field)
    if name and "." not in error.field.removeprefix("title.").removeprefix("description."):
        return FieldError(name, error.reason, error.message, error.facts)
    say = f"{error.field}: {error.text()}".replace("{", "{{").replace("}", "}}")
    return FieldError(name or error.field, error.reason, say, error.facts)


def _act(template: JobTemplate, verb: str | Promise, save: Any, effects: list[Effect], *, danger: bool) -> ChangePage:
    title = localised(latest_of(template).spec["title"], template.slug)
    return ChangePage(
        title=f"{verb}: {title}",
        back=reverse("template_detail", args=[template.slug]),
        preview=lambda _values: Preview(changes=(), effects=effects),
        save=save,
        verb=verb,
        danger=danger,
        crumbs=_trail(template.slug, verb),
    )


def _places(user: User) -> list[tuple[str, str | Promise]]:
    """Where the user may put a copy."""
    projects = access.visible_projects(user, IN_PROJECT).filter(archived_at__isnull=True).order_by("name")
    everybody = [(FOR_EVERYBODY, gettext_lazy("Everybody"))] if access.at_platform(user, FOR_ALL) else []
    return [*everybody, *((str(key), name) for key, name in projects.values_list("pk", "name"))]


def _trail(slug: str, *more: Text) -> list[tuple[Text, str]]:
    first: list[tuple[Text, str]] = [(gettext_lazy("Templates"), reverse("template_list"))]
    return [*first, (slug, reverse("template_detail", args=[slug])), *((name, "") for name in more)]


def _actor(request: HttpRequest) -> User:
    assert isinstance(request.user, User)
    return request.user


_COPIED = gettext_lazy("It begins as version 1, equal to version %(number)d of the original but for the title.")
