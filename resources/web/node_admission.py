"""A node's admission: what the node page says of it, and the two acts of an operator."""

import uuid
from collections.abc import Callable
from datetime import datetime
from typing import Any

from django.db import transaction
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from jobs.reason_words import reason_word
from jobs.selectors.askable import askable_by
from jobs.selectors.held import jobs_holding
from jobs.selectors.jobs import jobs_visible_to
from portal.lib.change_form import Change, ChangePage, Effect, Preview, run_change
from portal.lib.clock import utc_now
from portal.lib.errors import DomainError, NotFound
from portal.lib.signin import signed_in
from resources.admission_words import CAUSES, cause_word, event_rows, standing_words
from resources.models import Admission, Node
from resources.selectors.fleet import nodes_visible_to, require_hold
from resources.services.admit_node import admit_node
from resources.services.retry_validation import retry_validation
from resources.web.parts import simulated_names
from tenants.access import Actor

NODES = gettext_lazy("Nodes")
EVENTS_SHOWN = 10
NOT_NOW = {
    "NoPool": gettext_lazy("The node belongs to no pool."),
    "NotGranted": gettext_lazy("The project is not granted its pool."),
    "ProjectHeld": gettext_lazy("The project is held back."),
    "ClusterPaused": gettext_lazy("Its cluster is paused."),
    "ClusterDetached": gettext_lazy("Its cluster is detached."),
    "StaleCluster": gettext_lazy("It has not reported in time."),
    "NothingFree": gettext_lazy("No CPU or no memory of it is free now."),
    "Unreachable": gettext_lazy("It is unreachable."),
}


@signed_in
def node_validate(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Ask for a validation run; a node in service leaves it until the run has passed."""
    return _act(request, key, retry_validation, _("Validate"), _asked)


@signed_in
def node_admit(request: HttpRequest, key: uuid.UUID) -> HttpResponse:
    """Let it in by hand; it is shown as not verified."""
    return _act(request, key, admit_node, _("Admit by hand"), _admitted)


def admission_facts(user: Actor, node: Node, now: datetime) -> dict[str, Any]:
    """For the node page: its standing and proof, its last changes, and whether the reader's projects may ask for it."""
    events = event_rows(list(node.events.all()[:EVENTS_SHOWN]))
    said = standing_words(node)
    quarantine = list(node.quarantine.get("jobs", ()))[:EVENTS_SHOWN]
    named = {said.proof_job, said.trial_job, *quarantine, *(row.job for row in events)} - {""}
    seen = {str(pk) for pk in jobs_visible_to(user).filter(pk__in=named).order_by().values_list("pk", flat=True)}
    asks, more = askable_by(user, node, now)
    return {
        "standing": said,
        "failed": CAUSES.get(said.failed) or reason_word(said.failed),
        "events": events,
        "jobs_seen": seen,
        "quarantine": [(job, f"j-{job[:8]}") for job in quarantine],
        "quarantine_cause": cause_word(node.quarantine.get("cause", "")),
        "asks": [(row.project, row.reason, NOT_NOW.get(row.reason) or cause_word(row.reason)) for row in asks],
        "asks_more": more,
        "may_validate": node.pool is not None and node.pool.admission == Admission.VALIDATE and not node.trial_job,
        "may_admit": bool(node.standing) and not node.trial_job,
    }


def _act(request: HttpRequest, key: uuid.UUID, service: Any, verb: str, describe: Any) -> HttpResponse:
    node = nodes_visible_to(request.user).filter(pk=key).first()
    if node is None:
        raise NotFound(f"Node {key}")
    require_hold(request.user, node)
    back = reverse("node_detail", args=[key])

    def save(_values: dict[str, Any], reason: str) -> str:
        service(actor=request.user, node=node, now=utc_now(), note=reason)
        return back

    def preview(values: dict[str, Any]) -> Preview:
        row = Node.objects.get(pk=key)
        before = str(Node.Stage(row.stage).label)
        try:
            after = _then(lambda: service(actor=request.user, node=row, now=utc_now(), note="preview"))
        except DomainError as error:
            return Preview(changes=(), blockers=[Effect(error.text())])
        change = Change(_("Stage"), before, str(Node.Stage(after).label))
        return Preview([change], describe(row))

    page = ChangePage(
        title=f"{verb}: {node.name}",
        back=back,
        crumbs=[(NODES, reverse("node_list")), (node.name, back), (verb, "")],
        today=lambda: Node.objects.values("stage", "standing", "trial_job").get(pk=key),
        lock=lambda: Node.objects.select_for_update(no_key=True).get(pk=key),
        preview=preview,
        save=save,
        verb=verb,
        simulated=simulated_names([node]),
    )
    return run_change(request, page)


def _then(change: Callable[[], Node]) -> str:
    """The stage the node would get; nothing is kept."""
    with transaction.atomic():
        stage = change().stage
        transaction.set_rollback(True)
    return stage


def _asked(node: Node) -> list[Effect]:
    effects = [Effect(_("The next pass submits a job that takes every device of the node that works."))]
    if node.stage == Node.Stage.SCHEDULABLE:
        effects.append(Effect(_("Until it has passed, nothing else starts here. Jobs that run stay."), "warn"))
    if jobs_holding(node):
        effects.append(Effect(_("Jobs hold something here now: the run waits until they end."), "wait", live=True))
    return effects


def _admitted(_node: Node) -> list[Effect]:
    return [
        Effect(_("It is shown as admitted by hand, not verified."), "warn"),
        Effect(_("When its driver, runtime or devices change, the rule of its pool holds again.")),
    ]
