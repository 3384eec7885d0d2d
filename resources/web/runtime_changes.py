"""Changes of runtimes: declare, edit, retire."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from jobs.selectors.runtime_use import jobs_waiting_in
from portal.lib.change_form import Change, ChangePage, Effect, Preview, run_change
from portal.lib.clock import utc_now
from portal.lib.errors import NotFound
from portal.lib.localised import localised
from portal.lib.signin import signed_in
from resources.images import is_pinned
from resources.models import Runtime
from resources.services.change_runtime import change_runtime
from resources.services.declare_runtime import declare_runtime
from resources.services.retire_runtime import retire_runtime
from resources.web.declared_forms import NewRuntimeForm, RuntimeForm
from resources.web.forms import names_of, today_of_names
from tenants import access
from tenants.rehearsal import rehearse

RUNTIMES = gettext_lazy("Runtimes")
_SAME = (
    "image", "framework", "version", "runtime_class", "kinds", "classes", "task_types", "driver_range", "maintainer",
)  # fmt: skip


@signed_in
def runtime_new(request: HttpRequest) -> HttpResponse:
    """Declare a runtime."""
    access.require_platform(request.user, "policy.manage")

    def declare(values: dict[str, Any], reason: str) -> Runtime:
        return declare_runtime(
            actor=request.user,  # type: ignore[arg-type]
            key=values["key"],
            driver_kind=values["driver_kind"],
            note=reason,
            now=utc_now(),
            **_given(values),
        )

    def preview(values: dict[str, Any]) -> Preview:
        rehearse(lambda: declare(values, "preview"))
        return Preview(effects=_about_image(values["image"]))

    page = ChangePage(
        title=_("New runtime"),
        intro=_("A job combines a runtime only with what it is declared for. Declaring proves nothing: a run does."),
        back=reverse("runtime_list"),
        form=NewRuntimeForm,
        preview=preview,
        save=lambda values, reason: reverse("runtime_detail", args=[declare(values, reason).key]),
    )
    return run_change(request, page)


@signed_in
def runtime_edit(request: HttpRequest, key: str) -> HttpResponse:
    """Change what it is or what it is declared for."""
    row = _runtime(request, key)
    back, name = reverse("runtime_detail", args=[key]), localised(row.name, row.key)

    def change(values: dict[str, Any], reason: str) -> str:
        change_runtime(actor=request.user, runtime=row, note=reason, now=utc_now(), **_given(values))  # type: ignore[arg-type]
        return back

    def preview(values: dict[str, Any]) -> Preview:
        rehearse(lambda: change(values, "preview"))
        return Preview(effects=[*_about_image(values["image"]), *_waiting(key)])

    page = ChangePage(
        title=_("Edit runtime {name}").format(name=name),
        back=back,
        crumbs=[(RUNTIMES, reverse("runtime_list")), (name, back), (_("Edit"), "")],
        form=RuntimeForm,
        today=lambda: _today(row),
        lock=lambda: Runtime.objects.select_for_update().get(pk=row.pk),
        preview=preview,
        save=change,
    )
    return run_change(request, page)


@signed_in
def runtime_retire(request: HttpRequest, key: str) -> HttpResponse:
    """Take a runtime out of the catalogue."""
    row = _runtime(request, key)
    back, name = reverse("runtime_detail", args=[key]), localised(row.name, row.key)

    def save(_values: dict[str, Any], reason: str) -> str:
        retire_runtime(actor=request.user, runtime=row, note=reason, now=utc_now())  # type: ignore[arg-type]
        return back

    page = ChangePage(
        title=_("Retire runtime {name}").format(name=name),
        intro=_("No new job is given it. Jobs that have it keep it."),
        back=back,
        crumbs=[(RUNTIMES, reverse("runtime_list")), (name, back), (_("Retire"), "")],
        today=lambda: Runtime.objects.values("retired_at").get(pk=row.pk),
        lock=lambda: Runtime.objects.select_for_update().get(pk=row.pk),
        preview=lambda _values: _retirement(row),
        save=save,
        verb=_("Retire"),
        danger=True,
    )
    return run_change(request, page)


def _runtime(request: HttpRequest, key: str) -> Runtime:
    row = Runtime.objects.filter(key=key).first()
    if row is None:
        raise NotFound(f"Runtime {key}")
    access.require_platform(request.user, "policy.manage")
    return row


def _given(values: dict[str, Any]) -> dict[str, Any]:
    return {"name": names_of(values)} | {field: values[field] for field in _SAME}


def _today(stored: Runtime) -> dict[str, Any]:
    row = Runtime.objects.get(pk=stored.pk)
    plain = {field: getattr(row, field) for field in _SAME if field != "classes"}
    # In the order of the boxes, so that an untouched form is no change.
    keys = list(row.classes.order_by("kind", "key").values_list("key", flat=True))
    return {**today_of_names(row.name), **plain, "classes": keys}


def _about_image(image: str) -> list[Effect]:
    if not image or is_pinned(image):
        return []
    return [Effect(_("The image is not pinned: a tag may be moved. Add @sha256: and its digest."), "warn")]


def _waiting(key: str) -> list[Effect]:
    count = jobs_waiting_in(key)
    text = ngettext(
        "{n} job that has not started was given it, and starts in what it is then.",
        "{n} jobs that have not started were given it, and start in what it is then.",
        count,
    )
    return [Effect(text.format(n=count), "wait", live=True)] if count else []


def _retirement(stored: Runtime) -> Preview:
    row = Runtime.objects.get(pk=stored.pk)
    if row.retired_at:
        return Preview(changes=(), blockers=[Effect(_("This is how it stands already."))])
    return Preview([Change(_("State"), _("in use"), _("retired"))], effects=_waiting(row.key))
