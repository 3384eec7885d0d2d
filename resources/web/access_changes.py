"""Changes of how clusters are reached: attach a Kubernetes cluster, give it a credential, take one away."""

from functools import partial
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy
from django.views.decorators.debug import sensitive_post_parameters

from portal.lib.change_form import Change, ChangePage, Effect, Preview, run_change
from portal.lib.clock import utc_now
from portal.lib.errors import NotFound
from portal.lib.signin import signed_in
from resources.attaching import read_given_credential
from resources.drivers.kubernetes.connection import Right
from resources.drivers.kubernetes.given import ends_at, fingerprint
from resources.inputs import taken
from resources.models import Cluster, ClusterCredential, ClusterEndpoint
from resources.selectors.fleet import clusters_of_nodes
from resources.services.attach_kubernetes import attach_kubernetes
from resources.services.read_attachment import read_attachment
from resources.services.remove_credential import remove_credential
from resources.services.rotate_credential import rotate_credential
from resources.web.access_forms import ConnectForm, CredentialForm, connection_given, credential_given
from resources.web.access_words import (
    changes_of_pieces,
    credential_text,
    effects_of_pieces,
    end_effects,
    off_effect,
    right_word,
)
from resources.web.parts import simulated_names
from tenants import access
from tenants.models import User

CLUSTERS = gettext_lazy("Clusters")
ACCESS = gettext_lazy("Access")


@sensitive_post_parameters()
@signed_in
def cluster_connect(request: HttpRequest) -> HttpResponse:
    """Attach a Kubernetes cluster; the preview says what is kept of what was given."""
    access.require_platform(request.user, "cluster.manage")
    person: User = request.user  # type: ignore[assignment]

    def save(values: dict[str, Any], reason: str) -> str:
        facts = {name: values[name] for name in ("key", "name", "location", "maintainer")}
        given = connection_given(values)
        cluster = attach_kubernetes(actor=person, given=given, note=reason, now=utc_now(), **facts)
        return reverse("cluster_access", args=[cluster.key])

    back = reverse("cluster_new")
    page = ChangePage(
        title=_("Attach a Kubernetes cluster"),
        intro=_("Apply the manifests of the roles on the cluster first; each gives a token."),
        back=back,
        crumbs=[(CLUSTERS, reverse("cluster_list")), (_("Attach a cluster"), back), ("Kubernetes", "")],
        form=partial(ConnectForm, person.pk),
        preview=lambda values: _preview_of_cluster(person, values),
        save=save,
        verb=_("Attach"),
        done=_("Attached. It is asked for its nodes with the next inventory pass."),
    )
    return run_change(request, page)


@sensitive_post_parameters()
@signed_in
def credential_rotate(request: HttpRequest, key: str, right: str) -> HttpResponse:
    """Give a role its first credential or another one."""
    cluster, chosen = _cluster_and_right(request, key, right)
    person: User = request.user  # type: ignore[assignment]

    def save(values: dict[str, Any], reason: str) -> str:
        rotate_credential(
            actor=person, cluster=cluster, right=chosen, given=credential_given(values), note=reason, now=utc_now()
        )
        return reverse("cluster_access", args=[key])

    page = _page(
        cluster,
        _("Credential of {cluster}: {right}").format(cluster=cluster.name, right=right_word(chosen)),
        chosen,
        form=partial(CredentialForm, person.pk),
        intro=_("The one before is forgotten here and stays valid on the cluster until it is revoked there."),
        preview=lambda values: _preview_of_credential(cluster, chosen, values),
        save=save,
    )
    return run_change(request, page)


@signed_in
def credential_remove(request: HttpRequest, key: str, right: str) -> HttpResponse:
    """Take a role's credential away; the preview names what is off without it."""
    cluster, chosen = _cluster_and_right(request, key, right)
    person: User = request.user  # type: ignore[assignment]

    def save(_values: dict[str, Any], reason: str) -> str:
        remove_credential(actor=person, cluster=cluster, right=chosen, note=reason, now=utc_now())
        return reverse("cluster_access", args=[key])

    page = _page(
        cluster,
        _("Remove the credential of {cluster}: {right}").format(cluster=cluster.name, right=right_word(chosen)),
        chosen,
        preview=lambda _values: _preview_of_removal(cluster, chosen),
        save=save,
        verb=_("Remove"),
        danger=True,
    )
    return run_change(request, page)


def _page(cluster: Cluster, title: str, right: Right, **options: Any) -> ChangePage:
    back = reverse("cluster_access", args=[cluster.key])
    detail = reverse("cluster_detail", args=[cluster.key])
    return ChangePage(
        title=title,
        back=back,
        crumbs=[(CLUSTERS, reverse("cluster_list")), (cluster.name, detail), (ACCESS, back), (right_word(right), "")],
        today=lambda: {"fingerprint": _fingerprint(cluster, right)},
        lock=lambda: ClusterEndpoint.objects.select_for_update().get(pk=cluster.pk),
        simulated=simulated_names([cluster]),
        **options,
    )


def _cluster_and_right(request: HttpRequest, key: str, right: str) -> tuple[Cluster, Right]:
    cluster = clusters_of_nodes(request.user).filter(key=key).first()
    if cluster is None:
        raise NotFound(f"Cluster {key}")
    access.require_platform(request.user, "cluster.manage")
    if right not in list(Right) or not ClusterEndpoint.objects.filter(cluster=cluster).exists():
        raise NotFound(f"credential {right} of {key}")
    return cluster, Right(right)


def _preview_of_cluster(person: User, values: dict[str, Any]) -> Preview:
    now = utc_now()
    pieces = read_attachment(actor=person, given=connection_given(values), now=now)
    if Cluster.objects.filter(key=values["key"]).exists():
        raise taken("key", values["key"])
    named = [(_("Key"), "key"), (_("Name"), "name"), (_("Location"), "location"), (_("Maintainer"), "maintainer")]
    changes = [Change(label, "–", values[name]) for label, name in named if values[name]]
    first = Effect(_("It is asked for its nodes with the next inventory pass; none of them is in a pool by itself."))
    return Preview([*changes, *changes_of_pieces(pieces)], [first, *effects_of_pieces(pieces, now)])


def _preview_of_credential(cluster: Cluster, right: Right, values: dict[str, Any]) -> Preview:
    credential = read_given_credential(credential_given(values))
    before = _fingerprint(cluster, right)
    if before == fingerprint(credential):
        return Preview(changes=())
    change = Change(
        _("Credential: {right}").format(right=right_word(right)), before or "–", credential_text(credential)
    )
    anew = Effect(_("What it may do is not asked yet; ask once it is saved."))
    return Preview([change], [anew, *end_effects([(right_word(right), ends_at(credential))], utc_now())])


def _preview_of_removal(cluster: Cluster, right: Right) -> Preview:
    before = _fingerprint(cluster, right)
    if not before:
        return Preview(changes=(), blockers=[Effect(_("There is none."))])
    change = Change(_("Credential: {right}").format(right=right_word(right)), before, "–")
    revoke = Effect(_("It stays valid on the cluster until it is revoked there."), "warn")
    return Preview([change], [off_effect(right), revoke])


def _fingerprint(cluster: Cluster, right: Right) -> str:
    rows = ClusterCredential.objects.filter(cluster=cluster, right=right)
    return rows.values_list("fingerprint", flat=True).first() or ""
