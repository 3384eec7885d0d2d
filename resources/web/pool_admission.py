"""How the nodes of a pool come into service: at once, or after a validation job."""

from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from jobs.selectors.validation import validation_projects, validation_slugs, validation_templates
from portal.lib.change_form import ChangePage, Effect, Preview, run_change
from portal.lib.clock import utc_now
from portal.lib.errors import NotFound
from portal.lib.localised import localised
from portal.lib.signin import signed_in
from resources.models import Admission, Node, Pool
from resources.selectors.fleet import pools_visible_to
from resources.services.set_pool_admission import set_pool_admission
from tenants import access
from tenants.models import Project
from tenants.rehearsal import rehearse

POOLS = gettext_lazy("Pools")
NONE = gettext_lazy("choose one")


class PoolAdmissionForm(forms.Form):
    """The rule; template and project count only with a validation job."""

    admission = forms.ChoiceField(label=gettext_lazy("Nodes come into service"), choices=Admission.choices)
    template = forms.ChoiceField(
        label=gettext_lazy("Template of the validation job"),
        required=False,
        help_text=gettext_lazy("Those that run on the pool's kind of cluster with the values they start from."),
    )
    project = forms.ChoiceField(
        label=gettext_lazy("Charged to"),
        required=False,
        help_text=gettext_lazy("A project that is granted the pool. Validation is metered like every job."),
    )
    keep_present = forms.BooleanField(
        label=gettext_lazy("Nodes in service stay there"),
        required=False,
        help_text=gettext_lazy("They are marked as not verified. Otherwise they too must pass first."),
    )

    def __init__(self, *args: Any, pool: Pool, projects: list[Project], **options: Any) -> None:
        super().__init__(*args, **options)
        slugs = [
            (row.template.slug, localised(row.spec["title"], row.template.slug)) for row in validation_templates(pool)
        ]
        names = [(project.slug, f"{project.name} ({project.slug})") for project in projects]
        self.fields["template"].choices = _with(slugs, pool.validation_template)  # type: ignore[attr-defined]
        stored = pool.validation_project.slug if pool.validation_project else ""
        self.fields["project"].choices = _with(names, stored)  # type: ignore[attr-defined]


@signed_in
def pool_admission(request: HttpRequest, key: str) -> HttpResponse:
    """Set it; the preview says which nodes would leave service until they have passed."""
    rows = pools_visible_to(request.user, utc_now()).select_related("validation_project")
    pool = rows.filter(key=key).first()
    if pool is None:
        raise NotFound(f"Pool {key}")
    access.require(request.user, "pool.change", pool)
    mine = access.visible_projects(request.user, "job.ask")
    projects = [one for one in validation_projects(pool, utc_now()) if one in set(mine)]
    back, name = reverse("pool_detail", args=[key]), localised(pool.name, pool.key)

    def save(values: dict[str, Any], reason: str) -> str:
        set_pool_admission(
            actor=request.user,  # type: ignore[arg-type]
            pool=pool,
            admission=values["admission"],
            template=values["template"],
            project=next((one for one in projects if one.slug == values["project"]), None),
            keep_present=values["keep_present"],
            note=reason,
            now=utc_now(),
            templates_for=validation_slugs,
            projects_for=lambda _pool: projects,
        )
        return back

    def preview(values: dict[str, Any]) -> Preview:
        rehearse(lambda: save(values, "preview"))
        return Preview(effects=_effects(pool, values))

    page = ChangePage(
        title=_("Admission of nodes to pool {name}").format(name=name),
        intro=_("A node that must pass takes no jobs until one that takes all of it has succeeded and let go."),
        back=back,
        crumbs=[(POOLS, reverse("pool_list")), (name, back), (_("Admission"), "")],
        form=lambda *args, **options: PoolAdmissionForm(*args, pool=pool, projects=projects, **options),
        today=lambda: _today(pool),
        lock=lambda: Pool.objects.select_for_update().get(pk=pool.pk),
        preview=preview,
        save=save,
    )
    return run_change(request, page)


def _today(stored: Pool) -> dict[str, Any]:
    row = Pool.objects.select_related("validation_project").get(pk=stored.pk)
    return {
        "admission": row.admission,
        "template": row.validation_template,
        "project": row.validation_project.slug if row.validation_project else "",
        "keep_present": False,
    }


def _effects(pool: Pool, values: dict[str, Any]) -> list[Effect]:
    if values["admission"] == Admission.AT_ONCE:
        waiting = pool.nodes.exclude(standing="").exclude(standing="Quarantined").count()
        text = ngettext("{n} node comes into service now.", "{n} nodes come into service now.", waiting)
        return [Effect(text.format(n=waiting), live=True)]
    unproved = pool.nodes.filter(stage=Node.Stage.SCHEDULABLE, proof={}).count()
    if values["keep_present"]:
        text = ngettext(
            "{n} node stays in service, not verified.", "{n} nodes stay in service, not verified.", unproved
        )
        return [Effect(text.format(n=unproved), live=True)]
    text = ngettext(
        "{n} node leaves service until its validation job has passed. Jobs that run there stay.",
        "{n} nodes leave service until their validation jobs have passed. Jobs that run there stay.",
        unproved,
    )
    return [Effect(text.format(n=unproved), "warn" if unproved else "off", live=True)]


def _with(options: list[tuple[str, str]], stored: str) -> list[tuple[str, Any]]:
    """The choices, with what is stored among them even where it may no longer be chosen."""
    known = {key for key, _name in options}
    return [("", NONE), *options, *([(stored, stored)] if stored and stored not in known else [])]
