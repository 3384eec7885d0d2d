"""Changes of pools: make, edit, delete."""

from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from jobs.selectors.held import jobs_holding, jobs_holding_on
from portal.lib.change_form import ChangePage, Effect, Preview, run_change
from portal.lib.clock import utc_now
from portal.lib.errors import NotFound
from portal.lib.localised import localised
from portal.lib.signin import signed_in
from resources.models import Pool
from resources.pairs import pairs_of, write_pairs
from resources.selectors.fleet import nodes_changeable_by, pools_visible_to
from resources.selectors.membership import NodeMove, moves_of_selector, uses_of
from resources.services.change_pool import change_pool
from resources.services.create_pool import create_pool
from resources.services.delete_pool import delete_pool
from resources.web.forms import NewPoolForm, PoolForm, names_of, some, today_of_names
from tenants import access
from tenants.models import Team

POOLS = gettext_lazy("Pools")
USES = {
    "nodes": gettext_lazy("{n} nodes belong to it: change the selector so that they leave."),
    "grants": gettext_lazy("{n} grants let somebody use it: end them first."),
    "cells": gettext_lazy("{n} quota cells are about it: remove them first."),
    "members": gettext_lazy("{n} roles are held in it: take them back first."),
    "jobs": gettext_lazy("{n} jobs hold something in it: wait until they end."),
}


@signed_in
def pool_new(request: HttpRequest) -> HttpResponse:
    """Make a pool; the preview says which nodes it takes."""
    access.require_platform(request.user, "pool.manage")

    def save(values: dict[str, Any], reason: str) -> str:
        pool = create_pool(
            actor=request.user,  # type: ignore[arg-type]
            key=values["key"],
            name=names_of(values),
            selector=pairs_of(values["selector"]),
            maintainer=values["maintainer"],
            purpose=values["purpose"],
            labels=pairs_of(values["labels"]),
            owner=values["owner"],
            note=reason,
            now=utc_now(),
        )
        return reverse("pool_detail", args=[pool.key])

    back = reverse("pool_list")
    title = _("New pool")
    form = partial(NewPoolForm, owners=_owners(request, None))
    page = ChangePage(title=title, back=back, form=form, save=save, preview=lambda v: _moves(request, v, ""))
    return run_change(request, page)


@signed_in
def pool_edit(request: HttpRequest, key: str) -> HttpResponse:
    """Change names, selector and maintainer; the preview says which nodes join and leave."""
    pool = _pool(request, key)
    access.require(request.user, "pool.change", pool)
    back = reverse("pool_detail", args=[key])

    def save(values: dict[str, Any], reason: str) -> str:
        change_pool(
            actor=request.user,  # type: ignore[arg-type]
            pool=pool,
            name=names_of(values),
            selector=pairs_of(values["selector"]),
            maintainer=values["maintainer"],
            purpose=values["purpose"],
            labels=pairs_of(values["labels"]),
            owner=values["owner"],
            note=reason,
            now=utc_now(),
        )
        return back

    name = localised(pool.name, pool.key)
    page = ChangePage(
        title=_("Edit pool {name}").format(name=name),
        back=back,
        crumbs=[(POOLS, reverse("pool_list")), (name, back), (_("Edit"), "")],
        form=partial(PoolForm, owners=_owners(request, pool)),
        today=lambda: _today(pool.pk),
        preview=lambda values: _moves(request, values, key),
        lock=lambda: Pool.objects.select_for_update().get(pk=pool.pk),
        save=save,
    )
    return run_change(request, page)


@signed_in
def pool_delete(request: HttpRequest, key: str) -> HttpResponse:
    """Delete a pool, or say what still refers to it."""
    pool = _pool(request, key)
    access.require_platform(request.user, "pool.manage")
    back = reverse("pool_detail", args=[key])

    def preview(_values: dict[str, Any]) -> Preview:
        used = uses_of(pool, jobs_holding(pool), utc_now())
        return Preview(changes=(), blockers=[Effect(str(USES[kind]).format(n=n)) for kind, n in used.items() if n])

    def save(_values: dict[str, Any], reason: str) -> str:
        delete_pool(actor=request.user, pool=pool, note=reason, now=utc_now(), jobs_in=jobs_holding)  # type: ignore[arg-type]
        return reverse("pool_list")

    name = localised(pool.name, pool.key)
    page = ChangePage(
        title=_("Delete pool {name}").format(name=name),
        intro=_("Usage that was entered keeps the pool's key."),
        back=back,
        crumbs=[(POOLS, reverse("pool_list")), (name, back), (_("Delete"), "")],
        today=lambda: _today(pool.pk),
        lock=lambda: Pool.objects.select_for_update().get(pk=pool.pk),
        preview=preview,
        save=save,
        verb=_("Delete"),
        done=_("Deleted."),
        danger=True,
    )
    return run_change(request, page)


def _pool(request: HttpRequest, key: str) -> Pool:
    pool = pools_visible_to(request.user, utc_now()).filter(key=key).first()
    if pool is None:
        raise NotFound(f"Pool {key}")
    return pool


def _today(key: Any) -> dict[str, Any]:
    pool = Pool.objects.filter(pk=key).select_related("owner").first()
    if pool is None:
        raise NotFound(f"Pool {key}")
    return {
        **today_of_names(pool.name),
        "selector": write_pairs(pool.selector),
        "maintainer": pool.maintainer,
        "purpose": pool.purpose,
        "labels": write_pairs(pool.labels),
        "owner": pool.owner.slug if pool.owner else "",
    }


def _owners(request: HttpRequest, pool: Pool | None) -> list[tuple[str, Any]]:
    """The teams a pool may be given to: all for those who may give it away, else the one that has it."""
    nobody: tuple[str, Any] = ("", _("nobody in particular"))
    if access.at_platform(request.user, "pool.manage"):
        return [nobody, *Team.objects.order_by("path").values_list("slug", "name")]
    owner = pool.owner if pool else None
    return [(owner.slug, owner.name)] if owner else [nobody]


def _moves(request: HttpRequest, values: dict[str, Any], key: str) -> Preview:
    """Which nodes join and leave by the selector; names only of nodes the reader may move."""
    pool_key, selector = key or values["key"], pairs_of(values["selector"])
    if key and selector == dict(Pool.objects.values_list("selector", flat=True).get(key=key)):
        return Preview()
    moves = moves_of_selector(pool_key, selector)
    seen = set(nodes_changeable_by(request.user).order_by().values_list("pk", flat=True))
    joins = [move for move in moves.joins if move.node.pk in seen]
    unseen = len(moves.joins) - len(joins)
    effects = [_joining(joins)] if joins else []
    effects += [_leaving(moves.leaves)] if moves.leaves else []
    effects += _staying(moves.leaves) if moves.leaves else []
    if not moves.joins and not moves.leaves:
        effects = [Effect(_("No node joins or leaves now. Later ones join as soon as they report."))]
    return Preview(effects=effects, blockers=[_refused(unseen)] if unseen else [])


def _joining(moves: list[NodeMove]) -> Effect:
    text = ngettext("{n} node joins: {names}.", "{n} nodes join: {names}.", len(moves))
    names = some(f"{m.node.name} ({m.node.pool.key})" if m.node.pool else m.node.name for m in moves)
    taken = any(move.node.pool for move in moves)  # another pool loses them, and its projects with it
    return Effect(text.format(n=len(moves), names=names), "warn" if taken else "ok")


def _leaving(moves: Any) -> Effect:
    text = ngettext("{n} node leaves: {names}.", "{n} nodes leave: {names}.", len(moves))
    names = some(f"{m.node.name} → {m.to}" if m.to else m.node.name for m in moves)
    return Effect(text.format(n=len(moves), names=names), "warn")


def _staying(moves: Any) -> list[Effect]:
    jobs = jobs_holding_on(move.node for move in moves)
    text = ngettext(
        "{n} job holds something on them; it stays where it is and goes on.",
        "{n} jobs hold something on them; they stay where they are and go on.",
        jobs,
    )
    return [Effect(text.format(n=jobs), "wait", live=True)] if jobs else []


def _refused(count: int) -> Effect:
    text = ngettext(
        "{n} node it would take is not in a pool you look after; a platform administrator can move it.",
        "{n} nodes it would take are not in a pool you look after; a platform administrator can move them.",
        count,
    )
    return Effect(text.format(n=count))
