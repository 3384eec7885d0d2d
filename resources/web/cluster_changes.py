"""Changes of clusters: register, edit, attach, pause, detach."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from jobs.selectors.held import jobs_holding
from portal.lib.change_form import Change, ChangePage, Effect, Preview, run_change
from portal.lib.clock import utc_now
from portal.lib.errors import NotFound
from portal.lib.signin import signed_in
from resources.models import Cluster
from resources.selectors.fleet import clusters_of_nodes
from resources.services.change_cluster import change_cluster
from resources.services.register_cluster import register_cluster
from resources.services.set_cluster_state import set_cluster_state
from resources.web.forms import ChangedClusterForm, NewClusterForm
from resources.web.parts import simulated_names
from tenants import access

CLUSTERS = gettext_lazy("Clusters")
KINDS = {"local": gettext_lazy("This machine"), "simulated": gettext_lazy("Simulated")}
TITLES = {
    "local": gettext_lazy("Attach this machine"),
    "simulated": gettext_lazy("Attach a simulated cluster"),
}
VERBS = {"attached": gettext_lazy("Attach"), "paused": gettext_lazy("Pause"), "detached": gettext_lazy("Detach")}
MEANING = {
    "attached": gettext_lazy("It is asked for its nodes again, and takes new jobs once it has answered."),
    "paused": gettext_lazy("Nothing new is placed on it. Jobs that run there go on and are followed to their end."),
    "detached": gettext_lazy("It is not asked any more: its nodes stay as last seen and take nothing."),
}


@signed_in
def cluster_register(request: HttpRequest, driver: str) -> HttpResponse:
    """Register this machine, or a simulated cluster."""
    access.require_platform(request.user, "cluster.manage")

    def save(values: dict[str, Any], reason: str) -> str:
        cluster = register_cluster(
            actor=request.user,  # type: ignore[arg-type]
            driver=driver,
            note=reason,
            now=utc_now(),
            **values,
        )
        return reverse("cluster_detail", args=[cluster.key])

    effect = Effect(_("It is asked for its nodes with the next inventory pass; none of them is in a pool by itself."))
    back = reverse("cluster_new")
    page = ChangePage(
        title=TITLES[driver],
        back=back,
        crumbs=[(CLUSTERS, reverse("cluster_list")), (_("Attach a cluster"), back), (KINDS[driver], "")],
        form=NewClusterForm,
        preview=lambda _values: Preview(effects=[effect]),
        save=save,
        verb=_("Attach"),
    )
    return run_change(request, page)


@signed_in
def cluster_edit(request: HttpRequest, key: str) -> HttpResponse:
    """Change its name, place, maintainer and cost basis."""
    cluster = _cluster(request, key)
    back = reverse("cluster_detail", args=[key])

    def save(values: dict[str, Any], reason: str) -> str:
        change_cluster(actor=request.user, cluster=cluster, note=reason, now=utc_now(), **values)  # type: ignore[arg-type]
        return back

    page = ChangePage(
        title=_("Edit cluster {name}").format(name=cluster.name),
        back=back,
        crumbs=[(CLUSTERS, reverse("cluster_list")), (cluster.name, back), (_("Edit"), "")],
        form=ChangedClusterForm,
        today=lambda: Cluster.objects.values("name", "location", "maintainer", "cost_basis").get(pk=cluster.pk),
        lock=lambda: Cluster.objects.select_for_update().get(pk=cluster.pk),
        save=save,
        simulated=simulated_names([cluster]),
    )
    return run_change(request, page)


@signed_in
def cluster_state(request: HttpRequest, key: str, state: str) -> HttpResponse:
    """Attach, pause or detach; the preview says what runs there."""
    cluster = _cluster(request, key)
    back = reverse("cluster_detail", args=[key])

    def save(_values: dict[str, Any], reason: str) -> str:
        set_cluster_state(
            actor=request.user,  # type: ignore[arg-type]
            cluster=cluster,
            state=state,
            note=reason,
            now=utc_now(),
            jobs_on=jobs_holding,
        )
        return back

    page = ChangePage(
        title=f"{VERBS[state]}: {cluster.name}",
        intro=MEANING[state],
        back=back,
        crumbs=[(CLUSTERS, reverse("cluster_list")), (cluster.name, back), (VERBS[state], "")],
        today=lambda: Cluster.objects.values("state").get(pk=cluster.pk),
        lock=lambda: Cluster.objects.select_for_update().get(pk=cluster.pk),
        preview=lambda _values: _preview(cluster, state),
        save=save,
        verb=VERBS[state],
        simulated=simulated_names([cluster]),
        danger=state == "detached",
    )
    return run_change(request, page)


def _cluster(request: HttpRequest, key: str) -> Cluster:
    cluster = clusters_of_nodes(request.user).filter(key=key).first()
    if cluster is None:
        raise NotFound(f"Cluster {key}")
    access.require_platform(request.user, "cluster.manage")
    return cluster


def _preview(cluster: Cluster, state: str) -> Preview:
    today = Cluster.objects.values_list("state", flat=True).get(pk=cluster.pk)
    if today == state:
        return Preview(changes=(), blockers=[Effect(_("This is how it stands already."))])
    change = Change(_("State"), str(Cluster.State(today).label), str(Cluster.State(state).label))
    jobs = jobs_holding(cluster)
    text = ngettext("{n} job holds something there.", "{n} jobs hold something there.", jobs).format(n=jobs)
    held = Effect(text if jobs else _("Nothing is held there now."), "wait" if jobs else "ok", live=True)
    if state == "detached" and jobs:
        return Preview([change], blockers=[held, Effect(_("Pause it, and detach it once they have ended."))])
    return Preview([change], [held])
