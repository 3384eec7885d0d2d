"""Changes of resource classes: define, edit, retire."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from portal.lib.change_form import Change, ChangePage, Effect, Preview, run_change
from portal.lib.clock import utc_now
from portal.lib.errors import NotFound
from portal.lib.localised import localised
from portal.lib.signin import signed_in
from resources.models import ResourceClass
from resources.pairs import pairs_of, write_pairs
from resources.quantities import parse_memory, write_memory
from resources.selectors.catalogue import nodes_reporting
from resources.selectors.membership import GroupMove, moves_of_match
from resources.services.change_class import change_class
from resources.services.define_class import define_class
from resources.services.retire_class import retire_class
from resources.web.forms import ClassForm, NewClassForm, names_of, some, today_of_names
from tenants import access

CLASSES = gettext_lazy("Resource classes")


@signed_in
def class_new(request: HttpRequest) -> HttpResponse:
    """Define a class; the preview says which devices it takes, and from which class."""
    access.require_platform(request.user, "policy.manage")

    def save(values: dict[str, Any], reason: str) -> str:
        row = define_class(
            actor=request.user,  # type: ignore[arg-type]
            key=values["key"],
            kind=values["kind"],
            note=reason,
            now=utc_now(),
            **_given(values),
        )
        return reverse("class_detail", args=[row.key])

    page = ChangePage(
        title=_("New resource class"),
        back=reverse("class_list"),
        form=NewClassForm,
        preview=lambda values: _moves(values["key"], values),
        save=save,
    )
    return run_change(request, page)


@signed_in
def class_edit(request: HttpRequest, key: str) -> HttpResponse:
    """Change names, match rule and maintainer; the preview says which devices change class."""
    row = _class(request, key)
    back = reverse("class_detail", args=[key])

    def save(values: dict[str, Any], reason: str) -> str:
        change_class(actor=request.user, resource_class=row, note=reason, now=utc_now(), **_given(values))  # type: ignore[arg-type]
        return back

    name = localised(row.name, row.key)
    page = ChangePage(
        title=_("Edit class {name}").format(name=name),
        back=back,
        crumbs=[(CLASSES, reverse("class_list")), (name, back), (_("Edit"), "")],
        form=ClassForm,
        today=lambda: _today(row),
        lock=lambda: ResourceClass.objects.select_for_update().get(pk=row.pk),
        preview=lambda values: _moves(key, values, row),
        save=save,
    )
    return run_change(request, page)


@signed_in
def class_retire(request: HttpRequest, key: str) -> HttpResponse:
    """Take a class out of the catalogue, or say which nodes still report it."""
    row = _class(request, key)
    back, name = reverse("class_detail", args=[key]), localised(row.name, row.key)

    def save(_values: dict[str, Any], reason: str) -> str:
        retire_class(actor=request.user, resource_class=row, note=reason, now=utc_now())  # type: ignore[arg-type]
        return back

    page = ChangePage(
        title=_("Retire class {name}").format(name=name),
        intro=_("It is offered no more. What was used of it keeps its name and its rates."),
        back=back,
        crumbs=[(CLASSES, reverse("class_list")), (name, back), (_("Retire"), "")],
        today=lambda: ResourceClass.objects.values("retired_at", "match").get(pk=row.pk),
        lock=lambda: ResourceClass.objects.select_for_update().get(pk=row.pk),
        preview=lambda _values: _retirement(row),
        save=save,
        verb=_("Retire"),
        danger=True,
    )
    return run_change(request, page)


def _class(request: HttpRequest, key: str) -> ResourceClass:
    row = ResourceClass.objects.filter(key=key).first()
    if row is None:
        raise NotFound(f"ResourceClass {key}")
    access.require_platform(request.user, "policy.manage")
    return row


def _given(values: dict[str, Any]) -> dict[str, Any]:
    return {
        "name": names_of(values),
        "match": pairs_of(values["match"]),
        "memory_bytes": parse_memory(values["memory"]) if values["memory"] else 0,
        "maintainer": values["maintainer"],
    }


def _today(stored: ResourceClass) -> dict[str, Any]:
    row = ResourceClass.objects.get(pk=stored.pk)
    memory = write_memory(row.memory_bytes) if row.memory_bytes else ""
    return {
        **today_of_names(row.name),
        "match": write_pairs(row.match),
        "memory": memory,
        "maintainer": row.maintainer,
    }


def _moves(key: str, values: dict[str, Any], row: ResourceClass | None = None) -> Preview:
    """Which device groups the match would take, from whom, and give up, to whom."""
    match = pairs_of(values["match"])
    if row is not None and match == row.match:
        return Preview()
    moves = moves_of_match(key, match)
    taken, lost = [m for m in moves if m.to == key], [m for m in moves if m.to != key]
    effects = [_taking(taken)] if taken else []
    effects += [_losing(lost)] if lost else []
    if moves:
        effects.append(Effect(_("Jobs that run keep what they hold and are entered under the class they were given.")))
    return Preview(effects=effects or [Effect(_("No device changes its class now."))])


def _taking(moves: list[GroupMove]) -> Effect:
    text = ngettext("{n} device group is taken: {names}.", "{n} device groups are taken: {names}.", len(moves))
    names = some(f"{m.group.node.name}/{m.group.resource_name} ({m.today or _('unrecognised')})" for m in moves)
    return Effect(text.format(n=len(moves), names=names), "ok")


def _losing(moves: list[GroupMove]) -> Effect:
    text = ngettext("{n} device group is given up: {names}.", "{n} device groups are given up: {names}.", len(moves))
    names = some(f"{m.group.node.name}/{m.group.resource_name} → {m.to or _('unrecognised')}" for m in moves)
    return Effect(text.format(n=len(moves), names=names), "warn")


def _retirement(stored: ResourceClass) -> Preview:
    row = ResourceClass.objects.get(pk=stored.pk)
    if row.retired_at:
        return Preview(changes=(), blockers=[Effect(_("This is how it stands already."))])
    nodes = nodes_reporting(row)
    text = ngettext("{n} node still reports some of it.", "{n} nodes still report some of it.", nodes)
    way = Effect(_("Let another class take its devices first, or retire the nodes."))
    blockers = [Effect(text.format(n=nodes), url=f"{reverse('node_list')}?class={row.key}"), way] if nodes else []
    return Preview([Change(_("State"), _("in use"), _("retired"))], blockers=blockers)
