"""How nodes come into service: the rule of a pool, and one node's standing, evidence and acts."""

import uuid
from typing import Any

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from jobs.selectors.askable import askable_by
from jobs.selectors.validation import validation_projects, validation_slugs
from portal.lib.clock import utc_now
from portal.lib.errors import NotFound
from portal.lib.rest import inputs
from portal.lib.rest.inputs import Given
from portal.lib.rest.outputs import Facts, Moment, Shown, Word
from portal.lib.rest.view import ApiView, answer, endpoint
from resources.admission_words import standing_words
from resources.api.bodies import FleetReason
from resources.models import Admission, Node, Pool
from resources.selectors.fleet import nodes_visible_to, pools_visible_to
from resources.services.admit_node import admit_node
from resources.services.retry_validation import retry_validation
from resources.services.set_pool_admission import set_pool_admission
from resources.stages import Standing
from tenants.access import Actor
from tenants.models import Project
from tenants.rehearsal import preview_of

VERDICTS = ("verified", "simulated", "not_verified")
EVENTS_SHOWN = 20


class AdmissionRule(FleetReason):
    """The rule of a pool."""

    admission = Given(
        inputs.choice(Admission.values).parse, {"type": "string", "enum": Admission.values}, required=True
    )
    template = inputs.text(63, help_text="Short name of a template that can validate the pool's nodes.")
    project = inputs.text(63, help_text="Short name of the project that is charged; it is granted the pool.")
    keep_present = inputs.flag(help_text="true: nodes in service stay there, not verified; else they must pass too.")


class AdmissionShown(Shown):
    """The rule of a pool, and what may be chosen for it."""

    admission = Word("Admission", Admission.values)
    template = serializers.CharField(source="validation_template")
    project = serializers.CharField(source="validation_project.slug", default=None, allow_null=True)
    submitter = serializers.CharField(
        source="validation_by.username", default=None, allow_null=True, help_text="In whose name the jobs are."
    )


class NodeChangeShown(Shown):
    """A change of a node's stage."""

    at = Moment()
    old = serializers.CharField(help_text="Empty where it was new.")
    new = Word("NodeStage", Node.Stage.values)
    cause = serializers.CharField(help_text="A constant in PascalCase.")
    facts = Facts()
    actor_name = serializers.CharField()


class ChangedShown(Shown):
    """A fact that is no longer what it was."""

    fact = serializers.CharField()
    was = serializers.CharField()
    now = serializers.CharField()


class AskShown(Shown):
    """Whether a project of the reader may ask for the node now."""

    project = serializers.CharField(source="project.slug")
    may = serializers.SerializerMethodField()
    reason = serializers.CharField(help_text="Why not, in PascalCase; empty for yes.")

    def get_may(self, row: Any) -> bool:
        """Yes or no; quota and the queue are not looked at."""
        return not row.reason


class NodeAdmissionShown(Shown):
    """Why a node is in service or not, and what proves it."""

    stage = Word("NodeStage", Node.Stage.values)
    standing = Word("NodeStanding", [str(word) for word in Standing], help_text="What the portal has against it.")
    verdict = Word("NodeVerdict", VERDICTS)
    proof = Facts(help_text="by run, by hand or before the rule: when, by which job, and what was true then.")
    changed = ChangedShown(many=True)
    trial = Facts(help_text="The open run, or the last one that did not pass.")
    quarantine = Facts()
    events = NodeChangeShown(many=True)
    asks = AskShown(many=True)


class PoolAdmission(ApiView):
    """How the nodes of a pool come into service."""

    @endpoint("read_pool_admission", "How nodes come into service", gives={200: AdmissionShown}, refuses=(404,))
    def get(self, request: Request, given: dict[str, Any], key: str) -> Response:
        """The rule."""
        return answer(AdmissionShown, _pool(self.actor, key))

    @endpoint(
        "set_pool_admission", "Set how nodes come into service", body=AdmissionRule, gives={200: AdmissionShown},
        refuses=(404,),
    )  # fmt: skip
    def put(self, request: Request, given: dict[str, Any], key: str) -> Response:
        """At once, or after a validation job that takes the whole node."""
        pool = _pool(self.actor, key)
        set_pool_admission(
            actor=self.actor,
            pool=pool,
            admission=given["admission"],
            template=given.get("template", ""),
            project=Project.objects.filter(slug=given.get("project", "")).select_related("team").first(),
            keep_present=bool(given.get("keep_present")),
            note=given["reason"],
            now=utc_now(),
            templates_for=validation_slugs,
            projects_for=lambda row: validation_projects(row, utc_now()),
        )
        return answer(AdmissionShown, _pool(self.actor, key))


PoolAdmissionPreview = preview_of(
    PoolAdmission.put, "preview_pool_admission", "What a rule of admission would change", body=AdmissionRule
)


class NodeAdmission(ApiView):
    """A node's way into service."""

    @endpoint("read_node_admission", "Why a node is in service", gives={200: NodeAdmissionShown}, refuses=(404,))
    def get(self, request: Request, given: dict[str, Any], key: uuid.UUID) -> Response:
        """Its standing, evidence, last changes, and which of your projects may ask for it now."""
        return answer(NodeAdmissionShown, _standing(self.actor, key))

    @endpoint(
        "admit_node", "Admit a node by hand", body=FleetReason, gives={200: NodeAdmissionShown}, refuses=(404, 409)
    )
    def post(self, request: Request, given: dict[str, Any], key: uuid.UUID) -> Response:
        """Shown as not verified; lifts a quarantine."""
        admit_node(actor=self.actor, node=_node(self.actor, key), note=given["reason"], now=utc_now())
        return answer(NodeAdmissionShown, _standing(self.actor, key))


class NodeValidation(ApiView):
    """A validation run of a node."""

    @endpoint(
        "validate_node", "Ask for a validation run", body=FleetReason, gives={200: NodeAdmissionShown},
        refuses=(404, 409),
    )  # fmt: skip
    def post(self, request: Request, given: dict[str, Any], key: uuid.UUID) -> Response:
        """The next pass starts it; a node in service leaves it until the run has passed."""
        retry_validation(actor=self.actor, node=_node(self.actor, key), note=given["reason"], now=utc_now())
        return answer(NodeAdmissionShown, _standing(self.actor, key))


NodeAdmissionPreview = preview_of(
    NodeAdmission.post, "preview_node_admission", "What admitting by hand would change", body=FleetReason,
    refuses=(404, 409),
)  # fmt: skip
NodeValidationPreview = preview_of(
    NodeValidation.post, "preview_node_validation", "What a validation run would change", body=FleetReason,
    refuses=(404, 409),
)  # fmt: skip


def _pool(actor: Actor, key: str) -> Pool:
    rows = pools_visible_to(actor, utc_now()).select_related("validation_project", "validation_by")
    pool = rows.filter(key=key).first()
    if pool is None:
        raise NotFound(f"Pool {key}")
    return pool


def _node(actor: Actor, key: uuid.UUID) -> Node:
    node = nodes_visible_to(actor).prefetch_related("groups").filter(pk=key).first()
    if node is None:
        raise NotFound(f"Node {key}")
    return node


def _standing(actor: Actor, key: uuid.UUID) -> dict[str, Any]:
    node = _node(actor, key)
    said = standing_words(node)
    return {
        "stage": node.stage,
        "standing": node.standing,
        "verdict": said.verdict,
        "proof": node.proof,
        "changed": [change._asdict() for change in said.changes],
        "trial": node.trial,
        "quarantine": node.quarantine,
        "events": node.events.all()[:EVENTS_SHOWN],
        "asks": askable_by(actor, node, utc_now())[0],
    }
