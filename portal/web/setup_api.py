"""Setup as data: the checklists, the pilot, and what this installation is."""

from typing import Any

from rest_framework import serializers
from rest_framework.permissions import AllowAny, BasePermission
from rest_framework.request import Request
from rest_framework.response import Response

from portal.lib.clock import utc_now
from portal.lib.rest import inputs
from portal.lib.rest.outputs import Moment, Shown, Word
from portal.lib.rest.view import ApiView, answer, endpoint
from portal.lib.text import clean_name
from portal.web.about import facts_for
from portal.web.pilot import Step, apply_pilot, planned
from portal.web.setup.checklist import checklist
from portal.web.setup.facts import setup_facts
from portal.web.stages import Stage, is_on
from tenants import access

_NAME: inputs.Schema = {"type": "string", "minLength": 1, "maxLength": 120}
_PEOPLE = 4_000


class PilotAsked(inputs.Input):
    """A pilot: a team, two projects, and the user names of their people, the first of each its owner."""

    team = inputs.Given(clean_name, _NAME)
    lead = inputs.text(150, help_text="User name of the team's lead.")
    project_1 = inputs.Given(clean_name, _NAME)
    people_1 = inputs.text(_PEOPLE, help_text="User names, separated by commas.")
    project_2 = inputs.Given(clean_name, _NAME)
    people_2 = inputs.text(_PEOPLE, help_text="User names, separated by commas.")
    reason = inputs.text(1_000, help_text="Why; kept in the audit trail.")


class SetupItem(Shown):
    """One line of a checklist."""

    key = serializers.CharField()
    title = serializers.CharField()
    state = Word("SetupState", ("done", "not_yet", "impossible"))
    why = serializers.CharField()
    command = serializers.CharField()


class SetupStage(Shown):
    """A stage of growth."""

    stage = Word("GrowthStage", Stage)
    on = serializers.BooleanField()
    items = SetupItem(many=True)


class SetupShown(Shown):
    """The four stages, computed from what is there."""

    stages = SetupStage(many=True)


class PilotStep(Shown):
    """One thing the pilot needs."""

    kind = serializers.CharField()
    name = serializers.CharField()
    key = serializers.CharField()
    there = serializers.BooleanField(help_text="Whether it was there before.")
    role = serializers.CharField()
    scope = serializers.CharField()


class PilotShown(Shown):
    """The steps in the order they are taken."""

    steps = PilotStep(many=True)


class AboutCluster(Shown):
    """A cluster and whether it is simulated."""

    name = serializers.CharField()
    simulated = serializers.BooleanField()
    location = serializers.CharField()
    last_seen_at = Moment(allow_null=True)


class AboutShown(Shown):
    """What this installation is; clusters only where the reader may know them."""

    version = serializers.CharField()
    mode = serializers.CharField()
    demo = serializers.BooleanField()
    clusters = AboutCluster(many=True)


class Setup(ApiView):
    """The four stages."""

    @endpoint("read_setup", "Stages and their checklists", gives={200: SetupShown}, refuses=(403, 404))
    def get(self, request: Request, given: dict[str, Any]) -> Response:
        """For the platform administrator."""
        access.require_platform(self.actor, "cluster.manage")
        found = checklist(setup_facts(utc_now()))
        stages = [{"stage": stage, "on": is_on(stage), "items": items} for stage, items in found.items()]
        return answer(SetupShown, {"stages": stages})


class PilotPreview(ApiView):
    """What a pilot would make."""

    @endpoint("preview_pilot", "What a pilot would make", body=PilotAsked, gives={200: PilotShown}, refuses=(404,))
    def post(self, request: Request, given: dict[str, Any]) -> Response:
        """Nothing is written."""
        access.require_platform(self.actor, "cluster.manage")
        return _steps(planned(given, utc_now())[1])


class MakePilot(ApiView):
    """The smallest pilot."""

    @endpoint("make_pilot", "Make a pilot", body=PilotAsked, gives={200: PilotShown}, refuses=(404, 409))
    def post(self, request: Request, given: dict[str, Any]) -> Response:
        """Idempotent: what is there is left alone."""
        note = given.get("reason", "")
        return _steps(apply_pilot(actor=self.actor, given=given, now=utc_now(), note=note).steps)


class About(ApiView):
    """This installation."""

    def get_permissions(self) -> list[BasePermission]:
        """For everyone."""
        return [AllowAny()]

    @endpoint("read_about", "What this installation is", gives={200: AboutShown}, anyone=True)
    def get(self, request: Request, given: dict[str, Any]) -> Response:
        """The inventory of a production installation only for those who are signed in."""
        return answer(AboutShown, facts_for(request.user))


def _steps(steps: list[Step]) -> Response:
    return answer(PilotShown, {"steps": steps})
