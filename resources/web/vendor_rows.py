"""What resource names mean: rows that administrators lay over the catalogue that comes with the portal."""

import uuid
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext
from django.views.decorators.http import require_GET

from portal.lib.change_form import Change, ChangePage, Effect, Preview, run_change
from portal.lib.clock import utc_now
from portal.lib.errors import NotFound
from portal.lib.pages import page_of
from portal.lib.signin import signed_in
from resources.declared_inputs import MEMORY_UNITS
from resources.models import VendorRow
from resources.normalize import load_catalogue
from resources.selectors.vendor_rows import names_without_vendor, reach_of
from resources.services.remove_vendor_row import remove_vendor_row
from resources.services.save_vendor_row import save_vendor_row
from resources.web.declared_forms import VendorRowForm
from resources.web.forms import some
from tenants import access
from tenants.rehearsal import rehearse

ROWS = gettext_lazy("Vendor rows")
_FIELDS = ("pattern", "vendor", "vendor_name", "kind", "unit", "model_label", "memory_label", "driver_label")


@require_GET
@signed_in
def vendor_row_list(request: HttpRequest) -> HttpResponse:
    """The rows of this installation, the names no row knows, and the vendors that come with the portal."""
    page = page_of(request, VendorRow.objects.all())
    manages = access.at_platform(request.user, "policy.manage")
    context = {
        "page": page,
        "rows": page,
        "vendors": sorted(load_catalogue().vendors.values(), key=lambda vendor: vendor.name),
        "unknown": names_without_vendor(request.user),
        "may_manage": manages,
        "now": utc_now(),
    }
    return render(request, "resources/vendor_row_list.html", context)


@signed_in
def vendor_row_new(request: HttpRequest) -> HttpResponse:
    """Say what a resource name means; `?pattern=` begins with one that nodes report."""
    access.require_platform(request.user, "policy.manage")
    asked = request.GET.get("pattern", "")[:253]
    return _change(request, None, _("New vendor row"), {"pattern": asked, "memory_unit": "MiB"} if asked else {})


@signed_in
def vendor_row_edit(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Change what a resource name means."""
    row = _row(request, key)
    return _change(request, row, _("Edit {name}").format(name=row.pattern), {})


@signed_in
def vendor_row_remove(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Take a row off."""
    row = _row(request, key)

    def save(_values: dict[str, Any], reason: str) -> str:
        remove_vendor_row(actor=request.user, row=row, note=reason, now=utc_now())  # type: ignore[arg-type]
        return reverse("vendor_row_list")

    page = ChangePage(
        title=_("Take off {name}").format(name=row.pattern),
        back=reverse("vendor_row_list"),
        crumbs=[(ROWS, reverse("vendor_row_list")), (row.pattern, "")],
        today=lambda: _today(row),
        lock=lambda: VendorRow.objects.select_for_update().filter(pk=row.pk).first(),
        preview=lambda _values: Preview([Change(row.pattern, row.vendor_name, "–")], effects=_effects(row.pattern)),
        save=save,
        verb=_("Take off"),
        danger=True,
    )
    return run_change(request, page)


def _change(request: HttpRequest, row: VendorRow | None, title: str, first: dict[str, Any]) -> HttpResponse:
    def write(values: dict[str, Any], reason: str) -> str:
        save_vendor_row(actor=request.user, row=row, note=reason, now=utc_now(), **values)  # type: ignore[arg-type]
        return reverse("vendor_row_list")

    def preview(values: dict[str, Any]) -> Preview:
        rehearse(lambda: write(values, "preview"))
        return Preview(effects=_effects(values["pattern"]))

    page = ChangePage(
        title=title,
        intro=_("In force with the next inventory pass of each Kubernetes cluster, before the rows of the portal."),
        back=reverse("vendor_row_list"),
        crumbs=[(ROWS, reverse("vendor_row_list")), (title, "")],
        form=VendorRowForm,
        today=lambda: _today(row) if row else first,
        lock=lambda: VendorRow.objects.select_for_update().filter(pk=row.pk).first() if row else None,
        preview=preview,
        save=write,
    )
    return run_change(request, page)


def _row(request: HttpRequest, key: uuid.UUID) -> VendorRow:
    access.require_platform(request.user, "policy.manage")
    row = VendorRow.objects.filter(pk=key).first()
    if row is None:
        raise NotFound(f"VendorRow {key}")
    return row


def _today(stored: VendorRow) -> dict[str, Any]:
    row = VendorRow.objects.filter(pk=stored.pk).first()
    if row is None:
        raise NotFound(f"VendorRow {stored.pk}")
    unit = next((name for name, size in MEMORY_UNITS.items() if size == row.memory_unit), "MiB")
    return {name: getattr(row, name) for name in _FIELDS} | {"memory_unit": unit}


def _effects(pattern: str) -> list[Effect]:
    reach = reach_of(pattern)
    names = some(f"{group.node.name}/{group.resource_name}" for group in reach.groups)
    text = ngettext("{n} device group of today: {names}.", "{n} device groups of today: {names}.", len(reach.groups))
    effects = [Effect(text.format(n=len(reach.groups), names=names), "ok")] if reach.groups else []
    if not effects:
        effects = [Effect(_("No node reports such a name today."))]
    if reach.shipped:
        effects.append(Effect(_("A row of the portal knows this name: yours stands before it."), "warn"))
    return effects
