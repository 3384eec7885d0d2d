"""Runtimes: the list and one runtime."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.translation import gettext as _
from django.views.decorators.http import require_GET

from portal.lib.clock import utc_now
from portal.lib.errors import NotFound
from portal.lib.localised import localised
from portal.lib.pages import page_of
from portal.lib.signin import signed_in
from portal.lib.sorting import Sorting
from resources.driver_words import driver_word
from resources.images import is_pinned
from resources.models import Runtime
from resources.selectors.catalogue import class_looks
from resources.selectors.history import history_of
from resources.selectors.runtimes import drivers_for, runtimes
from resources.task_types import TASK_WORDS
from resources.web.parts import Asked, FacetForm
from tenants import access

SORTS = {"key": ("key",), "driver": ("driver_kind", "key"), "framework": ("framework", "version", "key")}


@require_GET
@signed_in
def runtime_list(request: HttpRequest) -> HttpResponse:
    """Runtimes in use, or the retired ones, and what they are declared for."""
    sorting = Sorting.of(request, SORTS, "key")
    asked = Asked.of(request, "driver", "q", "retired")
    retired = asked["retired"] == "1"
    page = page_of(request, sorting.apply(runtimes(driver=asked["driver"], text=asked["q"], retired=retired)))
    kinds = Runtime.objects.order_by("driver_kind").values_list("driver_kind", flat=True).distinct()
    context = {
        "page": page,
        "rows": [(runtime, localised(runtime.name, runtime.key), _tasks(runtime)) for runtime in page],
        "links": [
            *(asked.toggle("driver", kind, driver_word(kind)) for kind in kinds),
            asked.toggle("retired", "1", _("Retired"), state="retired"),
            *asked.chosen("q"),
        ],
        "filtered": bool(asked),
        "form": FacetForm(asked, {"q": (_("Part of the name"), None)}),
        "heads": sorting.heads,
        "may_manage": access.at_platform(request.user, "policy.manage"),
        "now": utc_now(),
    }
    return render(request, "resources/runtime_list.html", context)


@require_GET
@signed_in
def runtime_detail(request: HttpRequest, key: str) -> HttpResponse:
    """What it is, what it is declared for, and the drivers it would find."""
    row = Runtime.objects.prefetch_related("classes").filter(key=key).first()
    if row is None:
        raise NotFound(f"Runtime {key}")
    looks = class_looks()
    context = {
        "runtime": row,
        "name": localised(row.name, row.key),
        "tasks": _tasks(row),
        "classes": [looks[one.key] for one in row.classes.all()],
        "pinned": is_pinned(row.image),
        "drivers": [(looks[found.class_key], found) for found in drivers_for(row)],
        "history": history_of(request.user, row),
        "may_manage": access.at_platform(request.user, "policy.manage"),
        "now": utc_now(),
    }
    return render(request, "resources/runtime_detail.html", context)


def _tasks(row: Runtime) -> list[str]:
    return [str(TASK_WORDS.get(task, task)) for task in row.task_types]
