"""Taking a node out of service and bringing it back."""

import uuid
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from jobs.selectors.held import jobs_holding, jobs_on
from portal.lib.change_form import Change, ChangePage, Effect, Preview, run_change
from portal.lib.clock import utc_now
from portal.lib.errors import NotFound
from portal.lib.signin import signed_in
from resources.models import ClusterCredential, Node
from resources.selectors.fleet import nodes_visible_to, require_hold
from resources.services.hold_node import hold_node
from resources.stages import stage_of
from resources.web.forms import NAMED, some
from resources.web.parts import simulated_names

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


@signed_in
def node_hold(request: HttpRequest, key: uuid.UUID, stage: str) -> HttpResponse:
    """Cordon, drain or retire a node, or with stage "" bring it back; the preview says which jobs are there."""
    node = nodes_visible_to(request.user).filter(pk=key).first()
    if node is None:
        raise NotFound(f"Node {key}")
    require_hold(request.user, node)
    back = reverse("node_detail", args=[key])

    def save(_values: dict[str, Any], reason: str) -> str:
        hold_node(
            actor=request.user,  # type: ignore[arg-type]
            node=node,
            stage=stage,
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
        today=lambda: Node.objects.values("held_stage", "stage").get(pk=key),
        lock=lambda: Node.objects.select_for_update().get(pk=key),
        preview=lambda _values: _preview(request, key, stage),
        save=save,
        verb=VERBS[stage],
        simulated=simulated_names([node]),
        danger=stage == "retired",
    )
    return run_change(request, page)


def _not_on_the_cluster(node: Node) -> list[Effect]:
    """Why the cluster itself is not told: whoever else uses the node goes on as before."""
    if node.cluster.driver != "kubernetes":
        return []
    known = ClusterCredential.objects.filter(cluster=node.cluster, right=ClusterCredential.Right.STEWARD)
    if known.exists():
        return [Effect(_("Its cluster is not told: the portal does not cordon on the cluster itself yet."))]
    return [
        Effect(_("Its cluster is not told: no steward's credential is stored, so this cordon is the portal's only."))
    ]


def _preview(request: HttpRequest, key: uuid.UUID, stage: str) -> Preview:
    node = Node.objects.get(pk=key)
    if node.held_stage == stage:
        return Preview(changes=(), blockers=[Effect(_("This is how it stands already."))])
    then = stage_of(stage, ready=node.ready, schedulable=not node.reason, standing=node.standing)
    quiet = _not_on_the_cluster(node) if then != node.stage or stage else []
    change = Change(_("Stage"), str(Node.Stage(node.stage).label), str(Node.Stage(then).label))
    jobs, hidden = jobs_on(node, request.user, NAMED)
    count = jobs_holding(node)
    if not count:
        return Preview([change], [Effect(_("Nothing is held here now."), "ok", live=True), *quiet])
    names = some([job.name for job in jobs])
    text = ngettext("{n} job holds something here: {names}", "{n} jobs hold something here: {names}", count)
    said = text.format(n=count, names=names) if names else _("{n} jobs of other projects hold something here.")
    here = Effect(said.format(n=hidden or count), "wait", live=True)
    if stage != "retired":
        return Preview([change], [here, Effect(_("They stay until they end by themselves."), live=True), *quiet])
    return Preview([change], blockers=[here, Effect(_("Drain it, and retire it once they have ended."))])
