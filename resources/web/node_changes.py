"""Taking a node out of service and bringing it back."""

import uuid
from functools import partial
from typing import Any

from django import forms
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from jobs.selectors.held import jobs_holding, jobs_on
from portal.lib.change_form import Change, ChangePage, Effect, Preview, run_change
from portal.lib.clock import utc_now
from portal.lib.errors import NotFound
from portal.lib.signin import signed_in
from resources.cordon_effects import cordon_effects, may_not_return
from resources.cordon_words import OFF_WORDS
from resources.models import ClusterCordon, Node
from resources.selectors.cordons import cordon_off, open_cordon
from resources.selectors.drivers import KUBERNETES
from resources.selectors.fleet import nodes_visible_to, require_hold
from resources.services.hold_node import hold_node
from resources.stages import ON_CLUSTER, stage_of
from resources.web.forms import NAMED, HoldForm, some
from resources.web.parts import simulated_names
from tenants import access

NODES = gettext_lazy("Nodes")
VERBS = {
    "cordoned": gettext_lazy("Cordon"),
    "draining": gettext_lazy("Drain"),
    "retired": gettext_lazy("Retire"),
    "": gettext_lazy("Bring back"),
}
MEANING = {
    "cordoned": gettext_lazy("Nothing new is placed on it. Jobs that run there stay."),
    "draining": gettext_lazy("Nothing new is placed on it. Jobs that run are not stopped: it is empty once they end."),
    "retired": gettext_lazy("It leaves the fleet: it counts nowhere and takes nothing, even if its cluster lists it."),
    "": gettext_lazy("It takes new jobs again as soon as its cluster reports it ready."),
}

ADMINISTRATORS_ONLY = gettext_lazy("a platform administrator may ask for it: others use the cluster too.")


@signed_in
def node_hold(request: HttpRequest, key: uuid.UUID, stage: str) -> HttpResponse:
    """Cordon, drain or retire a node, or with stage "" bring it back; the preview says which jobs are there."""
    node = nodes_visible_to(request.user).filter(pk=key).first()
    if node is None:
        raise NotFound(f"Node {key}")
    require_hold(request.user, node)
    back = reverse("node_detail", args=[key])

    def save(values: dict[str, Any], reason: str) -> str:
        hold_node(
            actor=request.user,  # type: ignore[arg-type]
            node=node,
            stage=stage,
            on_cluster=values.get("on_cluster") if _may_tick(request, node) else None,
            note=reason,
            now=utc_now(),
            jobs_on=jobs_holding,
        )
        return back

    page = ChangePage(
        title=f"{VERBS[stage]}: {node.name}",
        intro=MEANING[stage],
        back=back,
        crumbs=[(NODES, reverse("node_list")), (node.name, back), (VERBS[stage], "")],
        form=_form(request, node, stage),
        today=lambda: _today(node),
        lock=lambda: Node.objects.select_for_update().get(pk=key),
        preview=lambda values: _preview(request, key, stage, values),
        save=save,
        verb=VERBS[stage],
        simulated=simulated_names([node]),
        danger=stage == "retired",
    )
    return run_change(request, page)


def _form(request: HttpRequest, node: Node, stage: str) -> Any:
    """Only a closed node of a cluster that has cordons of its own can be closed there as well."""
    if node.cluster.driver != KUBERNETES or stage not in ON_CLUSTER:
        return forms.Form
    why = OFF_WORDS.get(cordon_off(node.cluster), "") or ("" if _may_tick(request, node) else ADMINISTRATORS_ONLY)
    return partial(HoldForm, off=why)


def _may_tick(request: HttpRequest, node: Node) -> bool:
    return access.at_platform(request.user, "cluster.manage")


def _today(node: Node) -> dict[str, Any]:
    row = open_cordon(node)
    stands = row is not None and row.state in ClusterCordon.STANDING
    return {**Node.objects.values("held_stage", "stage").get(pk=node.pk), "on_cluster": stands}


def _preview(request: HttpRequest, key: uuid.UUID, stage: str, values: dict[str, Any]) -> Preview:
    node = Node.objects.select_related("cluster").get(pk=key)
    today, wish = _today(node)["on_cluster"], values.get("on_cluster")
    there = Change(_("Also on the cluster"), _yes(today), _yes(bool(wish)))
    changes = [there] if wish is not None and wish != today else []
    if node.held_stage == stage and not changes:
        said = [] if "on_cluster" in values else [Effect(_("This is how it stands already."))]
        return Preview(changes=(), blockers=said)
    then = stage_of(stage, ready=node.ready, schedulable=not node.reason, standing=node.standing)
    changes.insert(0, Change(_("Stage"), str(Node.Stage(node.stage).label), str(Node.Stage(then).label)))
    beside = cordon_effects(node, stage, wish)
    stuck = [] if stage or _may_tick(request, node) else may_not_return(node)
    jobs = _jobs(request, node)
    if stage == "retired" and jobs:
        return Preview(changes, blockers=[*jobs, Effect(_("Drain it, and retire it once they have ended."))])
    stay = [Effect(_("They stay until they end by themselves."), live=True)] if jobs else []
    nothing = [] if jobs else [Effect(_("Nothing is held here now."), "ok", live=True)]
    return Preview(changes, [*jobs, *stay, *nothing, *beside], blockers=stuck)


def _jobs(request: HttpRequest, node: Node) -> list[Effect]:
    """The jobs that hold something there: names of those the reader sees, the others as a number."""
    jobs, hidden = jobs_on(node, request.user, NAMED)
    count = jobs_holding(node)
    if not count:
        return []
    names = some([job.name for job in jobs])
    text = ngettext("{n} job holds something here: {names}", "{n} jobs hold something here: {names}", count)
    said = text.format(n=count, names=names) if names else _("{n} jobs of other projects hold something here.")
    return [Effect(said.format(n=hidden or count), "wait", live=True)]


def _yes(value: bool) -> str:
    return _("yes") if value else _("no")
